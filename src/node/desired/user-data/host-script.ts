import { AppError, shown } from '#base/errors.ts';
import { quotedForPowerShell } from '#base/powershell.ts';
import { buildText, windowsVersions } from '#contract/supported-versions.ts';
import { firewallFunction, firewallRules } from './script.ts';

export interface HostScriptFacts {
  /** One line of an authorized_keys file; printable ASCII. */
  authorizedKey: string;
  /** Folder with the OpenSSH capability, for hosts without access to Windows Update. */
  capabilitySource?: string | undefined;
}

/**
 * PowerShell that makes a Windows Server ready for an entry in windows-instances. It changes only what differs, and
 * says what it changed, so it can run again at any time. Keys of other users stay.
 */
export function hostScript({ authorizedKey, capabilitySource = '' }: HostScriptFacts): string {
  const values = [
    `$authorizedKey = ${literal('the public key', authorizedKey)}`,
    `$capabilitySource = ${literal('--capability-source', capabilitySource)}`,
    `$builds = @{ ${windowsVersions.map(version => `'${buildText(version)}' = ${version.minimumUpdate}`).join('; ')} }`,
  ];
  return [head, '& {', ...values, firewallFunction, functions, steps, '}', ''].join('\n');
}

/** Consoles and editors of Windows read other characters in different ways. */
function literal(what: string, text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return quotedForPowerShell(text);
  throw new AppError('COMMAND_WORD_INVALID', `${what} has characters other than printable ASCII: ${shown(text)}`, {
    remedy: 'Use only ASCII letters, digits, blanks and punctuation.',
  });
}

const head = String.raw`# Makes this Windows Server ready for the Windows Machine Config Operator. Run it in PowerShell as administrator;
# it changes only what differs, so it can run again.
#
# The operator installs everything else: containerd, kubelet, kube-proxy, CNI plugins, the feature Containers.
# Do not install a container runtime yourself.
#
# In a golden image:
# - Install updates of Windows first; the operator never does.
# - Delete C:\ProgramData\ssh\ssh_host_*_key* as the last step: sshd makes new ones, and each host needs its own.
# - Generalize with sysprep /generalize /oobe /shutdown, so that clones get a machine id (SID) of their own. A clone
#   without it has the computer name and the SSH host keys of its template, and is not joined.
# - Give each host a computer name of its own, of 15 characters at most, before it joins.
# - Images for MachineSets do not need the key: the Secret windows-user-data brings it.`;

const functions = String.raw`
function Write-Change([string] $text) { Write-Output "changed: $text" }

# Lines of a file of keys, and why sshd cannot read it. Windows PowerShell writes UTF-16 with >, >> and Out-File.
function Read-KeyFile([string] $path) {
    $bytes = [System.IO.File]::ReadAllBytes($path)
    $encoding = [System.Text.Encoding]::UTF8
    $problem = ''
    $skip = 0
    if ($bytes.Length -ge 2 -and $bytes[0] -eq 0xFF -and $bytes[1] -eq 0xFE) {
        $encoding = [System.Text.Encoding]::Unicode; $problem = 'UTF-16'; $skip = 2
    } elseif ($bytes.Length -ge 2 -and $bytes[0] -eq 0xFE -and $bytes[1] -eq 0xFF) {
        $encoding = [System.Text.Encoding]::BigEndianUnicode; $problem = 'UTF-16'; $skip = 2
    } elseif ($bytes.Length -ge 3 -and $bytes[0] -eq 0xEF -and $bytes[1] -eq 0xBB -and $bytes[2] -eq 0xBF) {
        $problem = 'UTF-8 with a byte order mark'; $skip = 3
    } elseif ($bytes -contains 0) {
        # A line that >> has added to an ASCII file has a zero after each character.
        $problem = 'partly UTF-16'
        $bytes = [byte[]] @($bytes | Where-Object { $_ -ne 0 })
    }
    $text = $encoding.GetString($bytes, $skip, $bytes.Length - $skip)
    @{ Problem = $problem; Lines = @($text -split '\r?\n' | Where-Object { $_.Trim() -ne '' }) }
}

# No byte order mark, and ASCII as long as every line is.
function Write-KeyFile([string] $path, [string[]] $lines) {
    $text = ($lines -join [char]10) + [char]10
    [System.IO.File]::WriteAllText($path, $text, (New-Object System.Text.UTF8Encoding $false))
}

# Administrators, SYSTEM, TrustedInstaller; their identifiers are the same in every language.
$trusted = 'S-1-5-32-544', 'S-1-5-18', 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464'

# Who else has some of these rights to a file or folder, or owns it.
function Get-Others([string] $path, [System.Security.AccessControl.FileSystemRights] $rights) {
    $sid = [System.Security.Principal.SecurityIdentifier]
    $acl = Get-Acl -Path $path
    $rules = $acl.GetAccessRules($true, $true, $sid) | Where-Object {
        # Generic rights have bits of their own; a rule that is only inherited by others does not count here.
        $isWanted = ($_.FileSystemRights -band $rights) -or ([int] $_.FileSystemRights -band 0x50000000)
        $_.AccessControlType -eq 'Allow' -and $isWanted -and -not ($_.PropagationFlags -band 2)
    }
    @($rules | ForEach-Object { $_.IdentityReference.Value }) + $acl.GetOwner($sid).Value |
        Where-Object { $trusted -notcontains $_ } | Sort-Object -Unique
}

function Assert-Folder([string] $path) {
    $writing = 'WriteData, AppendData, Delete, DeleteSubdirectoriesAndFiles, ChangePermissions, TakeOwnership'
    $writers = @(Get-Others $path $writing)
    if ($writers.Count -gt 0) {
        throw "$path can be changed by $($writers -join ', '), who could log in as administrator: remove these permissions, and what they have put there."
    }
}

# sshd ignores the file unless it belongs to Administrators and SYSTEM alone.
function Protect-KeyFile([string] $path) {
    icacls.exe $path /setowner '*S-1-5-32-544' | Out-Null
    icacls.exe $path /reset | Out-Null
    icacls.exe $path /inheritance:r /grant:r '*S-1-5-32-544:F' '*S-1-5-18:F' | Out-Null
    if ($LASTEXITCODE -ne 0) { throw "The permissions of $path cannot be set." }
}
`;

