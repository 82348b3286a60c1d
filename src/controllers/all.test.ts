import { expect, onTestFinished, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { secretName } from '#contract/names.ts';
import type { Resource } from '#kube/resource.ts';
import { secrets } from '#kube/resources.ts';
import { benchSettings, type FixedFacts, fixedFacts, unknownFacts } from '../../test/kit/fixed-facts.ts';
import { settle } from '../../test/kit/manual-clock.ts';
import { benchNamespace as namespace, sourceBench } from '../../test/kit/source-bench.ts';
import { type AllParts, createControllers, optionalResources, permissions } from './all.ts';

const settings = { ...benchSettings, allowLastingTokens: false };

function setUp(more: Partial<AllParts> = {}) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const facts = (more.facts ?? fixedFacts()) as FixedFacts;
  let asked = 0;
  const fail = () => Promise.reject(new AppError('PRIVATE_KEY_MISSING', 'no key', { remedy: 'Create it.' }));
  const parts: AllParts = {
    ...bench.parts,
    facts,
    settings,
    kind: 'openshift',
    serverVersion: 'v1.33.0',
    kubeletVersion: 'v1.33.0',
    serves: () => true,
    certificateLifetime: '24h',
    conditionName: '',
    hosts: { joins: 2, uploads: 1 },
    connect: fail,
    dialTcp: fail,
    inputs: { loadKeys: fail, readFacts: () => fail() as never, prepareInputs: fail },
    payload: { agent: fail, files: fail },
    machineSettings: () => {
      asked += 1;
      return { settings: () => undefined, onSettingsChange: () => () => undefined };
    },
    ...more,
  };
  const controllers = createControllers(parts);
  return { ...bench, facts, controllers, names: controllers.map(({ name }) => name), asked: () => asked };
}

const always = [
  'services-config',
  'agent-access',
  'agent-reports',
  'removed-hosts',
  'host-keys',
  'cluster-checks',
  'exporter',
  'linux-nodes',
  'instances',
  'private-key',
  'csr',
  'lifecycle',
];
const proxied = { ...settings, proxy: { NO_PROXY: '' } };
const noMachines = { serves: ({ plural }: Resource) => plural !== 'machines' };
const nothing = { serves: () => false };
const onlyMachines = { serves: ({ plural }: Resource) => plural.startsWith('machine') };

const clusters: [name: string, parts: Partial<AllParts>, more: string[]][] = [
  // A proxy may be switched on at any time.
  ['OpenShift', {}, ['trusted-ca', 'user-data', 'machines', 'registries']],
  ['OpenShift without Machines', noMachines, ['trusted-ca', 'registries']],
  ['a plain cluster', { ...nothing, kind: 'kubernetes' }, []],
  ['a plain cluster with OLM', { ...nothing, kind: 'kubernetes', conditionName: 'wmco.v11' }, ['condition']],
  ['a plain cluster with a proxy', { ...nothing, kind: 'kubernetes', settings: proxied }, []],
  ['a plain cluster with Machines', { ...onlyMachines, kind: 'kubernetes' }, ['user-data', 'machines']],
];
for (const [name, parts, more] of clusters) {
  test(`${name} gets the controllers that have something to do`, () => {
    const { names, asked } = setUp(parts);
    expect([...names].sort()).toEqual([...always, ...more].sort());
    expect(asked()).toBe(more.includes('machines') ? 1 : 0);
  });
}

test('no two controllers have the same name', () => {
  const { names } = setUp({ settings: proxied });
  expect(new Set(names).size).toBe(names.length);
});

test('needs Machines and MachineSets together', () => {
  expect(optionalResources.map(({ plural }) => plural)).toEqual(['machines', 'machinesets']);
  expect(setUp({ serves: ({ plural }) => plural !== 'machinesets' }).names).not.toContain('machines');
});

test('every permission says what it is for', () => {
  for (const { resources, verbs } of permissions) {
    expect(resources.length).toBeGreaterThan(0);
    expect(verbs.length).toBeGreaterThan(0);
  }
});

/** An instance whose journey has failed, and how often it was tried. */
async function failing(facts: FixedFacts) {
  const made = setUp({ facts });
  const lifecycle = made.controllers.find(({ name }) => name === 'lifecycle');
  if (lifecycle === undefined) throw new Error('no lifecycle');
  await made.put(windowsInstances, {
    metadata: { name: 'win-1', namespace, generation: 1 },
    spec: { address: '10.0.0.5', username: 'Administrator' },
  });
  await made.start(lifecycle);
  const tries = () => made.log.messages('error').filter(message => message === 'Reconcile failed; retrying').length;
  expect(tries()).toBe(1);
  return { ...made, tries };
}

test('hosts are retried at once when the private key comes', async () => {
  const { api, tries } = await failing(fixedFacts());
  api.put(secrets, { metadata: { name: secretName.privateKey, namespace } });
  await settle();
  expect(tries()).toBe(2);
});

test('hosts that wait for the TLS pair are retried at once when it comes, and not when it is renewed', async () => {
  const { api, tries } = await failing(fixedFacts());
  const metadata = { name: secretName.tls, namespace, uid: 'u' };
  api.put(secrets, { metadata });
  await settle();
  expect(tries()).toBe(1);
  api.remove(secrets, secretName.tls, namespace);
  const failed = api.peek(windowsInstances, 'win-1', namespace);
  if (failed?.status?.conditions === undefined) throw new Error('it has not failed');
  const conditions = failed.status.conditions.map(each => ({ ...each, reason: 'MATERIAL_MISSING' }));
  api.put(windowsInstances, { ...failed, status: { ...failed.status, conditions } });
  api.put(secrets, { metadata });
  await settle();
  expect(tries()).toBe(2);
  api.put(secrets, { metadata, data: { 'tls.crt': 'eA==' } });
  await settle();
  expect(tries()).toBe(2);
});

test('hosts are retried at once when the cluster can be understood, and not at every change of it', async () => {
  const { facts, tries } = await failing(unknownFacts());
  facts.become({});
  await settle();
  expect(tries()).toBe(2);
  facts.become({ platform: 'AWS' });
  await settle();
  expect(tries()).toBe(2);
  facts.become(undefined);
  await settle();
  expect(tries()).toBe(2);
  facts.become({});
  await settle();
  expect(tries()).toBe(3);
});
