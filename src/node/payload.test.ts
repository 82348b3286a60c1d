import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf } from '../../test/kit/outcome.ts';
import { platforms } from '#contract/names.ts';
import { file, splitPath } from '#contract/paths.ts';
import { parseChecksums } from '#payload/checksums.ts';
import { checkPayload, payloadFor, optionalPrograms } from './payload.ts';

const [one, two] = ['1'.repeat(64), 'ab'.repeat(32)];
const names = (platform: string) => payloadFor(platform).map(({ name }) => name);
const everyPlatform = names('None');

test('carries the agent first, so that it can help with the rest', () => {
  for (const platform of [...platforms, '']) expect(names(platform)[0]).toBe('windows-instance-config-daemon.exe');
});

const extras: [platform: string, extra: string[]][] = [
  ['AWS', ['ecr-credential-provider.exe']],
  ['Azure', ['azure-cloud-node-manager.exe']],
  ['GCP', []],
  ['VSphere', []],
  ['Nutanix', []],
  ['None', []],
  ['SomeNewCloud', []],
  ['aws', []],
  ['', []],
];

for (const [platform, extra] of extras) {
  test(`platform ${JSON.stringify(platform)} gets ${extra.join() || 'nothing of its own'}`, () => {
    expect(names(platform)).toEqual([...everyPlatform, ...extra]);
  });
}

test('puts each file where services and containerd look for it', () => {
  const paths = platforms.flatMap(platform =>
    payloadFor(platform).map(({ directory, name }) => `${directory}\\${name}`),
  );
  const programs = [file.agent, file.kubelet, file.kubeProxy, file.logRunner, file.hybridOverlay, file.exporter];
  const others = [file.csiProxy, file.azureCloudNodeManager, file.containerd, 'C:\\k\\ecr-credential-provider.exe'];
  const plugins = ['win-bridge', 'host-local', 'win-overlay'].map(plugin => `C:\\k\\cni\\${plugin}.exe`);
  const wanted = [...programs, ...others, ...plugins, 'C:\\k\\containerd\\containerd-shim-runhcs-v1.exe'];
  expect([...new Set(paths)].sort()).toEqual(wanted.sort());
});

test('names every file once, by the last part of its source', () => {
  const all = [...payloadFor('AWS'), ...payloadFor('Azure')];
  for (const { source, name } of all) expect(splitPath(source.replaceAll('/', '\\')).name).toBe(name);
  expect(new Set(everyPlatform).size).toBe(everyPlatform.length);
});

test('copies programs only: texts are made with the other files of a node', () => {
  for (const platform of platforms) for (const name of names(platform)) expect(name).toMatch(/\.exe$/);
});

const good: [name: string, text: string, want: Record<string, string>][] = [
  ['an empty file', '', {}],
  ['blank lines', '\n  \n\t\n', {}],
  ['one line', `${one}  kubelet.exe\n`, { 'kubelet.exe': one }],
  ['a last line without its end', `${one}  kubelet.exe`, { 'kubelet.exe': one }],
  ['the base name of a path', `${one}  /build/out/kubelet.exe\n`, { 'kubelet.exe': one }],
  ['blanks around a line', `\n  ${one}  a/b.exe  \n\n`, { 'b.exe': one }],
  ['line ends of Windows', `${one}  a.exe\r\n${two}  b.exe\r\n`, { 'a.exe': one, 'b.exe': two }],
  ['hashes in capitals', `${two.toUpperCase()}  a.exe\n`, { 'a.exe': two }],
  ['a path with two blanks in it', `${one}  my  files/a b.exe\n`, { 'a b.exe': one }],
  ['more blanks than two', `${one}    a.exe\n`, { 'a.exe': one }],
  ['names that objects have anyway', `${one}  constructor\n${two}  toString\n`, { constructor: one, toString: two }],
];

for (const [name, text, want] of good) {
  test(`checksums: reads ${name}`, () => expect(parseChecksums(text)).toEqual(want));
}

test('checksums: keeps a name that would set a prototype', () => {
  const checksums = parseChecksums(`${one}  __proto__\n`);
  expect(Object.keys(checksums)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(checksums)).toBe(Object.prototype);
});

