import { expect, test } from 'vitest';
import { created, objectOf, problems, row } from '../../../../test/kit/kind-checks.ts';
import { configMap, secret } from './config.ts';

const frozen = 'Forbidden: field is immutable when `immutable` is set';
const large = 'x'.repeat(1024 * 1024);
const largeEncoded = Buffer.alloc(1024 * 1024 + 1).toString('base64');

const configMaps: [string, Record<string, unknown>, Record<string, unknown> | undefined, unknown[]][] = [
  ['nothing', {}, undefined, []],
  ['data', { data: { a: 'b' } }, undefined, []],
  ['as much as there may be', { data: { a: large } }, undefined, []],
  ['too much', { data: { a: large, b: 'x' } }, undefined, ['[]: Too long: must have at most 1048576 bytes']],
  ['too much in octets', { data: { a: 'é'.repeat(600_000) } }, undefined, [expect.stringMatching(/Too long/)]],
  ['too much that is encoded', { binaryData: { a: largeEncoded } }, undefined, [expect.stringMatching(/Too long/)]],
  [
    'a bad key',
    { data: { 'a b': '' } },
    undefined,
    [expect.stringMatching(/^data\[a b\]: Invalid value: "a b": a valid c/)],
  ],
  [
    'a bad binary key',
    { binaryData: { '/': '' } },
    undefined,
    [expect.stringMatching(/^binaryData\[\/\]: Invalid value/)],
  ],
  [
    'a key twice',
    { data: { a: '' }, binaryData: { a: '' } },
    undefined,
    ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  ],
  ['a change', { data: { a: '2' } }, { data: { a: '1' } }, []],
  ['becoming immutable', { immutable: true, data: { a: '1' } }, { data: { a: '1' } }, []],
  ['no change of an immutable one', { immutable: true, data: { a: '1' } }, { immutable: true, data: { a: '1' } }, []],
  [
    'a change of an immutable one',
    { immutable: true, data: { a: '2' } },
    { immutable: true, data: { a: '1' } },
    [`data: ${frozen}`],
  ],
  ['an end of being immutable', { data: {} }, { immutable: true }, [`immutable: ${frozen}`]],
  [
    'everything at once',
    { immutable: false, data: { a: '2' }, binaryData: { b: '' } },
    { immutable: true },
    [`immutable: ${frozen}`, `data: ${frozen}`, `binaryData: ${frozen}`],
  ],
];
test.each(configMaps)('judges a ConfigMap with %s', (_, content, old, wanted) => {
  expect(problems(configMap, content, old)).toEqual(wanted);
});

const secrets: [string, Record<string, unknown>, Record<string, unknown> | undefined, unknown[]][] = [
  ['nothing', { type: 'Opaque' }, undefined, []],
  [
    'too much',
    { type: 'Opaque', data: { a: largeEncoded } },
    undefined,
    ['data: Too long: must have at most 1048576 bytes'],
  ],
  ['a bad key', { type: 'Opaque', data: { '..': '' } }, undefined, [`data[..]: Invalid value: "..": must not be '..'`]],
  ['a key pair', { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } }, undefined, []],
  [
    'half a key pair',
    { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } },
    undefined,
    ['data[tls.key]: Required value'],
  ],
  [
    'no pull secret',
    { type: 'kubernetes.io/dockerconfigjson' },
    undefined,
    ['data[.dockerconfigjson]: Required value'],
  ],
  ['no old pull secret', { type: 'kubernetes.io/dockercfg' }, undefined, ['data[.dockercfg]: Required value']],
  ['no SSH key', { type: 'kubernetes.io/ssh-auth' }, undefined, ['data[ssh-privatekey]: Required value']],
  [
    'no account',
    { type: 'kubernetes.io/service-account-token' },
    undefined,
    ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  ],
  ['another type', { type: 'b' }, { type: 'a' }, ['type: Invalid value: "b": field is immutable']],
  [
    'a change of an immutable one',
    { type: 'a', immutable: true, data: { k: 'Yg==' } },
    { type: 'a', immutable: true, data: { k: 'YQ==' } },
    [`data: ${frozen}`],
  ],
  ['a new label on an immutable one', { type: 'a', immutable: true }, { type: 'a', immutable: true }, []],
];
test.each(secrets)('judges a Secret with %s', (_, content, old, wanted) => {
  expect(problems(secret, content, old)).toEqual(wanted);
});

test('requires the account annotation', () => {
  const object = objectOf(
    secret,
    { type: 'kubernetes.io/service-account-token' },
    { annotations: { 'kubernetes.io/service-account.name': 's' } },
  );
  expect(secret.check(object, undefined, '')).toEqual([]);
});

const merged: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ['nothing', {}, { type: 'Opaque' }],
  ['a type', { type: 'x' }, { type: 'x' }],
  ['plain text', { stringData: { a: 'é' } }, { type: 'Opaque', data: { a: 'w6k=' } }],
  [
    'plain text over data',
    { data: { a: 'YQ==', b: 'Yg==' }, stringData: { a: 'c' } },
    { type: 'Opaque', data: { a: 'Yw==', b: 'Yg==' } },
  ],
];
test.each(merged)('stores a Secret with %s encoded', (_, content, wanted) => {
  expect(created(secret, content)).toEqual(objectOf(secret, wanted));
  expect(secret.prepareUpdate(objectOf(secret, content), objectOf(secret), '')).toEqual(objectOf(secret, wanted));
});

test('shows how much they hold', () => {
  expect(row(configMap, { data: { a: '' }, binaryData: { b: '' } })).toEqual({ Name: 'a', Data: 2, Age: '60s' });
  expect(row(configMap, {})).toMatchObject({ Data: 0 });
  expect(row(secret, { type: 'Opaque', data: { a: '' } })).toEqual({ Name: 'a', Type: 'Opaque', Data: 1, Age: '60s' });
});
