import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { attempt } from '#base/errors.ts';
import type { KubeletArguments } from '#cluster/facts.ts';
import { cloudConfigText, credentialProviderText } from '../../../test/kit/openshift-objects.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { filesForWindows, optionalProvider, renameCredentialProviders } from './cloud.ts';

const cloudConf = '/etc/kubernetes/cloud.conf';
const providers = '/etc/kubernetes/credential-providers/ecr-credential-provider.yaml';
const windowsCloudConf = 'C:\\k\\cloud.conf';
const windowsProviders = 'C:\\k\\credential-provider-config.yaml';

const failure = (config: string) => errorOf(() => renameCredentialProviders(config));

const cases: [name: string, kubelet: KubeletArguments, files: Record<string, string>, want: string[]][] = [
  ['nothing', {}, {}, []],
  ['a cloud config that is asked for', { 'cloud-config': cloudConf }, { [cloudConf]: 'C' }, [windowsCloudConf]],
  ['a cloud config asked for by an empty option', { 'cloud-config': '' }, { [cloudConf]: 'C' }, [windowsCloudConf]],
  ['a cloud config nobody asks for', { 'cloud-provider': 'azure' }, { [cloudConf]: 'C' }, []],
  ['a cloud config that is asked for and not there', { 'cloud-config': cloudConf }, {}, []],
  ['credential providers', {}, { [providers]: credentialProviderText }, [windowsProviders]],
  [
    'both',
    { 'cloud-config': cloudConf },
    { [cloudConf]: 'C', [providers]: credentialProviderText },
    [windowsCloudConf, windowsProviders],
  ],
  ['other files', { 'cloud-config': cloudConf }, { '/etc/other': 'O' }, []],
];
for (const [name, kubelet, files, want] of cases)
  test(`files for Windows from ${name}`, () => expect(Object.keys(filesForWindows(kubelet, files))).toEqual(want));

test('copies the cloud config as it is, even when it is empty', () => {
  for (const content of [cloudConfigText, '', 'a\r\nb'])
    expect(filesForWindows({ 'cloud-config': 'x' }, { [cloudConf]: content })).toEqual({ [windowsCloudConf]: content });
});

test('only the name of a provider changes in the text', () => {
  const want = credentialProviderText.replace('name: ecr-credential-provider', 'name: ecr-credential-provider.exe');
  expect(filesForWindows({}, { [providers]: credentialProviderText })).toEqual({ [windowsProviders]: want });
});

const names: [name: string, want: string][] = [
  ['ecr-credential-provider', 'ecr-credential-provider.exe'],
  ['ecr-credential-provider.exe', 'ecr-credential-provider.exe'],
  ['PROVIDER.EXE', 'PROVIDER.EXE'],
  ['exe', 'exe.exe'],
  ['a.exe.sh', 'a.exe.sh.exe'],
  ['v1.2', 'v1.2.exe'],
  ['null', 'null.exe'],
  ['a: b', 'a: b.exe'],
];
for (const [name, want] of names)
  test(`makes ${name} the program ${want}`, () => {
    const renamed = renameCredentialProviders(stringify({ providers: [{ name }] }));
    expect(parse(renamed)).toEqual({ providers: [{ name: want }] });
  });

test('renames every provider and keeps their order and that of their members', () => {
  const config = 'kind: C\nproviders:\n- args: [get]\n  name: b\n- name: a\n  env: []\napiVersion: v1\n';
  expect(Object.keys(parse(renameCredentialProviders(config)) as object)).toEqual(['kind', 'providers', 'apiVersion']);
  expect(parse(renameCredentialProviders(config))).toMatchObject({
    providers: [
      { args: ['get'], name: 'b.exe' },
      { name: 'a.exe', env: [] },
    ],
  });
});

test('keeps comments, quotes and long lines', () => {
  const long = `"${'*.dkr.ecr.example.com '.repeat(12).trim()}"`;
  const config = `# made by hand\nproviders:\n  - name: 'a' # the only one\n    note: ${long}\n`;
  expect(renameCredentialProviders(config)).toBe(config.replace("'a'", "'a.exe'"));
});

test('reads JSON, which is YAML too', () => {
  const renamed = renameCredentialProviders('{"kind":"C","providers":[{"name":"a"}]}');
  expect(parse(renamed)).toEqual({ kind: 'C', providers: [{ name: 'a.exe' }] });
});

for (const config of ['kind: C\n', 'providers: []\n', 'providers: null\n', 'providers:\n'])
  test(`leaves a config without providers alone: ${JSON.stringify(config)}`, () =>
    expect(parse(renameCredentialProviders(config))).toEqual(parse(config)));

