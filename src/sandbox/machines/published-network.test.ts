import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { configMaps } from '#kube/resources.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../embedded-cluster.ts';
import type { SimulatedHost } from './host/host.ts';
import { publishedNetwork, publishNetwork } from './published-network.ts';
import type { Route } from './routes.ts';

let cluster: EmbeddedCluster;
let client: Client;
beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  client = createClient(loadKubeconfig(cluster.kubeconfigFor()));
});
afterAll(async () => {
  await client.close();
  await cluster.close();
});

const host = (name: string, address: string, route: Route, dnsSuffix = '') =>
  ({ spec: { name, address, dnsSuffix }, route: () => route }) as SimulatedHost;
const publish = (...hosts: SimulatedHost[]) => publishNetwork(cluster.api, { hosts });
const version = () =>
  cluster.api.get(configMaps, { namespace: 'kube-public', name: 'sandbox-network' })?.metadata.resourceVersion;

test('another process finds the same routes and names', async () => {
  publish(
    host('win-1', '10.0.1.12', { port: 4001 }),
    host('win-2', '10.0.1.13', 'refused'),
    host('win-3', '10.0.1.14', 'silent', 'sandbox.test'),
  );
  const { findRoute, names } = publishedNetwork(client);
  const routes: [string, Route | 'unknown name' | undefined][] = [
    ['10.0.1.12', { port: 4001 }],
    ['10.0.1.13', 'refused'],
    ['10.0.1.14', 'silent'],
    ['win-3.sandbox.test', 'silent'],
    ['WIN-3.sandbox.test', 'silent'],
    ['win-9.sandbox.test', 'unknown name'],
    ['10.9.9.9', undefined],
  ];
  for (const [address, want] of routes) expect([address, await findRoute(address)]).toEqual([address, want]);
  expect(await names.addresses('win-3.sandbox.test')).toEqual(['10.0.1.14']);
  expect(await names.addresses('win-1.sandbox.test')).toEqual([]);
  expect(await names.addresses('10.0.1.12')).toEqual(['10.0.1.12']);
});

test('publishes hosts that go down, move and are removed', async () => {
  const { findRoute } = publishedNetwork(client);
  publish(host('win-1', '10.0.1.12', { port: 4001 }));
  publish(host('win-1', '10.0.1.12', 'refused'));
  expect(await findRoute('10.0.1.12')).toBe('refused');
  publish(host('win-1', '10.0.1.12', { port: 4002 }));
  expect(await findRoute('10.0.1.12')).toEqual({ port: 4002 });
  publish();
  expect(await findRoute('10.0.1.12')).toBeUndefined();
});

test('does not write without a change', () => {
  publish(host('win-1', '10.0.1.12', { port: 4001 }));
  const before = version();
  publish(host('win-1', '10.0.1.12', { port: 4001 }));
  expect(version()).toBe(before);
});

test('finds no route before one is published', async () => {
  await using empty = await startEmbeddedCluster();
  const other = createClient(loadKubeconfig(empty.kubeconfigFor()));
  await expect(publishedNetwork(other).findRoute('10.0.1.12')).rejects.toMatchObject({ code: 404 });
  await other.close();
});
