import { expect, test } from 'vitest';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { configMaps, namespaces, pods, secrets, serviceAccounts } from '../../../kube/resources.ts';
import { memberAt, textAt } from '../object.ts';
import type { LocalApi } from '../ports.ts';
import { createNamespaceDefaults } from './namespace-defaults.ts';
import { createNamespaceEmptier } from './namespace-emptier.ts';

const caPem = 'the certificate';
const start = (clock = manualClock()) =>
  startLocalApi([createNamespaceDefaults(caPem), createNamespaceEmptier()], clock);
const make = (api: LocalApi, name: string) => api.create(namespaces, { metadata: { name } });
const find = (api: LocalApi, name: string) => api.get(namespaces, { namespace: '', name });
const account = (api: LocalApi, namespace: string) => api.get(serviceAccounts, { namespace, name: 'default' });
const rootCa = (api: LocalApi, namespace: string) => api.get(configMaps, { namespace, name: 'kube-root-ca.crt' });
const drop = (api: LocalApi, name: string) => api.delete(namespaces, { namespace: '', name });

test('the system namespaces exist with account and CA ConfigMap', async () => {
  await using api = await start();
  await quiet(api);
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    expect(textAt(find(api, name), 'status.phase')).toBe('Active');
    expect(account(api, name)).toBeDefined();
    expect(rootCa(api, name)?.['data']).toEqual({ 'ca.crt': caPem });
  }
});

test('a new namespace gets account and certificate', async () => {
  await using api = await start();
  make(api, 'new');
  await quiet(api);
  expect(account(api, 'new')).toBeDefined();
  expect(rootCa(api, 'new')?.['data']).toEqual({ 'ca.crt': caPem });
});

test('a deleted default account and CA ConfigMap are recreated', async () => {
  await using api = await start();
  await quiet(api);
  const before = account(api, 'default')?.metadata.uid;
  api.delete(serviceAccounts, { namespace: 'default', name: 'default' });
  api.delete(configMaps, { namespace: 'default', name: 'kube-root-ca.crt' });
  await quiet(api);
  expect(account(api, 'default')?.metadata.uid).not.toBe(before);
  expect(rootCa(api, 'default')).toBeDefined();
});

test('a changed CA ConfigMap is restored, other ConfigMaps are not touched', async () => {
  await using api = await start();
  await quiet(api);
  const found = rootCa(api, 'default');
  api.replace(configMaps, { ...found, data: { 'ca.crt': 'wrong', more: 'x' } } as never);
  api.create(configMaps, { metadata: { namespace: 'default', name: 'mine' }, data: { a: 'b' } } as never);
  await quiet(api);
  expect(rootCa(api, 'default')?.['data']).toEqual({ 'ca.crt': caPem });
  expect(api.get(configMaps, { namespace: 'default', name: 'mine' })?.['data']).toEqual({ a: 'b' });
});

test('a deleted system namespace is recreated', async () => {
  await using api = await start();
  await quiet(api);
  const before = find(api, 'kube-node-lease')?.metadata.uid;
  drop(api, 'kube-node-lease');
  await quiet(api);
  expect(find(api, 'kube-node-lease')?.metadata.uid).not.toBe(before);
  expect(account(api, 'kube-node-lease')).toBeDefined();
});

test('a deleted namespace is emptied and removed', async () => {
  await using api = await start();
  make(api, 'old');
  api.create(secrets, { metadata: { namespace: 'old', name: 's' } });
  api.create(configMaps, { metadata: { namespace: 'default', name: 'kept' } });
  await quiet(api);
  drop(api, 'old');
  expect(textAt(find(api, 'old'), 'status.phase')).toBe('Terminating');
  await quiet(api);
  expect(find(api, 'old')).toBeUndefined();
  expect([...api.list(secrets, 'old'), ...api.list(configMaps, 'old'), ...api.list(serviceAccounts, 'old')]).toEqual(
    [],
  );
  expect(api.get(configMaps, { namespace: 'default', name: 'kept' })).toBeDefined();
});

test('a namespace waits for objects with finalizers', async () => {
  const clock = manualClock();
  await using api = await start(clock);
  make(api, 'old');
  for (const name of ['a', 'b']) {
    api.create(configMaps, { metadata: { namespace: 'old', name, finalizers: ['example.com/wait'] } });
  }
  await quiet(api);
  drop(api, 'old');
  await quiet(api);
  expect(textAt(find(api, 'old'), 'status.phase')).toBe('Terminating');
  for (const name of ['a', 'b']) {
    const held = api.get(configMaps, { namespace: 'old', name });
    expect(held?.metadata.deletionTimestamp).toBeDefined();
    if (held !== undefined) api.replace(configMaps, { ...held, metadata: { ...held.metadata, finalizers: [] } });
  }
  await quiet(api);
  expect(find(api, 'old')).toBeUndefined();
});

test('a namespace waits for pods that still run', async () => {
  await using api = await start();
  make(api, 'old');
  await quiet(api);
  const pod = {
    metadata: { namespace: 'old', name: 'p' },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  };
  api.create(pods, pod);
  drop(api, 'old');
  await quiet(api);
  expect(find(api, 'old')).toBeDefined();
  api.delete(pods, { namespace: 'old', name: 'p' }, { gracePeriodSeconds: 0 });
  await quiet(api);
  expect(find(api, 'old')).toBeUndefined();
});

test('a namespace with another finalizer is emptied but not removed', async () => {
  await using api = await start();
  api.create(namespaces, { metadata: { name: 'old', finalizers: ['example.com/wait'] } });
  await quiet(api);
  drop(api, 'old');
  await quiet(api);
  const held = find(api, 'old');
  expect(memberAt(held, 'spec.finalizers') ?? []).toEqual([]);
  expect(api.list(serviceAccounts, 'old')).toEqual([]);
  if (held !== undefined) api.replace(namespaces, { ...held, metadata: { ...held.metadata, finalizers: [] } });
  await quiet(api);
  expect(find(api, 'old')).toBeUndefined();
});

test('a namespace that was being deleted at the start is emptied too', async () => {
  await using api = await startLocalApi([]);
  make(api, 'old');
  api.create(configMaps, { metadata: { namespace: 'old', name: 'a' } });
  drop(api, 'old');
  const emptier = createNamespaceEmptier();
  emptier.start(api);
  await quiet(api);
  emptier.stop();
  expect(find(api, 'old')).toBeUndefined();
});

test('a namespace that is not being deleted is not emptied', async () => {
  await using api = await start();
  make(api, 'a');
  await quiet(api);
  api.create(configMaps, { metadata: { namespace: 'a', name: 'x' } });
  api.delete(configMaps, { namespace: 'a', name: 'x' });
  await quiet(api);
  expect(textAt(find(api, 'a'), 'status.phase')).toBe('Active');
  expect(account(api, 'a')).toBeDefined();
});