const malformed: [name: string, config: string, part: string][] = [
  ['an empty text', '', 'is not a mapping'],
  ['a plain text', 'hunter2', 'is not a mapping'],
  ['a list', '- name: hunter2\n', 'is not a mapping'],
  ['a broken mapping', 'providers: [hunter2', 'is not YAML'],
  ['a key twice', 'providers: []\nproviders: []\n', 'is not YAML'],
  ['two documents', 'kind: C\n---\nkind: hunter2\n', 'is not YAML'],
  ['a tab as indentation', 'providers:\n\t- name: hunter2\n', 'is not YAML'],
  ['providers that are a text', 'providers: hunter2\n', 'has providers that are not a list'],
  ['providers that are a mapping', 'providers: {name: hunter2}\n', 'has providers that are not a list'],
  ['a provider that is a text', 'providers: [hunter2]\n', 'has no name in providers[0]'],
  ['a provider without a name', 'providers: [{name: a}, {args: [hunter2]}]\n', 'has no name in providers[1]'],
  ['an empty name', 'providers: [{name: ""}]\n', 'has no name in providers[0]'],
  ['a name that is a number', 'providers: [{name: 1}]\n', 'has no name in providers[0]'],
  ['a name that is an alias', 'x: &n hunter2\nproviders: [{name: *n}]\n', 'has no name in providers[0]'],
  [
    'an alias to nothing',
    'x: *hunter2\nproviders: [{name: a}]\n',
    'is YAML with unresolved aliases or endless nesting',
  ],
  ['nesting without end', `x: ${'['.repeat(100_000)}`, 'is '],
];
for (const [name, config, part] of malformed)
  test(`refuses as credential provider config ${name}, without showing it`, () => {
    const error = failure(config);
    expect(error?.code).toBe('IGNITION_MALFORMED');
    expect(error?.message).toContain(`worker file ${providers} `);
    expect(error?.message).toContain(part);
    expect(error?.message).not.toContain('hunter2');
    expect(error?.remedy).not.toBe('');
  });

test('names get .exe once: renaming twice is renaming once', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9._-]{1,30}$/);
  fc.assert(
    fc.property(fc.array(name), list => {
      const once = renameCredentialProviders(stringify({ providers: list.map(item => ({ name: item })) }));
      expect(renameCredentialProviders(once)).toBe(once);
      const renamed = (parse(once) as { providers: { name: string }[] }).providers.map(provider => provider.name);
      expect(renamed).toEqual(list.map(item => (/\.exe$/i.test(item) ? item : `${item}.exe`)));
    }),
    { numRuns: 300 },
  );
});

test('throws only AppErrors, whatever the text', () => {
  const pieces = fc.constantFrom(
    'providers:',
    '\n',
    '- ',
    'name: ',
    'a',
    '&x ',
    '*x',
    '[',
    ']',
    '{',
    '}',
    '!!t ',
    '"',
    '#',
    '|',
    '? ',
    '<<: ',
    '  ',
    '---',
    '%',
  );
  const mutated = fc
    .tuple(fc.nat(credentialProviderText.length), pieces)
    .map(([at, put]) => credentialProviderText.slice(0, at) + put + credentialProviderText.slice(at));
  const joined = fc.array(pieces, { maxLength: 20 }).map(parts => parts.join(''));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        joined,
        mutated,
        fc.jsonValue().map(value => stringify(value)),
      ),
      config => {
        attempt(() => renameCredentialProviders(config));
      },
    ),
    { numRuns: 2000 },
  );
});

const acr = '/etc/kubernetes/credential-providers/acr-credential-provider.yaml';
const gcr = '/etc/kubernetes/credential-providers/gcr-credential-provider.yaml';
const acrConfig = stringify({ providers: [{ name: 'acr-credential-provider', args: ['-v', cloudConf] }] });
const gcrConfig = stringify({ providers: [{ name: 'gcr-credential-provider', args: ['get-credentials'] }] });
const optionalPrograms = ['acr-credential-provider.exe', 'gcr-credential-provider.exe'];

const optionalCases: [
  name: string,
  platform: string,
  files: Record<string, string>,
  programs: string[],
  want: string[],
][] = [
  ['Azure', 'Azure', { [acr]: acrConfig, [cloudConf]: 'C' }, optionalPrograms, [windowsCloudConf, windowsProviders]],
  ['Azure without the program', 'Azure', { [acr]: acrConfig, [cloudConf]: 'C' }, [], []],
  ['Azure without the cloud config', 'Azure', { [acr]: acrConfig }, optionalPrograms, []],
  ['Azure without the configuration', 'Azure', { [cloudConf]: 'C' }, optionalPrograms, []],
  ['GCP', 'GCP', { [gcr]: gcrConfig }, optionalPrograms, [windowsProviders]],
  ['GCP without the program', 'GCP', { [gcr]: gcrConfig }, ['acr-credential-provider.exe'], []],
  ['another platform', 'VSphere', { [gcr]: gcrConfig, [acr]: acrConfig }, optionalPrograms, []],
];
for (const [name, platform, workerFiles, programs, want] of optionalCases) {
  test(`optional provider: files for ${name}`, () => {
    const facts = { platform, workerFiles, optionalPrograms: programs };
    expect(Object.keys(filesForWindows({}, workerFiles, facts))).toEqual(want);
    expect(optionalProvider(facts) !== undefined).toBe(want.includes(windowsProviders));
  });
}

test('optional provider: the cloud config has its Windows path in the arguments', () => {
  const facts = { platform: 'Azure', optionalPrograms };
  const files = filesForWindows({}, { [acr]: acrConfig, [cloudConf]: 'C' }, facts);
  expect(parse(files[windowsProviders] ?? '')).toEqual({
    providers: [{ name: 'acr-credential-provider.exe', args: ['-v', windowsCloudConf] }],
  });
});

test('optional provider: a broken configuration is named by its own path', () => {
  const error = errorOf(() => filesForWindows({}, { [gcr]: '[' }, { platform: 'GCP', optionalPrograms }));
  expect(error?.message).toContain(gcr);
});
