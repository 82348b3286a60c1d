import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName } from '../../src/contract/names.ts';
import { parseGrants } from '../../src/contract/rollout-grants.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import { configMaps, namespaces, nodes } from '../../src/kube/resources.ts';
import { createRollout } from '../../src/node/rollout/rollout.ts';
import { sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';

const namespace = 'rollout-grants';
const names = Array.from({ length: 6 }, (_, index) => `rollout-${index + 1}`);
const { signal } = new AbortController();
let client: Client;
let informers: Informers;

beforeAll(async () => {
  client = createClient(loadKubeconfig(sharedKubeconfig()));
  await client.create(namespaces, { metadata: { name: namespace } });
  await client.create(configMaps, {
    metadata: { name: configMapName.rollout, namespace },
    data: { maxUnavailable: '40%' },
  });
  await Promise.all(names.map(createHost));
  informers = new Informers({ client });
});
afterAll(async () => {
  await informers?.stop();
  await Promise.all(names.map(name => client.delete(nodes, name)));
  await client?.close();
});

/** A configured host whose Node is Ready. */
async function createHost(name: string): Promise<void> {
  const spec = { address: `${name}.example.com`, username: 'Administrator' };
  await client.create(windowsInstances, { metadata: { name, namespace }, spec });
  const body = { status: { version: 'v', host: { name, addresses: [] } } };
  await client.patch(windowsInstances, name, { type: 'merge', body }, { namespace, subresource: 'status' });
  await client.create(nodes, { metadata: { name } });
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  await client.patch(nodes, name, { type: 'strategic', body: ready }, { subresource: 'status' });
}

test('two leaders at once never grant more than the budget, and a grant that ends is free for another', async () => {
  const parts = {
    client,
    informers,
    namespace,
    recorder: { record: () => undefined },
    version: 'v1',
    clock: systemClock,
  };
  const [one, other] = [createRollout({ ...parts, log: silentLog }), createRollout({ ...parts, log: silentLog })];
  informers.start();
  await informers.synced();
  const instances = await Promise.all(names.map(name => client.get(windowsInstances, name, { namespace })));
  const stored = async () => {
    const map = await client.find(configMaps, configMapName.rolloutGrants, { namespace });
    return parseGrants(map?.data).grants.map(({ instance }) => instance);
  };
  const askAll = () =>
    Promise.all(instances.map((each, at) => (at % 2 === 0 ? one : other).grants.take(each, 'reboot', signal)));
  const answers = await askAll();
  const granted = instances.filter((_, index) => answers[index]?.isGranted === true);
  expect(granted).toHaveLength(2);
  expect(new Set(await stored())).toEqual(new Set(granted.map(({ metadata }) => metadata.name)));
  for (const { grants } of [one, other]) await grants.end(granted[0] as WindowsInstance, signal);
  expect(await stored()).toEqual([granted[1]?.metadata.name]);
  await askAll();
  expect(await stored()).toHaveLength(2);
});
