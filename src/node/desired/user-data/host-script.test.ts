import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openBrackets, powershellTokens } from '../../../../test/kit/powershell-tokens.ts';
import { hostScript } from './host-script.ts';

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAm5MQBqxS me@example.com';
const script = hostScript({ authorizedKey: key });
const tokens = powershellTokens(script);
const structure = (text: string) => powershellTokens(text).map(token => (token.is === 'string' ? '' : token.text));
const strings = (text: string) => powershellTokens(text).flatMap(token => (token.is === 'string' ? [token.text] : []));

test('is plain ASCII without carriage returns, tabs and backticks', () => {
  expect(script).toMatch(/^[\n\x20-\x7e]*$/);
  expect(script).not.toContain('`');
});

test('closes every quote and bracket, and is one block that runs only as a whole', () => {
  expect(openBrackets(tokens)).toEqual([]);
  const code = tokens.filter(({ is }) => is !== 'comment').map(({ text }) => text);
  expect(code.join('').trim()).toMatch(/^& \{[^]*\}$/);
});

test('the reader of PowerShell finds quotes and brackets that are not closed', () => {
  expect(openBrackets(powershellTokens(`if (1) { "a)" } # '`))).toEqual([]);
  expect(openBrackets(powershellTokens('if (1) { ( }'))).not.toEqual([]);
  expect(strings(`'a''b' + 'it\u2019\u2019s' + "c'd"`)).toEqual(["a'b", 'it\u2019s']);
  for (const text of [`'a`, `"a`, `'a''`, `'a\u2019 '`]) expect(() => powershellTokens(text)).toThrow('no token');
});

test('every function is defined before it is used', () => {
  for (const [, name = ''] of script.matchAll(/^function ([\w-]+)/gm)) {
    const uses = [...script.matchAll(new RegExp(`${name}\\b`, 'g'))].map(({ index }) => index);
    expect([name, uses.length > 1, script.slice((uses[0] ?? 0) - 9, uses[0])]).toEqual([name, true, 'function ']);
  }
});

test('takes its steps in order', () => {
  const steps = [
    'IsInRole([System.Security.Principal.WindowsBuiltInRole]::Administrator)',
    'if (Test-Path $sshFolder) { Assert-Folder $sshFolder }',
    'Add-WindowsCapability @capability',
    "Add-InboundRule 'ContainerLogsPort' 'ContainerLogsPort' 10250 'Allow'",
    "Add-InboundRule 'WindowsExporter' 'WindowsExporter' 9182 'Allow'",
    "Add-InboundRule 'OpenSSH-Server-In-TCP' 'OpenSSH Server (sshd)' 22 'Block'",
    "Set-Service -Name 'sshd' -StartupType Automatic",
    "Start-Service -Name 'sshd'",
    'Assert-Folder $sshFolder\n\n$shellKey',
    "-Name 'DefaultShell'",
    'PubkeyAuthentication yes',
    '$isListed =',
    'Write-KeyFile $keyFile $lines',
    'Protect-KeyFile $keyFile',
    '-LocalPort 22 -State Listen',
    'windows-instances',
  ];
  const places = steps.map(step => script.lastIndexOf(step));
  expect(places.filter(place => place < 0)).toEqual([]);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

test('changes nothing that is as it should be: each change stands in a condition', () => {
  const changes = script.split('\n').filter(line => /Write-Change ['"]/.test(line));
  expect(changes.length).toBeGreaterThanOrEqual(8);
  for (const line of changes) expect(line).toMatch(/^ {4}/);
});

test('keeps keys of others, passwords and accounts', () => {
  expect(script).toContain('$lines = @($lines) + $authorizedKey');
  expect(script).not.toMatch(/LocalUser|PasswordAuthentication|Remove-Item/);
});

test('writes sshd_config with the letters that it had, and without a byte order mark', () => {
  expect(script).toContain('[System.IO.File]::ReadAllLines($sshConfig)');
  expect(script).toContain(
    'WriteAllLines($sshConfig, [string[]] $after, (New-Object System.Text.UTF8Encoding $false))',
  );
  expect(script).not.toMatch(/Set-Content|Get-Content -Path \$sshConfig/);
});

test('names the builds that the operator supports, with the oldest update', () => {
  expect(script).toContain("$builds = @{ '10.0.17763' = 0; '10.0.20348' = 681; '10.0.26100' = 0 }");
});

test('gives SYSTEM and Administrators alone access, by identifiers that are the same in every language', () => {
  expect(script).toContain("icacls.exe $path /inheritance:r /grant:r '*S-1-5-32-544:F' '*S-1-5-18:F'");
  expect(script).toContain("icacls.exe $path /setowner '*S-1-5-32-544'");
});

test('PowerShell sees the key and the source as text only, whatever they contain', () => {
  const empty = structure(hostScript({ authorizedKey: '' }));
  const ascii = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map(code => String.fromCharCode(code)) });
  fc.assert(
    fc.property(ascii, ascii, (authorizedKey, capabilitySource) => {
      const text = hostScript({ authorizedKey, capabilitySource });
      expect(structure(text)).toEqual(empty);
      expect(strings(text).slice(0, 2)).toEqual([authorizedKey, capabilitySource]);
    }),
    { numRuns: 30 },
  );
});

const hostile = [
  "x'; Remove-Item C:\\ -Recurse; '",
  'x$(Restart-Computer)',
  '"@; & calc',
  '#>',
  "'@",
  '`n',
  '${env:Path}',
  'a}; throw; &{',
];
for (const text of hostile) {
  test(`${text} stays text`, () => {
    expect(strings(hostScript({ authorizedKey: `${key} ${text}` }))).toContain(`${key} ${text}`);
    expect(structure(hostScript({ authorizedKey: `${key} ${text}` }))).toEqual(structure(script));
  });
}

for (const text of ['a\nb', 'a\rb', 'caf\u00e9', 'it\u2019s', 'a\0b', 'a\tb']) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    for (const facts of [{ authorizedKey: text }, { authorizedKey: key, capabilitySource: text }]) {
      expect(() => hostScript(facts)).toThrow(expect.objectContaining({ code: 'COMMAND_WORD_INVALID' }));
    }
  });
}
