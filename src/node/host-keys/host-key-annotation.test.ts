import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { parseHostKey } from '#host/host-key.ts';
import { findPinnedKey, forgetKey, type HostKeyPlaces, knownKey } from './host-key-annotation.ts';

const annotation = 'windowsmachineconfig.openshift.io/ssh-host-key';
const typeAnnotation = 'windowsmachineconfig.openshift.io/ssh-host-key-type';
const keyA = 'AAAAC3NzaC1lZDI1NTE5AAAAICJJNmTPKrrJqIFpRRfnzAJvMyoCds+EZWMJmQZuGDRw';
const keyB = 'AAAAC3NzaC1lZDI1NTE5AAAAIAm5MQBqxS/vzHl4fOYS6G+6jDzefuARqKxD7ao5OJdm';
const address = '10.0.0.5';

const node = (annotations: Record<string, string> = {}): NonNullable<HostKeyPlaces['node']> => ({
  name: 'win-1',
  annotations,
});
const pinnedNode = node({ [annotation]: keyA, [typeAnnotation]: 'ssh-ed25519' });
const places = (changes: Partial<HostKeyPlaces> = {}): HostKeyPlaces => ({
  node: undefined,
  address,
  entries: {},
  ...changes,
});
const known = (spec: string | undefined, status: string | undefined): WindowsInstance => ({
  metadata: { name: 'win-5' },
  spec: { address, username: 'Administrator', ...(spec !== undefined && { hostKey: spec }) },
  ...(status !== undefined && { status: { hostKey: status } }),
});
const typed = (base64: string) => `ssh-ed25519 ${base64}`;

const knownKeys: [name: string, instance: WindowsInstance, want: string | undefined][] = [
  ['finds no key of an instance that nobody has connected to', known(undefined, undefined), undefined],
  ['finds the key that is pinned in the status', known(undefined, typed(keyA)), keyA],
  ['finds the key that the administrator has given', known(typed(keyA), undefined), keyA],
  ['prefers the key of the administrator to the one in the status', known(typed(keyB), typed(keyA)), keyB],
  ['takes an empty spec.hostKey for none', known(' ', typed(keyA)), keyA],
  ['reads a key with the comment that ssh-keyscan prints', known(`${typed(keyA)} root@win-5`, undefined), keyA],
];
for (const [name, instance, want] of knownKeys) {
  test(name, () => expect(knownKey(instance)).toEqual(want === undefined ? undefined : parseHostKey(want)));
}

const unreadable: [place: string, instance: WindowsInstance][] = [
  ['spec.hostKey', known('ssh-ed25519 damaged', typed(keyA))],
  ['status.hostKey', known(undefined, 'damaged')],
];
for (const [place, instance] of unreadable) {
  test(`never ignores a damaged key in ${place}`, () => {
    expect(attempt(() => knownKey(instance))).toMatchObject({
      ok: false,
      error: {
        code: 'HOST_KEY_UNREADABLE',
        message: expect.stringContaining(`WindowsInstance win-5: ${place}: `),
        remedy: expect.stringContaining('Set spec.hostKey'),
      },
    });
  });
}

const pinned: [name: string, seen: Partial<HostKeyPlaces>, want: string | undefined][] = [
  ['finds no key for a new host', {}, undefined],
  ['finds no key for a host whose Node has none', { node: node() }, undefined],
  ['finds the key on the Node', { node: pinnedNode }, keyA],
  ['finds the key on the Node although the type is missing', { node: node({ [annotation]: keyA }) }, keyA],
  ['finds the key in the ConfigMap', { entries: { [address]: keyB } }, keyB],
  ['finds the key in the ConfigMap when the Node has none', { node: node(), entries: { [address]: keyB } }, keyB],
  ['prefers the key on the Node', { node: pinnedNode, entries: { [address]: keyB } }, keyA],
  ['does not take the key of another address', { entries: { '10.0.0.6': keyB } }, undefined],
  ['does not take the key of an address that only begins alike', { entries: { '10.0.0.50': keyB } }, undefined],
  ['takes an empty annotation for none', { node: node({ [annotation]: '' }), entries: { [address]: keyB } }, keyB],
  ['takes an empty entry for none', { entries: { [address]: '' } }, undefined],
  ['does not take members of all objects for entries', { address: 'constructor' }, undefined],
  ['finds the key on the Node without knowing an address', { node: pinnedNode, address: '' }, keyA],
  ['finds the key of a DNS name', { address: 'win.example.com', entries: { 'win.example.com': keyB } }, keyB],
];
for (const [name, seen, want] of pinned) {
  test(name, () => {
    expect(findPinnedKey(places(seen))).toEqual(want === undefined ? undefined : parseHostKey(want));
  });
}

const damaged: [name: string, seen: Partial<HostKeyPlaces>, says: string][] = [
  ['on the Node', { node: node({ [annotation]: 'damaged' }) }, `Node win-1: annotation ${annotation}: "damaged"`],
  [
    'on the Node although the ConfigMap has a good one',
    { node: node({ [annotation]: 'damaged' }), entries: { [address]: keyB } },
    'Node win-1',
  ],
  [
    'in the ConfigMap',
    { entries: { [address]: 'damaged' } },
    'ConfigMap windows-ssh-host-keys: data["10.0.0.5"]: "damaged"',
  ],
];
for (const [name, seen, says] of damaged) {
  test(`never ignores a damaged key ${name}`, () => {
    const result = attempt(() => findPinnedKey(places(seen)));
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'HOST_KEY_UNREADABLE', message: expect.stringContaining(says) },
    });
    expect(result.ok || result.error.remedy).not.toBe('');
  });
}

const forgotten: [name: string, entries: Record<string, string>, want: Record<string, null>][] = [
  ['removes the entry of the address', { [address]: keyA, '10.0.0.6': keyB }, { [address]: null }],
  ['removes a damaged entry', { [address]: 'damaged' }, { [address]: null }],
  ['removes nothing when there is no entry', { '10.0.0.6': keyB }, {}],
  ['removes nothing when there is no ConfigMap', {}, {}],
];
for (const [name, entries, want] of forgotten) {
  test(`once the key is recorded: ${name}`, () => expect(forgetKey(address, entries)).toEqual(want));
}

test('never touches the entry of another address', () => {
  const addresses = fc.constantFrom('10.0.0.5', '10.0.0.6', 'win.example.com', 'constructor');
  fc.assert(
    fc.property(addresses, fc.dictionary(addresses, fc.constantFrom(keyA, keyB, '')), (own, entries) => {
      expect(Object.keys(forgetKey(own, entries))).toEqual(Object.hasOwn(entries, own) ? [own] : []);
    }),
  );
});