const bad: [name: string, text: string, shown: string][] = [
  ['a single blank', `${one} a.exe`, 'unexpected sha256sum line format'],
  ['a tab', `${one}\ta.exe`, 'unexpected sha256sum line format'],
  ['the mark of binary mode', `${one} *a.exe`, 'unexpected sha256sum line format'],
  ['no path', one, 'unexpected sha256sum line format'],
  ['no path after the blanks', `${one}  `, 'unexpected sha256sum line format'],
  ['a folder', `${one}  a/b/`, 'unexpected sha256sum line format'],
  ['no hash', '  a.exe', 'unexpected sha256sum line format "a.exe"'],
  ['a hash that is too short', `${one.slice(1)}  a.exe`, 'unexpected sha256sum line format'],
  ['a hash that is too long', `${one}1  a.exe`, 'unexpected sha256sum line format'],
  ['a hash that is not hexadecimal', `${'g'.repeat(64)}  a.exe`, 'unexpected sha256sum line format'],
  ['path and hash the other way round', `a.exe  ${one}`, 'unexpected sha256sum line format "a.exe'],
  [
    'a bad line after good ones',
    `${one}  a.exe\n${two}  b.exe\nnonsense\n`,
    'unexpected sha256sum line format "nonsense"',
  ],
  ['one name in two folders', `${one}  x/a.exe\n${two}  y/a.exe\n`, '"a.exe" is listed twice'],
  ['one line twice', `${one}  a.exe\n${one}  a.exe\n`, '"a.exe" is listed twice'],
];

for (const [name, text, shown] of bad) {
  test(`checksums: refuses ${name}`, () => {
    const error = errorOf(() => parseChecksums(text));
    expect(error?.code).toBe('CHECKSUMS_MALFORMED');
    expect(error?.message).toContain(shown);
    expect(error?.remedy).toContain('sha256sum');
  });
}

test('checksums: throws only AppErrors, and gives only hashes in lower case', () => {
  const line = fc.tuple(fc.constantFrom(one, two, two.toUpperCase(), 'x'), fc.constantFrom('  ', ' '), fc.string());
  const text = fc.oneof(
    fc.string(),
    fc.array(line).map(lines => lines.map(parts => parts.join('')).join('\n')),
  );
  fc.assert(
    fc.property(text, content => {
      errorOf(() => {
        for (const hash of Object.values(parseChecksums(content))) expect([one, two]).toContain(hash);
      });
    }),
    { numRuns: 2000 },
  );
});

test('checksums: reads back whatever sha256sum prints', () => {
  const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
  const table = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z_.-]{1,12}$/), hash), { selector: ([name]) => name });
  fc.assert(
    fc.property(table, rows => {
      const text = rows.map(([name, value]) => `${value}  out/bin/${name}\n`).join('');
      expect(parseChecksums(text)).toEqual(Object.fromEntries(rows));
    }),
    { numRuns: 500 },
  );
});

const complete = Object.fromEntries([...names('AWS'), ...names('Azure')].map(name => [name, one]));
const without = (...left: string[]) =>
  Object.fromEntries(Object.entries(complete).filter(([name]) => !left.includes(name)));

const checks: [name: string, checksums: Record<string, string>, platform: string | undefined, missing: string[]][] = [
  ['nothing when all are there', complete, undefined, []],
  ['nothing of another platform', without('ecr-credential-provider.exe'), 'Azure', []],
  ['a file of the platform', without('ecr-credential-provider.exe'), 'AWS', ['ecr-credential-provider.exe']],
  [
    'files of all platforms if none is named',
    without('azure-cloud-node-manager.exe'),
    undefined,
    ['azure-cloud-node-manager.exe'],
  ],
  ['all missing files at once', without('kubelet.exe', 'csi-proxy.exe'), 'None', ['kubelet.exe', 'csi-proxy.exe']],
  ['every file when there is no checksum at all', {}, 'None', everyPlatform],
  ['nothing about files it does not know', { ...complete, 'stray.exe': two }, undefined, []],
];

for (const [name, checksums, platform, missing] of checks) {
  test(`OP-03: check: reports ${name}`, () => {
    const errors = checkPayload(checksums, platform);
    expect(errors.map(({ code, message }) => [code, message])).toEqual(
      missing.map(file => ['PAYLOAD_CHECKSUM_MISSING', `missing SHA256Sum for ${file}`]),
    );
    for (const { remedy } of errors) expect(remedy).toContain('sha256sum');
  });
}

test('check: tells where the missing file belongs', () => {
  expect(checkPayload(without('kubelet.exe'))[0]?.remedy).toContain('kube-node/kubelet.exe');
});

test('optional programs are installed on their platform if the payload has them, and are never missing', () => {
  const checksums = { ...complete, 'gcr-credential-provider.exe': one };
  expect(optionalPrograms(complete)).toEqual([]);
  expect(optionalPrograms(checksums)).toEqual(['gcr-credential-provider.exe']);
  const added = (platform: string) =>
    payloadFor(platform, optionalPrograms(checksums)).length - payloadFor(platform).length;
  expect([added('GCP'), added('Azure'), added('AWS')]).toEqual([1, 0, 0]);
  expect(checkPayload(complete)).toEqual([]);
});
