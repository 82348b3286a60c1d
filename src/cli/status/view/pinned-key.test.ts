import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { printHostKey } from '#host/host-key.ts';
import { authorizedKey, fingerprint } from '#host/keys/public-key.ts';
import { anyKey } from '../../../../test/kit/lifecycle/lab-host.ts';
import { instanceOf, nodeOf } from '../../../../test/kit/status-views.ts';
import { pinnedKeyOf } from './pinned-key.ts';

const [given, onNode, stored] = [anyKey(), anyKey(), anyKey()];
const address = '10.0.0.1';
const marked = nodeOf('win-1', { annotations: { [nodeAnnotation.sshHostKey]: printHostKey(onNode) } });
const entries = { [address]: printHostKey(stored) };

test('prefers the key in the spec', () => {
  const instance = instanceOf(address, undefined, { hostKey: ` ${authorizedKey(given)} ` });
  expect(pinnedKeyOf(instance, marked, entries)).toEqual({
    type: 'ssh-ed25519',
    fingerprint: fingerprint(given),
    where: 'spec.hostKey',
  });
});

test('prefers the key of the record to those of earlier operators', () => {
  const instance = instanceOf(address, { hostKey: authorizedKey(given) });
  expect(pinnedKeyOf(instance, marked, entries)).toEqual({
    type: 'ssh-ed25519',
    fingerprint: fingerprint(given),
    where: 'status.hostKey',
  });
});

test('prefers the key on the Node to that in the ConfigMap', () => {
  expect(pinnedKeyOf(instanceOf(address), marked, entries)).toMatchObject({
    fingerprint: fingerprint(onNode),
    where: 'Node win-1',
  });
});

test('reads the key from the ConfigMap by address when there is no Node', () => {
  const instance = instanceOf('win1', undefined, { address });
  for (const node of [undefined, nodeOf('win-1')]) {
    expect(pinnedKeyOf(instance, node, entries)).toMatchObject({
      fingerprint: fingerprint(stored),
      where: 'ConfigMap windows-ssh-host-keys',
    });
  }
});

const none: [string, Parameters<typeof pinnedKeyOf>][] = [
  ['no object has one', [instanceOf(address), undefined, {}]],
  ['only another host has one', [instanceOf('10.0.0.2'), nodeOf('win-2'), entries]],
  ['the stored one cannot be read', [instanceOf(address), undefined, { [address]: '!' }]],
  [
    'that of the Node cannot be read',
    [instanceOf(address), nodeOf('x', { annotations: { [nodeAnnotation.sshHostKey]: '!' } }), {}],
  ],
  ['that of the record cannot be read', [instanceOf(address, { hostKey: '!' }), marked, entries]],
  [
    'that of the administrator cannot be read',
    [instanceOf(address, undefined, { hostKey: 'ssh-rsa ?' }), undefined, entries],
  ],
];
for (const [name, args] of none) test(`there is none when ${name}`, () => expect(pinnedKeyOf(...args)).toBeUndefined());
