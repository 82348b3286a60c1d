import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { authorizedKey } from '#host/keys/public-key.ts';
import type { KubeResource } from '#kube/resource.ts';
import { type Node, nodes, secrets } from '#kube/resources.ts';
import { type Machine, machineSets, machines } from '#kube/resources-openshift.ts';
import { startOpenshiftApi } from '../../../../test/kit/openshift-api.ts';
import { makeKey } from '../../../../test/kit/ssh-server.ts';
import { scaledClock } from '../clocks.ts';
import { Fleet } from '../fleet.ts';
import { ContentStore } from '../host/content-store.ts';
import { defaultTimes } from '../times.ts';
import { clusterControllers } from './all.ts';

/** All doubles of a cluster together, with hosts, without an operator. */
async function scene(machineFaults: Parameters<typeof clusterControllers>[0]['machineFaults'] = new Map()) {
  const speed = 200;
  const store = await ContentStore.open();
  const clock = systemClock;
  const delays = scaledClock(clock, speed);
  const fleet = new Fleet({ store, clock, delays, agentVersion: 'x', onChange: () => undefined });
  const options = { fleet, platform: 'None', machineFaults, times: defaultTimes, clock, speed, log: silentLog };
  const api = await startOpenshiftApi(clusterControllers(options));
  const { key } = makeKey();
  const namespace = 'openshift-machine-api';
  const data = { userData: toBase64(authorizedKey(key.publicKey)) };
  api.create(secrets, { metadata: { name: 'windows-user-data', namespace }, data } as KubeResource);
  const labels = { 'machine.openshift.io/os-id': 'Windows' };
  api.create(machineSets, {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'MachineSet',
    metadata: { name: 'winworker', namespace },
    spec: { replicas: 2, template: { metadata: { labels }, spec: {} } },
  } as KubeResource);
  const made = {
    api,
    fleet,
    machines: () => api.list(machines, namespace) as readonly Machine[],
    phases: () => made.machines().map(({ status }) => status?.phase),
    scale: (replicas: number) => {
      const set = api.get(machineSets, { namespace, name: 'winworker' });
      const spec = { ...(set?.['spec'] as object), replicas };
      api.replace(machineSets, { ...set, spec } as KubeResource);
    },
    /** What the kubelet of a host would do. */
    join: (address: string, name: string) => {
      const metadata = { name, labels: { [nodeLabel.os]: 'windows' } };
      const status = {
        addresses: [{ type: 'InternalIP', address }],
        conditions: [{ type: 'Ready', status: 'True' }],
      };
      api.create(nodes, { metadata, status } as KubeResource);
    },
    node: (name: string) => api.get(nodes, { namespace: '', name }) as Node | undefined,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await fleet.stop();
      await store.close();
    },
  };
  return made;
}

const patient = { interval: 20 };

test('a MachineSet becomes hosts that boot and answer', async () => {
  await using made = await scene();
  await expect.poll(() => made.phases(), patient).toEqual(['Provisioned', 'Provisioned']);
  await expect.poll(() => made.fleet.hosts.map(host => host.isOn), patient).toEqual([true, true]);
  const names = new Set(made.machines().map(({ metadata }) => metadata.name));
  expect(new Set(made.fleet.hosts.map(({ spec }) => spec.name))).toEqual(names);
});

test('a Node is linked to its Machine, gets a subnet and loses the taint of its first moments', async () => {
  await using made = await scene();
  await expect.poll(() => made.phases(), patient).toEqual(['Provisioned', 'Provisioned']);
  const [host] = made.fleet.hosts;
  made.join(host?.spec.address ?? '', host?.spec.name ?? '');
  const machine = () => made.machines().find(({ metadata }) => metadata.name === host?.spec.name);
  await expect.poll(() => machine()?.status?.phase, patient).toBe('Running');
  const node = () => made.node(host?.spec.name ?? '');
  await expect
    .poll(() => node()?.metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet], patient)
    .toMatch(/^10\.132\./);
  await expect.poll(() => node()?.spec?.taints ?? [], patient).toEqual([]);
});

test('hosts follow the number of replicas', async () => {
  await using made = await scene();
  await expect.poll(() => made.fleet.hosts.length, patient).toBe(2);
  made.scale(4);
  await expect.poll(() => made.fleet.hosts.length, patient).toBe(4);
  made.scale(0);
  await expect.poll(() => [made.fleet.hosts.length, made.machines().length], patient).toEqual([0, 0]);
});

test('Machines have the faults of their names', async () => {
  await using made = await scene(
    new Map([
      ['winworker-1', ['german']],
      ['winworker-2', ['no-subnet']],
    ]),
  );
  await expect.poll(() => made.fleet.hosts.length, patient).toBe(2);
  const [first, second] = made.fleet.hosts;
  expect([first?.spec.traits.language, second?.spec.traits.getsSubnet]).toEqual(['german', false]);
  made.join(second?.spec.address ?? '', second?.spec.name ?? '');
  made.join(first?.spec.address ?? '', first?.spec.name ?? '');
  const subnetOf = (name = '') => made.node(name)?.metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet];
  await expect.poll(() => subnetOf(first?.spec.name), patient).toBeDefined();
  expect(subnetOf(second?.spec.name)).toBeUndefined();
});

test('a Node of no host at all is served by the network all the same', async () => {
  await using made = await scene();
  made.join('10.77.0.1', 'foreign');
  await expect
    .poll(() => made.node('foreign')?.metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet], patient)
    .toBeDefined();
});
