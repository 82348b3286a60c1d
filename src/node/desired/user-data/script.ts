/**
 * PowerShell that gives the operator SSH access to a new machine. It runs at every boot, so each step first checks whether it is done.
 * The key line ends with a newline, which closes the here-string.
 */
export function prepareScript(authorizedKeyLine: string): string {
  return `${beforeKey}${authorizedKeyLine}${afterKey}`;
}

/**
 * On AWS the container network removes the route to the metadata service; EC2Launch v2 can make it persistent. Most images have it;
 * otherwise it is downloaded, and installed only with a valid signature of Amazon.
 */
export const awsScript = String.raw`
# The task add-routes has the option --persistent since 2.0.1643; the Go operator installs 2.0.2107 or newer.
$needed = [version]'2.0.1643'
$launcher = Join-Path $env:ProgramFiles 'Amazon\EC2Launch\EC2Launch.exe'
function Get-LauncherVersion {
    $version = if (Test-Path $launcher) { "$(& $launcher version)".Trim() -as [version] }
    if ($version) { $version } else { [version]'0.0' }
}

# The organization in the certificate, not a part of its text: each name stands on a line of its own.
function Test-AmazonSignature([string] $path) {
    $signature = Get-AuthenticodeSignature -FilePath $path
    if ($signature.Status -ne 'Valid') { return $false }
    $names = $signature.SignerCertificate.SubjectName.Decode('UseNewLines, DoNotUseQuotes') -split '\r?\n'
    foreach ($publisher in 'O=Amazon Web Services, Inc.', 'O=Amazon.com Services LLC', 'O=Amazon.com, Inc.') {
        if ($names -ccontains $publisher) { return $true }
    }
    $false
}

if ((Get-LauncherVersion) -lt $needed) {
    $folder = Join-Path $env:USERPROFILE 'Desktop\EC2Launchv2'
    $installer = Join-Path $folder 'AmazonEC2Launch.msi'
    New-Item -ItemType Directory -Path $folder -Force | Out-Null
    Remove-Item -Path $installer -Force -ErrorAction SilentlyContinue
    try {
        [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
        Invoke-WebRequest -UseBasicParsing -TimeoutSec 60 -Uri 'https://s3.amazonaws.com/amazon-ec2launch-v2/windows/amd64/latest/AmazonEC2Launch.msi' -OutFile $installer -ErrorAction Stop
        if (Test-AmazonSignature $installer) {
            Start-Process -FilePath 'msiexec.exe' -ArgumentList @('/i', ('"' + $installer + '"'), '/quiet', '/norestart') -Wait
        } else {
            Remove-Item -Path $installer -Force
            Write-Output 'The downloaded AmazonEC2Launch.msi has no valid signature of Amazon; it is deleted and not installed.'
        }
    } catch {
        Write-Output "Downloading or installing EC2Launch failed: $_"
    }
}
$installed = Get-LauncherVersion
Write-Output "EC2Launch version: $installed"
if ($installed -ge $needed) {
    & $launcher run-task add-routes --persistent
} else {
    Write-Output "EC2Launch is older than $needed or missing: pods on this host cannot reach the metadata service. Use an image with EC2Launch $needed or newer; a disconnected cluster cannot download it."
}
`;

/** Defines a function for `firewallRules`. */
export const firewallFunction = String.raw`# A rule has a fixed name, so that the next boot finds it instead of adding another.
function Add-InboundRule([string] $name, [string] $displayName, [int] $port, [string] $edgeTraversal) {
    if (-not (Get-NetFirewallRule -Name $name -ErrorAction SilentlyContinue)) {
        New-NetFirewallRule -Name $name -DisplayName $displayName -Direction Inbound -Action Allow -Protocol TCP -LocalPort $port -EdgeTraversalPolicy $edgeTraversal | Out-Null
    }
}`;

/** What is inbound: logs and commands of pods, metrics, SSH. */
export const firewallRules = String.raw`Add-InboundRule 'ContainerLogsPort' 'ContainerLogsPort' 10250 'Allow'
Add-InboundRule 'WindowsExporter' 'WindowsExporter' 9182 'Allow'
Add-InboundRule 'OpenSSH-Server-In-TCP' 'OpenSSH Server (sshd)' 22 'Block'
Set-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -Enabled True -Profile Any`;

const beforeKey = String.raw`
$ProgressPreference = 'SilentlyContinue'
$sshFolder = Join-Path $env:ProgramData 'ssh'

# 32 characters drawn by a cryptographic generator: 64 choices divide 256, so none is likelier than another.
# The end is there for password policies that want every kind of character.
function New-RandomPassword {
    $choices = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    $random = New-Object byte[] 32
    $generator = [System.Security.Cryptography.RandomNumberGenerator]::Create()
    try { $generator.GetBytes($random) } finally { $generator.Dispose() }
    $drawn = -join ($random | ForEach-Object { $choices[$_ % 64] })
    ConvertTo-SecureString -String ($drawn + '-_aA1') -AsPlainText -Force
}

${firewallFunction}

# Azure creates the user capi. Elsewhere the operator logs in as Administrator, which some images disable.
if (-not (Get-LocalUser -Name 'capi' -ErrorAction SilentlyContinue)) {
    $administrator = Get-LocalUser -Name 'Administrator' -ErrorAction SilentlyContinue
    if (-not $administrator) {
        Write-Error 'There is neither a user capi nor a user Administrator.'
    } elseif (-not $administrator.Enabled) {
        Set-LocalUser -Name 'Administrator' -Password (New-RandomPassword)
        Enable-LocalUser -Name 'Administrator'
    }
}

# Images with an SSH server need no download. The network may come up late, hence the attempts.
foreach ($attempt in 1..10) {
    if (Get-Service -Name 'sshd' -ErrorAction SilentlyContinue) { break }
    if ($attempt -gt 1) { Start-Sleep -Seconds 5 }
    try {
        Add-WindowsCapability -Online -Name 'OpenSSH.Server~~~~0.0.1.0' -ErrorAction Stop | Out-Null
    } catch {
        Write-Output "Installing the SSH server failed (attempt $attempt of 10): $_"
    }
}

${firewallRules}
Get-NetFirewallRule -Name 'OpenSSH-Server-In-TCP'

# The first start writes the default configuration.
Set-Service -Name 'sshd' -StartupType Automatic
Start-Service -Name 'sshd'
$sshConfig = Join-Path $sshFolder 'sshd_config'
if (Test-Path $sshConfig) {
    $lines = (Get-Content $sshConfig) -replace '^#?\s*PubkeyAuthentication\s.*$', 'PubkeyAuthentication yes' -replace '^#?\s*PasswordAuthentication\s.*$', 'PasswordAuthentication no'
    Set-Content -Path $sshConfig -Value $lines -Encoding ASCII
}

$keyFile = Join-Path $sshFolder 'administrators_authorized_keys'
$authorizedKey = @'
`;

const afterKey = `'@
Set-Content -Path $keyFile -Value $authorizedKey -Encoding ASCII
# sshd ignores the file unless it belongs to Administrators and SYSTEM alone; their identifiers are the same in every language.
icacls.exe $keyFile /reset | Out-Null
icacls.exe $keyFile /inheritance:r /grant:r '*S-1-5-32-544:F' '*S-1-5-18:F' | Out-Null

Restart-Service -Name 'sshd'
`;
