import { afterEach, expect, test, vi } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import type * as instancesModule from '#contract/instances.ts';
import { parseEntries } from '#contract/instances.ts';
import { configMapName, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { agentAccessController } from '#controllers/agent-access/controller.ts';
import { agentReportsController } from '#controllers/agent-reports/controller.ts';
import { instancesController } from '#controllers/instances/controller.ts';
import { lifecycleController } from '#controllers/lifecycle/controller.ts';
import { servicesConfigController } from '#controllers/services-config/controller.ts';
import { Store } from '#kube/informer/store.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { asks, agentHere, csrBench, lists, recorded, stateOf } from '../kit/csr-bench.ts';
import { fixedFacts, benchSettings } from '../kit/fixed-facts.ts';
import { settle } from '../kit/manual-clock.ts';
import { benchNamespace as namespace, benchVersion as version } from '../kit/source-bench.ts';

vi.mock('#contract/instances.ts', async importOriginal => {
  const original = await importOriginal<typeof instancesModule>();
  return { ...original, parseEntries: vi.fn(original.parseEntries) };
});
afterEach(() => vi.restoreAllMocks());

const nameOf = (number: number) => `win-${number}`;
const addressOf = (number: number) => `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;

function nodeAt(number: number, isReady: boolean): Node {
  return {
    metadata: {
      name: nameOf(number),
      uid: `uid-${number}`,
      labels: { [nodeLabel.os]: 'windows' },
      annotations: { [nodeAnnotation.version]: version, [nodeAnnotation.desiredVersion]: version },
    },
    status: {
      addresses: [{ type: 'InternalIP', address: addressOf(number) }],
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  };
}

const certificateEnds = '2027-01-01T00:00:00Z';

/** A fleet of configured hosts with all controllers that have to do with a host. */
async function fleet(size: number) {
  const bench = await csrBench({ isStarted: false });
  const { api, parts } = bench;
  const never = () => new Promise<never>(() => undefined);
  const entries: Record<string, string> = {};
  for (let number = 1; number <= size; number += 1) {
    const [name, address] = [nameOf(number), addressOf(number)];
    const identity = { ...recorded(name, address).agent, keyHash: recorded(name, address).agent?.keyHash ?? '' };
    const agent = { ...identity, installed: '2026-03-01T12:00:00Z', certificateEnds };
    const status = { ...recorded(name, address), agent, node: name, nodeUID: `uid-${number}`, version };
    api.put(windowsInstances, {
      metadata: { name, namespace, generation: 1 },
      spec: { address, username: 'core', source: { kind: 'ConfigMap', name: address } },
      status: { ...status, phase: 'Ready', observedGeneration: 1 },
    });
    api.put(nodes, nodeAt(number, true));
    entries[address] = 'username=core';
  }
  // What each host needs once is not the subject here, and would take most of the time.
  api.before = ({ verb, body }) => (verb === 'create' ? body : undefined);
  const list = () =>
    api.put(configMaps, { metadata: { name: configMapName.instances, namespace, uid: 'entries' }, data: entries });
  list();
  const facts = fixedFacts();
  const hosts = {
    connect: never,
    dialTcp: never,
    inputs: { loadKeys: never, readFacts: () => never() as never, prepareInputs: never },
  };
  const payload = { agent: never, files: never };
  await bench.startController();
  await bench.start(instancesController(parts));
  await bench.start(lifecycleController({ ...parts, ...hosts, payload }));
  await bench.start(
    agentAccessController({ ...parts, facts, kind: 'openshift', settings: { allowLastingTokens: false } }),
  );
  await bench.start(agentReportsController(parts));
  await bench.start(servicesConfigController({ ...parts, facts, settings: benchSettings }));
  // Until nothing more is written.
  for (let calls = -1; calls !== api.calls.length; ) {
    calls = api.calls.length;
    for (let turn = 0; turn < 20; turn += 1) await settle();
  }
  return { ...bench, entries, list };
}

/** Counts objects that are read from caches, requests by verb, and parses of the entries, while something happens. */
async function costOf(api: { calls: { verb: string }[] }, happens: () => unknown): Promise<Record<string, number>> {
  const cost: Record<string, number> = {};
  const count = (what: string, times: number) => (cost[what] = (cost[what] ?? 0) + times);
  const reads = (['get', 'list', 'byIndex', 'indexValues'] as const).map(each => vi.spyOn(Store.prototype, each));
  const [calls, parses] = [api.calls.length, vi.mocked(parseEntries).mock.calls.length];
  await happens();
  for (let turn = 0; turn < 20; turn += 1) await settle();
  for (const { mock } of reads)
    for (const { value } of mock.results) count('objects read', Array.isArray(value) ? value.length : 1);
  vi.restoreAllMocks();
  for (const { verb } of api.calls.slice(calls)) count(verb, 1);
  return { ...cost, parses: vi.mocked(parseEntries).mock.calls.length - parses };
}

/** What each kind of change costs in a fleet of this size. */
async function costs(size: number) {
  await using bench = await fleet(size);
  const { api, entries, list } = bench;
  const number = Math.ceil(size / 2);
  const [name, address] = [nameOf(number), addressOf(number)];
  const nodeChange = await costOf(api, () => api.put(nodes, nodeAt(number, false)));
  expect(bench.instance(name)?.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
  const renewal = { ...agentHere, username: `system:wicd-node:${name}`, commonNames: [`system:wicd-node:${name}`] };
  const certificate = await costOf(api, () => asks(bench, { ...renewal, credentialId: undefined }));
  expect(stateOf(bench)).toContain('Approved');
  const entryChange = await costOf(api, () => {
    entries[address] = 'username=other';
    list();
  });
  expect(bench.instance(name)?.spec.username).toBe('other');
  const newHost = await costOf(api, () => lists(bench, '10.250.0.1'));
  expect(bench.instance('10.250.0.1')?.status?.phase).toBe('Configuring');
  return { nodeChange, certificate, entryChange, newHost };
}

test('a change of one host costs the same among 10 and among 10,000 hosts', { timeout: 300_000 }, async () => {
  const few = await costs(10);
  expect(await costs(10_000)).toEqual(few);
});
