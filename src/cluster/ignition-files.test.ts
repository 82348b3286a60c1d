import { deflateSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { attempt } from '#base/errors.ts';
import { readObject } from '#contract/object.ts';
import { cloudConfigText, ignitionFile, machineConfig, type PlainObject } from '../../test/kit/openshift-objects.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import type { KubeletArguments } from './facts.ts';
import { readWorkerConfig } from './ignition.ts';
import { readWorkerFiles } from './ignition-files.ts';

const cloudConf = '/etc/kubernetes/cloud.conf';
const acr = '/etc/kubernetes/credential-providers/acr-credential-provider.yaml';
const providers = '/etc/kubernetes/credential-providers/ecr-credential-provider.yaml';
const asked: KubeletArguments = { 'cloud-config': cloudConf };

function read(files: PlainObject[], kubelet: KubeletArguments = asked): Record<string, string> {
  return readWorkerFiles(readWorkerConfig(readObject(machineConfig({ files }))), kubelet);
}

const failure = (file: PlainObject) => errorOf(() => read([file]));

const selections: [name: string, files: PlainObject[], kubelet: KubeletArguments, want: Record<string, string>][] = [
  ['nothing from an empty config', [], asked, {}],
  ['the cloud config when the kubelet asks for it', [ignitionFile(cloudConf, 'C')], asked, { [cloudConf]: 'C' }],
  [
    'the cloud config even if the option is empty',
    [ignitionFile(cloudConf, 'C')],
    { 'cloud-config': '' },
    { [cloudConf]: 'C' },
  ],
  ['no cloud config that nobody asks for', [ignitionFile(cloudConf, 'C')], { 'cloud-provider': 'aws' }, {}],
  ['the credential providers always', [ignitionFile(providers, 'P')], {}, { [providers]: 'P' }],
  [
    'the cloud config for the credential provider of Azure',
    [ignitionFile(acr, 'A'), ignitionFile(cloudConf, 'C')],
    {},
    { [acr]: 'A', [cloudConf]: 'C' },
  ],
  ['both', [ignitionFile(providers, 'P'), ignitionFile(cloudConf, 'C')], asked, { [cloudConf]: 'C', [providers]: 'P' }],
  ['no other file', [ignitionFile('/etc/other', 'O'), ignitionFile(`${cloudConf}.bak`, 'B')], asked, {}],
  [
    'the last of two with one path',
    [ignitionFile(cloudConf, '1'), ignitionFile(cloudConf, '2')],
    asked,
    { [cloudConf]: '2' },
  ],
];
for (const [name, files, kubelet, want] of selections)
  test(`takes ${name}`, () => expect(read(files, kubelet)).toEqual(want));

test('does not look into files it does not take', () => {
  const broken = {
    path: '/var/lib/kubelet/config.json',
    contents: { source: 'https://secret.example.com', compression: 'zip' },
  };
  expect(read([broken, { path: cloudConf, contents: {} }], {})).toEqual({});
});

const encodings: [name: string, file: PlainObject, want: string][] = [
  ['base64', ignitionFile(cloudConf, cloudConfigText), cloudConfigText],
  ['percent-encoding', { path: cloudConf, contents: { source: 'data:,%7B%22a%22%3A1%7D' } }, '{"a":1}'],
  ['nothing', { path: cloudConf, contents: { source: 'data:,' } }, ''],
  ['umlauts', ignitionFile(cloudConf, 'größe = ü\n'), 'größe = ü\n'],
  ['line ends of Windows', ignitionFile(cloudConf, 'a\r\nb\r\n'), 'a\r\nb\r\n'],
  ['gzip', ignitionFile(cloudConf, gzipSync(cloudConfigText), { compression: 'gzip' }), cloudConfigText],
  ['gzip of nothing', ignitionFile(cloudConf, gzipSync(''), { compression: 'gzip' }), ''],
  ['no compression, said with null', ignitionFile(cloudConf, 'C', { compression: null }), 'C'],
];
for (const [name, file, want] of encodings)
  test(`decodes ${name}`, () => expect(read([file])).toEqual({ [cloudConf]: want }));

const source = (text: unknown): PlainObject => ({ path: cloudConf, contents: { source: text } });
const gzipped = (bytes: Uint8Array): PlainObject => ignitionFile(cloudConf, bytes, { compression: 'gzip' });

const broken: [name: string, file: PlainObject, part: string][] = [
  ['without contents', { path: cloudConf }, 'has no source'],
  ['without a source', { path: cloudConf, contents: {} }, 'has no source'],
  ['with a source that is null', source(null), 'has no source'],
  ['with an empty source', source(''), 'not a valid data: URL'],
  ['that would have to be downloaded', source('https://user:hunter2@example.com/c'), 'not a valid data: URL'],
  ['with a broken escape', source('data:,hunter2%zz'), 'not a valid data: URL'],
  ['with broken base64', source('data:;base64,hunter2'), 'not a valid data: URL'],
  ['with an unknown compression', ignitionFile(cloudConf, 'C', { compression: 'zstd' }), 'compression "zstd"'],
  ['with a compression that is no text', ignitionFile(cloudConf, 'C', { compression: 1 }), 'compression "unknown"'],
  ['that says gzip and is plain', ignitionFile(cloudConf, 'hunter2', { compression: 'gzip' }), 'is damaged gzip data'],
  ['that says gzip and is empty', gzipped(new Uint8Array()), 'is damaged gzip data'],
  ['that says gzip and is zlib', gzipped(deflateSync('C')), 'is damaged gzip data'],
  ['of which the end is missing', gzipped(gzipSync('hunter2').subarray(0, -9)), 'is damaged gzip data'],
  ['that would unpack to 5 MiB', gzipped(gzipSync(new Uint8Array(5 * 1024 * 1024))), 'larger than 4194304 bytes'],
  ['that is not UTF-8', ignitionFile(cloudConf, new Uint8Array([0xff, 0xfe])), 'not UTF-8 text'],
  ['of which the gzip holds no UTF-8', gzipped(gzipSync(new Uint8Array([0xc3]))), 'not UTF-8 text'],
];
for (const [name, file, part] of broken)
  test(`refuses a file ${name}, without showing it`, () => {
    const error = failure(file);
    expect(error?.code).toBe('IGNITION_MALFORMED');
    expect(error?.message).toContain(`MachineConfig rendered-worker-5d0c8f8b: file ${cloudConf} `);
    expect(error?.message).toContain(part);
    expect(error?.message).not.toContain('hunter2');
    expect(error?.remedy).not.toBe('');
  });

test('unpacks up to the limit', () => {
  const largest = 'x'.repeat(4 * 1024 * 1024);
  expect(read([gzipped(gzipSync(largest))])[cloudConf]).toHaveLength(largest.length);
});

test('gives back any text, compressed or not', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      expect(read([ignitionFile(cloudConf, text)])).toEqual({ [cloudConf]: text });
      expect(read([gzipped(gzipSync(text))])).toEqual({ [cloudConf]: text });
    }),
    { numRuns: 200 },
  );
});

test('throws only AppErrors for gzip data with a byte changed', () => {
  const good = gzipSync(cloudConfigText);
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
      const changed = Uint8Array.from(good);
      changed[at] = byte;
      attempt(() => read([gzipped(changed)]));
    }),
    { numRuns: 2000 },
  );
});

test('throws only AppErrors for any source and compression', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string().map(part => `data:;base64,${toBase64(part)}`),
    fc.jsonValue(),
  );
  const compression = fc.oneof(fc.constantFrom('', 'gzip', null), fc.jsonValue());
  fc.assert(
    fc.property(text, compression, (some, other) => {
      attempt(() => read([{ path: providers, contents: { source: some, compression: other } }]));
    }),
    { numRuns: 2000 },
  );
});
