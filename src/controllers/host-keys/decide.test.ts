import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { parseHostKey } from '#host/host-key.ts';
import {
  findPinnedKey,
  forgetKey,
  forgetUnusedKeys,
  type HostKeyChanges,
  type HostKeyPlaces,
  moveKeyToNode,
  rememberKey,
} from './decide.ts';

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
const onNode = { [annotation]: keyA, [typeAnnotation]: 'ssh-ed25519' };
const nothing: HostKeyChanges = { annotations: {}, entries: {} };

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

const remembered: [name: string, seen: Partial<HostKeyPlaces>, want: HostKeyChanges][] = [
  ['on the Node', { node: node() }, { annotations: onNode, entries: {} }],
  ['on the Node of an instance without address', { node: node(), address: '' }, { annotations: onNode, entries: {} }],
  [
    'on the Node, and removes the empty entry of the ConfigMap',
    { node: node(), entries: { [address]: '', '10.0.0.6': keyB } },
    { annotations: onNode, entries: { [address]: null } },
  ],
  [
    'on the Node, and leaves the entries of others',
    { node: node(), entries: { '10.0.0.6': keyB } },
    { annotations: onNode, entries: {} },
  ],
  ['in the ConfigMap without Node', {}, { annotations: {}, entries: { [address]: keyA } }],
  [
    'in the ConfigMap beside the entries of others',
    { entries: { '10.0.0.6': keyB } },
    { annotations: {}, entries: { [address]: keyA } },
  ],
  ['nowhere when there is neither Node nor address', { address: '' }, nothing],
];
for (const [name, seen, want] of remembered)
  test(`remembers a new key ${name}`, () => expect(rememberKey(places(seen), parseHostKey(keyA))).toEqual(want));

test('writes the type of the key beside it', () => {
  const rsa = parseHostKey(
    'AAAAB3NzaC1yc2EAAAADAQABAAAAgQCqdepb92nWC6I4KL3Nld3SmfXNMu+171RtqpF9qb2XBJzVsuVXntEqgjkxtHITuodt8B8Sdt67zxdON48rXk+IRbPq0FtrvFtqqmDTzUuM05Wd9Z29ANI43Dd75GUQLk9kDhAZp3BcUxLIgg/AY2wTHvpz6EtaxsfJZ5dyjia1lw==',
  );
  expect(rememberKey(places({ node: node() }), rsa).annotations[typeAnnotation]).toBe('ssh-rsa');
});

const moved: [name: string, seen: Partial<HostKeyPlaces>, want: HostKeyChanges][] = [
  [
    'moves the key from the ConfigMap to the Node',
    { node: node(), entries: { [address]: keyA, '10.0.0.6': keyB } },
    { annotations: onNode, entries: { [address]: null } },
  ],
  [
    'fills an empty annotation from the ConfigMap',
    { node: node({ [annotation]: '' }), entries: { [address]: keyA } },
    { annotations: onNode, entries: { [address]: null } },
  ],
  ['leaves both as they are when the Node has a key', { node: pinnedNode, entries: { [address]: keyB } }, nothing],
  ['leaves a Node with a key but no type as it is', { node: node({ [annotation]: keyA }) }, nothing],
  [
    'leaves a Node with a damaged key as it is',
    { node: node({ [annotation]: 'x' }), entries: { [address]: keyB } },
    nothing,
  ],
  ['has nothing to move without entry', { node: node() }, nothing],
  ['has nothing to move from another address', { node: node(), entries: { '10.0.0.6': keyB } }, nothing],
  ['has nowhere to move without Node', { entries: { [address]: keyA } }, nothing],
];
for (const [name, seen, want] of moved) test(name, () => expect(moveKeyToNode(places(seen))).toEqual(want));

test('does not move a damaged key', () => {
  const result = attempt(() => moveKeyToNode(places({ node: node(), entries: { [address]: 'damaged' } })));
  expect(result).toMatchObject({ ok: false, error: { code: 'HOST_KEY_UNREADABLE' } });
});

const forgotten: [name: string, entries: Record<string, string>, want: HostKeyChanges['entries']][] = [
  ['removes the entry of the address', { [address]: keyA, '10.0.0.6': keyB }, { [address]: null }],
  ['removes a damaged entry', { [address]: 'damaged' }, { [address]: null }],
  ['removes nothing when there is no entry', { '10.0.0.6': keyB }, {}],
  ['removes nothing when there is no ConfigMap', {}, {}],
];
for (const [name, entries, want] of forgotten)
  test(`after a removal: ${name}`, () =>
    expect(forgetKey(address, entries)).toEqual({ annotations: {}, entries: want }));

