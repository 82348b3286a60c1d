import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { printHostKey } from '#host/host-key.ts';
import { authorizedKey } from '#host/keys/public-key.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { anyKey } from '../../../test/kit/lifecycle/lab-host.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { createHostKeyStore } from './host-key-store.ts';

const never = new AbortController().signal;
const address = '10.0.0.5';
const [stored, other] = [anyKey(), anyKey()];
const instance = (hostKey?: string, pinned?: string): WindowsInstance => ({
  metadata: { name: 'win-5', namespace: 'ns' },
  spec: { address, username: 'Administrator', ...(hostKey !== undefined && { hostKey }) },
  ...(pinned !== undefined && { status: { hostKey: pinned } }),
});
const nodeWith = (annotations: Record<string, string> = {}): NodeView => ({
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations,
  addresses: [],
  ready: true,
  unschedulable: false,
});
const marked = nodeWith({ [nodeAnnotation.sshHostKey]: printHostKey(stored) });

function bench(data?: Record<string, string>) {
  const api = new MemoryApi();
  api.put(nodes, { metadata: { name: 'win-5' } });
  if (data !== undefined) api.put(configMaps, { metadata: { name: configMapName.hostKeys, namespace: 'ns' }, data });
  const store = createHostKeyStore({ client: api, namespace: 'ns' });
  const entries = () => api.peek(configMaps, configMapName.hostKeys, 'ns')?.data;
  return { api, store, entries };
}

const places: [
  string,
  WindowsInstance,
  NodeView | undefined,
  Record<string, string> | undefined,
  string | undefined,
][] = [
  ['none anywhere', instance(), undefined, undefined, undefined],
  ['none for this address', instance(), undefined, { '10.0.0.6': printHostKey(other) }, undefined],
  ['that of the ConfigMap', instance(), undefined, { [address]: printHostKey(stored) }, printHostKey(stored)],
  [
    'that of the Node before the ConfigMap',
    instance(),
    marked,
    { [address]: printHostKey(other) },
    printHostKey(stored),
  ],
  [
    'that of the record, whatever the Node and the ConfigMap say',
    instance(undefined, authorizedKey(stored)),
    nodeWith({ [nodeAnnotation.sshHostKey]: printHostKey(other) }),
    { [address]: printHostKey(other) },
    printHostKey(stored),
  ],
  [
    'that of the administrator before all',
    instance(authorizedKey(other)),
    marked,
    { [address]: printHostKey(stored) },
    printHostKey(other),
  ],
  ['none where the administrator has left it empty', instance(' '), undefined, undefined, undefined],
];
for (const [name, object, node, data, want] of places) {
  test(`finds ${name}`, async () => {
    const key = await bench(data).store.find(object, node, never);
    expect(key && printHostKey(key)).toBe(want);
  });
}

test('asks the server only for an instance without a key of its own', async () => {
  const { api, store } = bench();
  await store.find(instance(authorizedKey(other)), undefined, never);
  await store.find(instance(undefined, authorizedKey(other)), undefined, never);
  expect(api.calls).toEqual([]);
});

const unreadable: [string, WindowsInstance, NodeView | undefined, Record<string, string>, string][] = [
  [
    'in the ConfigMap',
    instance(),
    undefined,
    { [address]: 'nonsense' },
    'ConfigMap windows-ssh-host-keys: data["10.0.0.5"]',
  ],
  ['on the Node', instance(), nodeWith({ [nodeAnnotation.sshHostKey]: '!' }), {}, 'Node win-5: annotation'],
  ['of the administrator', instance('ssh-ed25519 nonsense'), undefined, {}, 'WindowsInstance win-5: spec.hostKey'],
];
for (const [name, object, node, data, message] of unreadable) {
  test(`refuses a key ${name} that cannot be read, rather than any other`, async () => {
    const error = await rejectionOf(bench(data).store.find(object, node, never));
    expect(error).toMatchObject({ code: 'HOST_KEY_UNREADABLE', message: expect.stringContaining(message) as string });
    expect(error?.remedy).not.toBe('');
  });
}

test('a server that does not answer is no host without a key', async () => {
  const { api, store } = bench();
  api.before = () => {
    throw refused(500, 'InternalError');
  };
  await expect(store.find(instance(), undefined, never)).rejects.toThrow('InternalError');
});

test('forgets an entry, and does nothing where there is none', async () => {
  const { api, store, entries } = bench({ [address]: printHostKey(stored), '10.0.0.6': printHostKey(other) });
  await store.forget(instance(), never);
  expect(entries()).toEqual({ '10.0.0.6': printHostKey(other) });
  const before = api.calls.length;
  await store.forget(instance(), never);
  expect(api.calls.slice(before).map(({ verb }) => verb)).toEqual(['get']);
  await bench().store.forget(instance(), never);
});
