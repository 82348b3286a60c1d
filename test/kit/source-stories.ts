import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { systemClock, timestamp } from '../../src/base/clock.ts';
import { byteOrder } from '../../src/base/compare.ts';
import { findCondition } from '../../src/base/condition.ts';
import { whenAborted } from '../../src/base/waiting/deadline.ts';
import { Installation, installationPermissions } from '../../src/cluster/installation.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, machineLabel, namespaceName } from '../../src/contract/names.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import * as entries from '../../src/controllers/instances/controller.ts';
import * as lifecycle from '../../src/controllers/lifecycle/controller.ts';
import * as machineSource from '../../src/controllers/machines/controller.ts';
import type { Resolver } from '../../src/host/resolver.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { runManager } from '../../src/kube/controller/manager.ts';
import { noMetrics } from '../../src/kube/controller/metrics.ts';
import type { ControllerParts } from '../../src/kube/controller/parts.ts';
import { EventRecorder } from '../../src/kube/events/events.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import { configMaps, events } from '../../src/kube/resources.ts';
import { machineSets, machines } from '../../src/kube/resources-openshift.ts';
import { installDefinitions } from './cluster/openshift-crds.ts';
import type { CsrCluster } from './csr-rows.ts';
import { grant } from './grant.ts';
import { recordedLog } from './recorded-log.ts';
import { until } from './until.ts';

const namespace = 'sources';
const user = 'sources-operator';
const inMachineApi = { namespace: namespaceName.machineApi };

/** The controllers of all sources at work in a cluster, with no more rights than they ask for. */
export interface SourceSetup extends AsyncDisposable {
  admin: Client;
  /** What names resolve to. */
  zone: Map<string, string[]>;
  installation: Installation;
}

export async function startSources({ admin, kubeconfigFor }: CsrCluster): Promise<SourceSetup> {
  await installDefinitions(admin);
  const parts = [entries, machineSource, lifecycle, { permissions: installationPermissions }];
  await grant(
    admin,
    user,
    namespace,
    parts.flatMap(({ permissions }) => permissions),
  );
  const client = createClient(loadKubeconfig(kubeconfigFor(user, [])));
  const zone = new Map<string, string[]>();
  const informers = new Informers({ client });
  const recorder = new EventRecorder({ client, component: 'test' });
  const resolver: Resolver = { addresses: async name => zone.get(name) ?? [] };
  const settings = { platform: 'VSphere', pubKeyHash: 'hash', userDataIsCurrent: true };
  const { log } = recordedLog();
  const common: ControllerParts & { resolver: Resolver } = {
    client,
    informers,
    recorder,
    namespace,
    version: 'v',
    clock: systemClock,
    log,
    metrics: noMetrics,
    resolver,
  };
  const installation = new Installation(client, namespace);
  const controllers = [
    entries.instancesController({ ...common, installation }),
    lifecycle.lifecycleController({
      ...common,
      // Journeys stop before the first connection; the stories are about which hosts are accepted.
      connect: () => Promise.reject(new Error('not reached')),
      dialTcp: () => Promise.reject(new Error('not reached')),
      inputs: {
        loadKeys: (_instance, signal) => aborted(signal),
        readFacts: () => {
          throw new Error('not reached');
        },
        prepareInputs: () => Promise.reject(new Error('not reached')),
      },
      payload: { agent: () => Promise.reject(new Error('none')), files: () => Promise.resolve([]) },
    }),
    machineSource.machinesController({
      ...common,
      installation,
      settings: () => settings,
      onSettingsChange: () => () => undefined,
    }),
  ];
  const stop = new AbortController();
  const over = runManager({ caches: [informers], others: [recorder], leaderOnly: controllers }, stop.signal);
  return {
    admin,
    zone,
    installation,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await over;
      await client.close();
    },
  };
}

async function aborted(signal: AbortSignal): Promise<never> {
  await whenAborted(signal);
  throw signal.reason;
}

