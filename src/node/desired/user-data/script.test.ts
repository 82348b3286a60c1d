import { expect, test } from 'vitest';
import { awsScript, prepareScript } from './script.ts';

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAm5MQBqxS\n';
const script = prepareScript(key);
const scripts: [string, string][] = [
  ['all platforms', script],
  ['AWS', awsScript],
];

/** The code of a script: no comments, and every text in quotes emptied. */
function code(text: string): string {
  return text
    .replaceAll(/@'\n.*?\n'@/gs, "''")
    .replaceAll(/^\s*#.*$/gm, '')
    .replaceAll(/'[^'\n]*'/g, "''");
}

for (const [name, text] of scripts) {
  test(`${name}: begins and ends with a line break, so that tags and parts stand apart`, () => {
    expect(text).toMatch(/^\n.*\n$/s);
  });

  test(`${name}: is plain ASCII without carriage returns, backticks or a tag of the wrapping`, () => {
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    expect(text).not.toMatch(/`|<\/?powershell>|<persist>/i);
  });

  test(`${name}: brackets and quotes are balanced`, () => {
    const rest = code(text);
    for (const [open, close] of ['{}', '()', '[]'].map(pair => pair.split(''))) {
      expect(rest.split(open ?? '').length).toBe(rest.split(close ?? '').length);
    }
    for (const line of rest.split('\n')) {
      expect([line, (line.match(/'/g) ?? []).length % 2, (line.match(/"/g) ?? []).length % 2]).toEqual([line, 0, 0]);
    }
  });

  test(`${name}: holds no literal password`, () => {
    expect(text).not.toMatch(/ConvertTo-SecureString\s+(-String\s+)?['"A-Za-z]/);
    expect(text).not.toContain('GeneratePassword');
  });
}

test('takes its steps in order', () => {
  const steps = [
    "Get-LocalUser -Name 'capi'",
    "Get-LocalUser -Name 'Administrator'",
    "Set-LocalUser -Name 'Administrator' -Password (New-RandomPassword)",
    "Enable-LocalUser -Name 'Administrator'",
    "Add-WindowsCapability -Online -Name 'OpenSSH.Server~~~~0.0.1.0'",
    "Add-InboundRule 'ContainerLogsPort' 'ContainerLogsPort' 10250 'Allow'",
    "Add-InboundRule 'WindowsExporter' 'WindowsExporter' 9182 'Allow'",
    "Add-InboundRule 'OpenSSH-Server-In-TCP' 'OpenSSH Server (sshd)' 22 'Block'",
    "Set-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -Enabled True -Profile Any",
    "Get-NetFirewallRule -Name 'OpenSSH-Server-In-TCP'",
    "Set-Service -Name 'sshd' -StartupType Automatic",
    "Start-Service -Name 'sshd'",
    'PubkeyAuthentication yes',
    'PasswordAuthentication no',
    'administrators_authorized_keys',
    key,
    'Set-Content -Path $keyFile -Value $authorizedKey -Encoding ASCII',
    'icacls.exe $keyFile /reset',
    "icacls.exe $keyFile /inheritance:r /grant:r '*S-1-5-32-544:F' '*S-1-5-18:F'",
    "Restart-Service -Name 'sshd'",
  ];
  const places = steps.map(step => script.lastIndexOf(step));
  expect(places.every(place => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

test('draws the password from a cryptographic generator when it runs', () => {
  expect(script).toContain('[System.Security.Cryptography.RandomNumberGenerator]::Create()');
  expect(script).not.toContain('Get-Random ');
  const choices = /\$choices = '([^']*)'/.exec(script)?.[1] ?? '';
  expect(new Set(choices).size).toBe(64);
  expect(256 % choices.length).toBe(0);
});

test('a password has every kind of character, and two that are neither letter nor digit', () => {
  const end = /\$drawn \+ '([^']*)'/.exec(script)?.[1] ?? '';
  for (const kind of [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9].*[^A-Za-z0-9]/]) expect(end).toMatch(kind);
});

test('touches Administrator only where there is no capi and the account is disabled', () => {
  const [, block = ''] = /if \(-not \(Get-LocalUser -Name 'capi'[^\n]*\{\n(.*?)\n\}/s.exec(script) ?? [];
  expect(block).toContain('elseif (-not $administrator.Enabled)');
  expect(block).toContain("Write-Error 'There is neither a user capi nor a user Administrator.'");
  expect(script.split('Set-LocalUser').length).toBe(2);
});

test('installs the SSH server only where it is missing, in ten attempts, five seconds apart', () => {
  const [, loop = ''] = /foreach \(\$attempt in 1\.\.10\) \{\n(.*?)\n\}/s.exec(script) ?? [];
  expect(loop.indexOf('break')).toBeLessThan(loop.indexOf('Add-WindowsCapability'));
  expect(loop).toContain('Start-Sleep -Seconds 5');
  expect(loop).toMatch(/try \{.*Add-WindowsCapability.*-ErrorAction Stop.*\} catch \{/s);
});

test('finds its firewall rules again by name instead of adding them at every boot', () => {
  expect(script.match(/New-NetFirewallRule/g)).toHaveLength(1);
  expect(script).toMatch(/if \(-not \(Get-NetFirewallRule -Name \$name [^\n]*\{\n\s+New-NetFirewallRule -Name \$name /);
  expect(script).toMatch(/New-NetFirewallRule[^\n]* -Direction Inbound -Action Allow -Protocol TCP -LocalPort \$port/);
});

const settings: [line: string, want: string][] = [
  ['#PubkeyAuthentication yes', 'PubkeyAuthentication yes'],
  ['PubkeyAuthentication no', 'PubkeyAuthentication yes'],
  ['PubkeyAuthentication yes', 'PubkeyAuthentication yes'],
  ['#PasswordAuthentication yes', 'PasswordAuthentication no'],
  ['# PasswordAuthentication yes', 'PasswordAuthentication no'],
  ['PasswordAuthentication yes', 'PasswordAuthentication no'],
  ['PasswordAuthentication no', 'PasswordAuthentication no'],
  ['#HostbasedAuthentication no', '#HostbasedAuthentication no'],
  ['# PasswordAuthentications are a topic of their own', '# PasswordAuthentications are a topic of their own'],
  ['Match Group administrators', 'Match Group administrators'],
];

for (const [line, want] of settings) {
  test(`sshd_config: ${line} becomes ${want}`, () => {
    const replacements = [...script.matchAll(/-replace '([^']*)', '([^']*)'/g)];
    expect(replacements).toHaveLength(2);
    const result = replacements.reduce((text, [, from = '', to = '']) => text.replace(new RegExp(from, 'i'), to), line);
    expect(result).toBe(want);
  });
}

test('writes the key as one line of text that PowerShell does not look into', () => {
  expect(script).toContain(`$authorizedKey = @'\n${key}'@\n`);
});

test('differs with the key only', () => {
  expect(prepareScript('KEY\n')).toBe(script.replace(key, 'KEY\n'));
  expect(prepareScript(key)).toBe(script);
});

test('AWS: compares versions as versions and takes a missing agent for the oldest', () => {
  expect(awsScript).toContain("$needed = [version]'2.0.1643'");
  expect(awsScript).toContain('if ((Get-LauncherVersion) -lt $needed) {');
  expect(awsScript).toContain('-as [version]');
  expect(awsScript).toContain("else { [version]'0.0' }");
});

/** The lines of the block that begins with a line, without those of inner blocks that it closes. */
function block(start: string): string {
  const lines = awsScript.split('\n');
  const from = lines.findIndex(line => line.includes(start));
  const indent = /^ */.exec(lines[from] ?? '')?.[0] ?? '';
  const length = lines.slice(from + 1).findIndex(line => line.startsWith(`${indent}}`));
  return lines.slice(from, from + length + 1).join('\n');
}

test('AWS: downloads nothing where the host has a version that will do', () => {
  const inside = block('if ((Get-LauncherVersion) -lt $needed) {');
  for (const word of ['Invoke-WebRequest', 'msiexec.exe', 'https://']) {
    expect(inside).toContain(word);
    expect(awsScript.replace(inside, '')).not.toContain(word);
  }
});

test('AWS: installs only what has a valid signature of Amazon', () => {
  const checked = block('if (Test-AmazonSignature $installer) {');
  expect(checked).toContain('msiexec.exe');
  expect(awsScript.replace(checked, '')).not.toContain('msiexec.exe');
  const check = block('function Test-AmazonSignature');
  expect(check).toContain("if ($signature.Status -ne 'Valid') { return $false }");
  expect(check.match(/'O=[^']*'/g)).toEqual([
    "'O=Amazon Web Services, Inc.'",
    "'O=Amazon.com Services LLC'",
    "'O=Amazon.com, Inc.'",
  ]);
  expect(check).toContain('$names -ccontains $publisher');
  expect(check.trimEnd().endsWith('$false')).toBe(true);
});

test('AWS: says why the route does not stay, and calls no program that cannot do it', () => {
  const able = block('if ($installed -ge $needed) {');
  expect(able).toContain('run-task add-routes --persistent');
  expect(awsScript.replace(able, '')).not.toContain('& $launcher run-task');
  expect(block('} catch {')).toContain('Write-Output "Downloading or installing EC2Launch failed: $_"');
  expect(awsScript).toContain(
    'Use an image with EC2Launch $needed or newer; a disconnected cluster cannot download it.',
  );
});

test('AWS: waits for the installer and needs no user interaction', () => {
  expect(awsScript).toMatch(/Start-Process -FilePath 'msiexec\.exe' [^\n]*'\/i'[^\n]*'\/quiet'[^\n]* -Wait\n/);
});

test('AWS: makes the route to the metadata service stay, after the installation', () => {
  const steps = [
    'Join-Path $env:USERPROFILE',
    'Invoke-WebRequest',
    'msiexec.exe',
    'EC2Launch version:',
    'run-task add-routes --persistent',
  ];
  const places = steps.map(step => awsScript.indexOf(step));
  expect(places.every(place => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

test('AWS: downloads over HTTPS from where Amazon publishes the agent', () => {
  expect(awsScript.match(/https?:\/\/[^']*/g)).toEqual([
    'https://s3.amazonaws.com/amazon-ec2launch-v2/windows/amd64/latest/AmazonEC2Launch.msi',
  ]);
});