const collected: [name: string, entries: Record<string, string>, inUse: string[], want: HostKeyChanges['entries']][] = [
  ['keeps all that is in use', { '10.0.0.5': keyA, '10.0.0.6': keyB }, ['10.0.0.6', '10.0.0.5'], {}],
  ['removes what nobody uses', { '10.0.0.5': keyA, '10.0.0.6': keyB }, ['10.0.0.5'], { '10.0.0.6': null }],
  ['removes damaged entries that nobody uses', { '10.0.0.5': 'damaged' }, [], { '10.0.0.5': null }],
  ['keeps damaged entries in use, so that they are seen', { '10.0.0.5': 'damaged' }, ['10.0.0.5'], {}],
  ['compares names without regard to case', { 'Win.example.com': keyA }, ['win.EXAMPLE.com'], {}],
  ['compares names without regard to the last dot', { 'win.example.com': keyA }, ['win.example.com.'], {}],
  ['takes no short name for a long one', { 'win.example.com': keyA }, ['win'], { 'win.example.com': null }],
  ['takes no prefix of an address for the address', { '10.0.0.50': keyA }, ['10.0.0.5'], { '10.0.0.50': null }],
  ['has nothing to do without entries', {}, ['10.0.0.5'], {}],
];
for (const [name, entries, inUse, want] of collected)
  test(`among entries: ${name}`, () =>
    expect(forgetUnusedKeys(entries, inUse)).toEqual({ annotations: {}, entries: want }));

/** The stores after the changes were written. */
function written(seen: HostKeyPlaces, { annotations, entries }: HostKeyChanges): HostKeyPlaces {
  const kept = Object.entries({ ...seen.entries, ...entries }).filter(
    (pair): pair is [string, string] => pair[1] !== null,
  );
  return {
    ...seen,
    node: seen.node && { ...seen.node, annotations: { ...seen.node.annotations, ...annotations } },
    entries: Object.fromEntries(kept),
  };
}

const anyPlaces = fc.record({
  node: fc.option(fc.constantFrom(node(), node({ [annotation]: '' }), pinnedNode, node({ other: 'x' })), {
    nil: undefined,
  }),
  address: fc.constantFrom('10.0.0.5', '10.0.0.6', 'win.example.com'),
  entries: fc.dictionary(fc.constantFrom('10.0.0.5', '10.0.0.6', 'win.example.com'), fc.constantFrom(keyA, keyB, '')),
});

test('finds the key again that it has remembered', () => {
  fc.assert(
    fc.property(anyPlaces, seen => {
      fc.pre(findPinnedKey(seen) === undefined);
      const after = written(seen, rememberKey(seen, parseHostKey(keyA)));
      expect(findPinnedKey(after)).toEqual(parseHostKey(keyA));
    }),
  );
});

test('neither gains nor loses a pinned key by moving it, and moves only once', () => {
  fc.assert(
    fc.property(anyPlaces, seen => {
      const after = written(seen, moveKeyToNode(seen));
      expect(findPinnedKey(after)).toEqual(findPinnedKey(seen));
      expect(moveKeyToNode(after)).toEqual(nothing);
    }),
  );
});

test('never touches the entry of another address', () => {
  fc.assert(
    fc.property(anyPlaces, seen => {
      const changes = [
        rememberKey(seen, parseHostKey(keyA)),
        moveKeyToNode(seen),
        forgetKey(seen.address, seen.entries),
      ];
      for (const { entries } of changes) expect([[], [seen.address]]).toContainEqual(Object.keys(entries));
    }),
  );
});

test('leaves after a collection exactly the entries in use', () => {
  const addresses = ['10.0.0.5', '10.0.0.6', 'win.example.com'];
  fc.assert(
    fc.property(anyPlaces, fc.subarray(addresses), (seen, inUse) => {
      const after = written(seen, forgetUnusedKeys(seen.entries, inUse));
      expect(Object.keys(after.entries)).toEqual(Object.keys(seen.entries).filter(key => inUse.includes(key)));
    }),
  );
});