const steps = String.raw`Set-StrictMode -Off
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$user = New-Object System.Security.Principal.WindowsPrincipal ([System.Security.Principal.WindowsIdentity]::GetCurrent())
if (-not $user.IsInRole([System.Security.Principal.WindowsBuiltInRole]::Administrator)) {
    throw 'Run this in PowerShell as administrator.'
}

# What only you can fix.
$system = Get-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$build = "10.0.$($system.CurrentBuildNumber)"
if (-not $builds.ContainsKey($build)) {
    Write-Warning "Windows $build is not supported; supported are $($builds.Keys -join ', ')."
} elseif ($system.UBR -lt $builds[$build]) {
    Write-Warning "Windows $build.$($system.UBR) is too old; install updates up to $build.$($builds[$build]) or later."
}
$name = [System.Net.Dns]::GetHostName()
if ($name -notmatch '^[A-Za-z0-9]([A-Za-z0-9-]{0,13}[A-Za-z0-9])?$') {
    Write-Warning "The computer name $name cannot be the name of a Node: use Rename-Computer with 1 to 15 letters, digits and hyphens."
}
if (Test-Path 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending') {
    Write-Warning 'Windows wants a reboot: restart this host before you list it.'
}

# Before the first start, any user may have made the folder, with settings of sshd in it.
$sshFolder = Join-Path $env:ProgramData 'ssh'
if (Test-Path $sshFolder) { Assert-Folder $sshFolder }

# Windows Server 2025 has OpenSSH, and does not start it.
if (-not (Get-Service -Name 'sshd' -ErrorAction SilentlyContinue)) {
    $capability = @{ Online = $true; Name = 'OpenSSH.Server~~~~0.0.1.0' }
    if ($capabilitySource -ne '') { $capability += @{ Source = $capabilitySource; LimitAccess = $true } }
    try {
        Add-WindowsCapability @capability | Out-Null
    } catch {
        throw "OpenSSH cannot be installed ($_). Without Windows Update, pass the folder LanguagesAndOptionalFeatures of the Features on Demand medium to wmco prepare-host --capability-source."
    }
    Write-Change 'OpenSSH is installed'
}

${firewallRules}

# The first start writes the default configuration and the host keys.
$service = Get-Service -Name 'sshd'
if ($service.StartType -ne 'Automatic') {
    Set-Service -Name 'sshd' -StartupType Automatic
    Write-Change 'sshd starts with Windows'
}
if ($service.Status -ne 'Running') {
    Start-Service -Name 'sshd'
    Write-Change 'sshd is started'
}

Assert-Folder $sshFolder

$shellKey = 'HKLM:\SOFTWARE\OpenSSH'
$shell = Join-Path $env:SystemRoot 'System32\WindowsPowerShell\v1.0\powershell.exe'
if (-not (Test-Path $shellKey)) { New-Item -Path $shellKey | Out-Null }
$known = (Get-ItemProperty -Path $shellKey).DefaultShell
if (-not $known -or (Split-Path -Leaf $known) -notmatch '^(powershell|cmd)\.exe$') {
    New-ItemProperty -Path $shellKey -Name 'DefaultShell' -Value $shell -PropertyType String -Force | Out-Null
    Write-Change 'PowerShell is the shell of SSH sessions'
}

$sshConfig = Join-Path $sshFolder 'sshd_config'
# Names of groups in it may have other letters than ASCII.
$before = @([System.IO.File]::ReadAllLines($sshConfig))
$after = @($before -replace '^\s*PubkeyAuthentication\s+no\s*$', 'PubkeyAuthentication yes')
if (Compare-Object $before $after -CaseSensitive) {
    [System.IO.File]::WriteAllLines($sshConfig, [string[]] $after, (New-Object System.Text.UTF8Encoding $false))
    Restart-Service -Name 'sshd'
    Write-Change "$sshConfig allows public keys"
}
if (-not ($after -match '^\s*AuthorizedKeysFile\s+__PROGRAMDATA__/ssh/administrators_authorized_keys')) {
    Write-Warning "$sshConfig does not name administrators_authorized_keys: sshd looks for the key elsewhere."
}
if (-not ($after -match '^\s*Subsystem\s+sftp\s')) {
    Write-Warning "$sshConfig has no Subsystem sftp, which the operator needs."
}

$keyFile = Join-Path $sshFolder 'administrators_authorized_keys'
# Files in the folders of users are named and not changed: an administrator must not write where users can put links.
$others = @(Get-ChildItem -Path (Join-Path $env:SystemDrive '\Users\*\.ssh\authorized_keys') -ErrorAction SilentlyContinue)
foreach ($file in $others) {
    if ($file.Length -gt 1MB -or ($file.Attributes -band [System.IO.FileAttributes]::ReparsePoint)) { continue }
    # A file that cannot be read is not our concern.
    $problem = try { (Read-KeyFile $file.FullName).Problem } catch { '' }
    if ($problem -ne '') { Write-Warning "$($file.FullName) is $problem, which sshd cannot read: its user must write it again as ASCII." }
}

$content = if (Test-Path $keyFile) { Read-KeyFile $keyFile } else { @{ Problem = ''; Lines = @() } }
$lines = $content.Lines
$wanted = $authorizedKey.Split(' ')[0..1] -join ' '
$isListed = @($lines | ForEach-Object { ($_.Trim() -split '\s+')[0..1] -join ' ' }) -ccontains $wanted
if (-not $isListed) { $lines = @($lines) + $authorizedKey }
if ($content.Problem -ne '' -or -not $isListed) {
    Write-KeyFile $keyFile $lines
    if ($content.Problem -ne '') { Write-Change "$keyFile was $($content.Problem) and is ASCII now" }
    if (-not $isListed) { Write-Change "$keyFile has the key of the operator" }
}
if (@(Get-Others $keyFile 'FullControl').Count -gt 0) {
    Protect-KeyFile $keyFile
    Write-Change "only Administrators and SYSTEM have access to $keyFile"
}

foreach ($attempt in 1..10) {
    $listener = Get-NetTCPConnection -LocalPort 22 -State Listen -ErrorAction SilentlyContinue
    if ($listener) { break }
    Start-Sleep -Seconds 1
}
if (-not $listener) {
    Write-Warning 'Nothing listens on port 22: look at the Port of sshd_config and at the event log OpenSSH/Operational.'
}
$addresses = Get-NetIPAddress -AddressFamily IPv4 | Where-Object { $_.IPAddress -notmatch '^(127|169\.254)\.' }
Write-Output "$name is ready. List it in the ConfigMap windows-instances by one of its addresses: $($addresses.IPAddress -join ', ')"
Write-Output "  with the value username=$env:USERNAME, if you log in as this user."
$hostKey = Join-Path $sshFolder 'ssh_host_ed25519_key.pub'
if (Test-Path $hostKey) { Write-Output "Its SSH host key, for spec.hostKey: $((Get-Content $hostKey) -replace '^(\S+ \S+).*', '$1')" }`;