const get = ({ admin }: SourceSetup, name: string) =>
  admin.get(windowsInstances, name, { namespace }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
const names = async ({ admin }: SourceSetup) =>
  (await admin.list(windowsInstances, { namespace })).items.map(({ metadata }) => metadata.name ?? '').sort(byteOrder);
const acceptedOf = async (world: SourceSetup, name: string) =>
  findCondition((await get(world, name))?.status?.conditions, instanceCondition.accepted);
const eventsAbout = async ({ admin }: SourceSetup, where: string, name: string) =>
  (await admin.list(events, { namespace: where })).items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason} ${message}`);

const untilNames = (world: SourceSetup, ...want: string[]) =>
  until(async () => (await names(world)).join() === want.sort(byteOrder).join(), `there are ${want.join()}`);

async function list({ admin }: SourceSetup, data: Record<string, string | null>): Promise<void> {
  const name = configMapName.instances;
  const patch = { type: 'merge', body: { data } } as const;
  await admin.patch(configMaps, name, patch, { namespace }).catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    const kept = Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null);
    await admin.create(configMaps, { metadata: { name, namespace }, data: Object.fromEntries(kept) });
  });
}

/** Sequences of changes to the ConfigMap and to Machines; each removes what it created. */
export const sourceStories: readonly [title: string, story: (world: SourceSetup) => Promise<void>][] = [
  ['entries become instances, change and go with them', entriesComeAndGo],
  ['an instance that is deleted comes back, and keeps what its owner has set', deletedComesBack],
  ['of two instances of one host the first is used until it goes', twoOfOneHost],
  ['a Machine becomes an instance and takes it along', machineComesAndGoes],
  ['a Machine that refuses the key is deleted', machineRefusesKey],
  ['an instance made by hand is checked and otherwise left alone', madeByHand],
  ['the operator can read its own namespace and CRD', readsInstallation],
];

async function readsInstallation({ installation }: SourceSetup): Promise<void> {
  expect(await installation.problem(AbortSignal.timeout(60_000))).toBeUndefined();
}

async function entriesComeAndGo(world: SourceSetup): Promise<void> {
  const { admin } = world;
  await list(world, { '10.0.0.1': 'username=core', 'Win2.Example.com.': 'username=Administrator', '10.0.0.3': 'pass' });
  await untilNames(world, '10.0.0.1', 'win2.example.com');
  expect((await get(world, 'win2.example.com'))?.spec).toEqual({
    address: 'Win2.Example.com',
    username: 'Administrator',
    source: { kind: 'ConfigMap', name: 'Win2.Example.com.' },
  });
  const reported = async () =>
    (await eventsAbout(world, namespace, configMapName.instances)).filter(text => text.includes('MALFORMED'));
  await until(async () => (await reported()).length > 0, 'the bad entry is reported');
  expect(await reported()).toEqual([
    expect.stringMatching(/^InstanceSetupFailure INSTANCE_ENTRY_MALFORMED: .*10\.0\.0\.3/),
  ]);
  await list(world, { '10.0.0.1': 'username=other', '10.0.0.3': 'username=core', 'Win2.Example.com.': null });
  await untilNames(world, '10.0.0.1', '10.0.0.3');
  await until(async () => (await get(world, '10.0.0.1'))?.spec.username === 'other', 'the user has changed');
  await list(world, { '10.0.0.1': 'broken' });
  await until(async () => (await acceptedOf(world, '10.0.0.1'))?.status === 'False', 'the broken entry is reported');
  await admin.delete(configMaps, configMapName.instances, { namespace });
  await untilNames(world);
}

async function deletedComesBack(world: SourceSetup): Promise<void> {
  const { admin } = world;
  await list(world, { '10.0.0.1': 'username=core' });
  await untilNames(world, '10.0.0.1');
  const first = await get(world, '10.0.0.1');
  await admin.delete(windowsInstances, '10.0.0.1', { namespace });
  const isAnother = async () => {
    const uid = (await get(world, '10.0.0.1'))?.metadata.uid;
    return uid !== undefined && uid !== first?.metadata.uid;
  };
  await until(isAnother, 'it has come back');
  const body = { spec: { paused: true, labels: { zone: 'a' }, username: 'eve' } };
  await admin.patch(windowsInstances, '10.0.0.1', { type: 'merge', body }, { namespace });
  await until(async () => (await get(world, '10.0.0.1'))?.spec.username === 'core', 'the user is put back');
  expect((await get(world, '10.0.0.1'))?.spec).toMatchObject({ paused: true, labels: { zone: 'a' } });
  await list(world, { '10.0.0.1': null });
  await untilNames(world);
}

async function twoOfOneHost(world: SourceSetup): Promise<void> {
  const { admin, zone } = world;
  zone.set('win1.example.com', ['10.0.0.1']);
  const spec = { address: '10.0.0.1', username: 'core' };
  await admin.create(windowsInstances, { metadata: { name: 'by-hand', namespace }, spec });
  // The age of objects counts in seconds.
  await delay(1100);
  await list(world, { 'win1.example.com': 'username=core' });
  const accepted = () => acceptedOf(world, 'win1.example.com');
  await until(async () => (await accepted())?.reason === 'INSTANCE_DUPLICATE', 'the second is reported');
  await admin.delete(windowsInstances, 'by-hand', { namespace });
  await list(world, { 'win1.example.com': 'username=other' });
  await until(async () => (await accepted())?.status === 'True', 'the second takes over');
  await list(world, { 'win1.example.com': null });
  await untilNames(world);
}

async function makeMachine({ admin }: SourceSetup, name: string): Promise<void> {
  const labels = { [machineLabel.osId]: 'Windows' };
  const set = await admin.create(machineSets, { metadata: { name: 'set', ...inMachineApi }, spec: { replicas: 1 } });
  const owner = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', name: 'set' };
  await admin.create(machines, {
    metadata: { name, ...inMachineApi, labels, ownerReferences: [{ ...owner, uid: set.metadata.uid ?? '' }] },
    spec: { providerID: 'vsphere://1' },
  });
  const status = { phase: 'Provisioned', addresses: [{ type: 'InternalIP', address: '10.0.0.5' }] };
  const patch = { type: 'merge', body: { status } } as const;
  await admin.patch(machines, name, patch, { ...inMachineApi, subresource: 'status' });
}

async function machineComesAndGoes(world: SourceSetup): Promise<void> {
  const { admin } = world;
  await makeMachine(world, 'win-a');
  await untilNames(world, 'win-a');
  expect((await get(world, 'win-a'))?.spec).toEqual({
    address: '10.0.0.5',
    username: 'Administrator',
    hostname: 'win-a',
    source: { kind: 'Machine', name: 'win-a' },
  });
  await admin.delete(machines, 'win-a', inMachineApi);
  await untilNames(world);
  await admin.delete(machineSets, 'set', inMachineApi);
}

async function machineRefusesKey(world: SourceSetup): Promise<void> {
  const { admin } = world;
  await makeMachine(world, 'win-b');
  await untilNames(world, 'win-b');
  // From then on the lifecycle writes no status for as long as it waits for keys.
  await until(async () => (await get(world, 'win-b'))?.status?.timeline?.at(-1)?.name === 'connect', 'it connects');
  const longAgo = timestamp(systemClock.now() - 301_000);
  const error = { code: 'HOST_REFUSED_KEY', message: 'no', remedy: 'x' };
  const status = {
    phase: 'Failed',
    timeline: [{ name: 'connect', started: longAgo, attempts: 3, lastError: error }],
    conditions: [
      {
        type: instanceCondition.keyRefused,
        status: 'True',
        reason: 'Refused',
        message: 'no',
        lastTransitionTime: longAgo,
      },
    ],
  };
  const patch = { type: 'merge', body: { status } } as const;
  await admin.patch(windowsInstances, 'win-b', patch, { namespace, subresource: 'status' });
  await untilNames(world);
  const reported = async () =>
    (await eventsAbout(world, namespaceName.machineApi, 'win-b')).filter(text =>
      /MachineDeleted|authentication/.test(text),
    );
  await until(async () => (await reported()).length === 2, 'the deletion is reported');
  expect((await reported()).sort()).toEqual([
    'MachineDeleted Machine win-b has been remediated by deleting the Machine object',
    'MachineSetupFailure Machine win-b authentication failure',
  ]);
  await admin.delete(machineSets, 'set', inMachineApi);
}

async function madeByHand(world: SourceSetup): Promise<void> {
  const { admin } = world;
  const spec = { address: 'win9.example.com', username: 'core', port: 2222, keySecret: { name: 'none' } };
  await admin.create(windowsInstances, { metadata: { name: 'win9', namespace }, spec });
  await until(async () => (await acceptedOf(world, 'win9'))?.reason === 'PRIVATE_KEY_MISSING', 'the key is missed');
  const body = { spec: { keySecret: null } };
  await admin.patch(windowsInstances, 'win9', { type: 'merge', body }, { namespace });
  await until(async () => (await acceptedOf(world, 'win9'))?.status === 'True', 'it is accepted');
  expect((await get(world, 'win9'))?.spec).toEqual({ address: 'win9.example.com', username: 'core', port: 2222 });
  await admin.delete(windowsInstances, 'win9', { namespace });
  await untilNames(world);
}
