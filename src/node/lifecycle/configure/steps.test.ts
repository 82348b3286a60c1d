import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentName, nodeAnnotation } from '#contract/names.ts';
import { documentedSteps, stepRows } from '../../../../test/kit/lifecycle/documented-steps.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { uploadAgent, takeInventory } from './agent-program.ts';
import { awaitSettings, awaitVersion, installAgent } from './agent-service.ts';
import { bootstrap } from './bootstrap.ts';
import { connect } from './connect.ts';
import { prepareFiles } from './prepare-files.ts';
import { claimName } from './identify.ts';
import { desireVersion, findNode, releaseNode, cordonAndLabelNode } from './node.ts';
import { adoptSteps, configureSteps, reconnectOtherSteps, reconnectSteps } from './steps.ts';

const begin = [connect, prepareFiles, uploadAgent, takeInventory, claimName];
const soon = (ms = 15) => new Promise(resolve => setTimeout(resolve, ms));

test.each([
  ['configure', configureSteps],
  ['adopt', adoptSteps],
  ['reconnect', reconnectSteps],
  ['reconnect for another version', reconnectOtherSteps],
])('every step of %s has a unique name, a description, a usual time and a limit', (_, steps) => {
  const names = steps.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, description, usualMs, limitMs } of steps) {
    expect(description).toMatch(/^[a-z].*[^.]$/);
    // Only the time in the queue depends on other hosts.
    if (!name.startsWith('queued')) expect(2 * (usualMs ?? Infinity)).toBeLessThan(limitMs);
    expect(limitMs).toBeGreaterThan(0);
    expect(limitMs).toBeLessThanOrEqual(2 * 3_600_000);
  }
});

const page = readFileSync(join(import.meta.dirname, '../../../../docs/lifecycle.md'), 'utf8');

test('docs/lifecycle.md has the steps in their order, with what they do, their times and codes', () => {
  expect(documentedSteps('configure')).toEqual(stepRows(configureSteps));
});

test('docs/lifecycle.md has the steps of adopt in their order', () => {
  const [, section = ''] = page.split('## Adoption\n');
  const [steps = ''] = /^The steps are ([^.]*)\./m.exec(section)?.slice(1) ?? [];
  expect(steps.replaceAll('\n', ' ').split(/, | and /)).toEqual(adoptSteps.map(({ name }) => name));
});

test('connects by the address a name has, and takes an IPv4 one', async () => {
  const bench = new JourneyBench({ spec: { address: 'win.example.com' } });
  await bench.take(connect);
  expect(bench.journey.ipv4).toBe('10.0.0.5');
  const nowhere = new JourneyBench({ spec: { address: 'nowhere' } });
  expect(await rejectionOf(nowhere.take(connect))).toMatchObject({ code: 'INSTANCE_ADDRESS_UNRESOLVED' });
});

test('a connection whose key cannot be kept is closed', async () => {
  const bench = new JourneyBench();
  bench.journey.record.save = () => Promise.reject(new Error('the server is gone'));
  expect(await rejectionOf(bench.take(connect))).toMatchObject({ code: 'INTERNAL_ERROR' });
  expect(bench.host.openConnections).toBe(0);
});

test('on one journey a host may not change its key, whatever is stored', async () => {
  const bench = new JourneyBench();
  await bench.take(connect);
  bench.host.disconnect();
  const other = new JourneyBench().host.hostKey;
  bench.host.hostKey = other;
  expect(await rejectionOf(bench.take(connect))).toMatchObject({ code: 'HOST_KEY_CHANGED' });
});

test('things that are not known yet are internal errors, not errors of the host', () => {
  const { journey } = new JourneyBench();
  expect(() => journey.inventory).toThrow('not taken yet');
  expect(() => journey.prepared).toThrow('not prepared yet');
  expect(() => journey.joinedNode).toThrow(expect.objectContaining({ code: 'NODE_NOT_FOUND' }));
});

test('an agent that is not the one that was uploaded is not used', async () => {
  const bench = new JourneyBench();
  bench.host.faults.answer = (_verb, data) => ({ ...data, files: {} });
  expect(await rejectionOf(bench.take(...begin))).toMatchObject({
    code: 'AGENT_PROGRAM_DAMAGED',
    message: expect.stringContaining('is not the program that was uploaded') as string,
  });
});

test('a Node that does not come in time is reported with its name and what to look for', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.pace = 10_000;
  const error = await rejectionOf(bench.take(findNode));
  expect(error).toMatchObject({
    code: 'NODE_NOT_FOUND',
    message: '10.0.0.5: Node win-5 was not registered within 10 min',
  });
  expect(error?.remedy).toContain('kubectl get csr');
});

test('the Node is found as soon as the watch tells of it', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  const finding = bench.take(findNode);
  await soon();
  expect(bench.journey.record.journal.activity?.waitsFor).toContain('kubelet');
  bench.putNode();
  await finding;
  expect(bench.journey.joinedNode.name).toBe('win-5');
  await bench.take(findNode);
});

test('the name that is sealed stays as long as the key is the same', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  const annotations = { [nodeAnnotation.username]: 'sealed before', [nodeAnnotation.pubKeyHash]: 'hash' };
  bench.putNode({ metadata: { name: 'win-5', labels: { 'kubernetes.io/os': 'windows' }, annotations } });
  await bench.take(cordonAndLabelNode);
  const marks = () =>
    bench.api.all({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false })[0]?.metadata
      .annotations;
  expect(marks()).toMatchObject({ [nodeAnnotation.username]: 'sealed before' });
  bench.putNode({
    metadata: {
      name: 'win-5',
      labels: { 'kubernetes.io/os': 'windows' },
      annotations: { ...annotations, [nodeAnnotation.pubKeyHash]: 'other' },
    },
  });
  await bench.take(cordonAndLabelNode);
  expect(marks()).toMatchObject({
    [nodeAnnotation.username]: 'sealed Administrator',
    [nodeAnnotation.pubKeyHash]: 'hash',
  });
});

test('a host key that cannot be taken out of the ConfigMap stops no journey', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.putNode();
  bench.journey.deps.hostKeys.forget = () => Promise.reject(new Error('forbidden'));
  await bench.take(releaseNode);
  expect(bench.logged.messages('warn')).toEqual(['Removing host key from ConfigMap failed']);
});

test('the desired version is written only where it is another', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.putNode({
    metadata: {
      name: 'win-5',
      labels: { 'kubernetes.io/os': 'windows' },
      annotations: {
        [nodeAnnotation.desiredVersion]: 'v2',
        [nodeAnnotation.desiredServices]: `v2:${'0'.repeat(32)}:${'0'.repeat(32)}`,
      },
    },
  });
  const before = bench.api.calls.length;
  await bench.take(desireVersion);
  expect(bench.api.calls).toHaveLength(before);
});

test('a Node that is gone in the middle is reported', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  for (const step of [cordonAndLabelNode, desireVersion, releaseNode]) {
    expect(await rejectionOf(bench.take(step))).toMatchObject({ code: 'NODE_NOT_FOUND' });
  }
});

const services = (state: string) =>
  ['containerd', 'kubelet'].map(name => ({ name, state, command: '', isManaged: true }));
const bootstraps: [string, withNode: boolean, state: string, runs: boolean][] = [
  ['starts services where there is no Node', false, 'running', true],
  ['starts services that have stopped', true, 'stopped', true],
  ['leaves services alone that run and have their Node', true, 'running', false],
];
test('bootstrap names the Node that is recorded', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.host.faults.exec = () => ({ exitCode: 0, stdout: '', stderr: '' });
  await bench.take(bootstrap);
  expect(bench.host.commands.at(-1)).toMatch(/ --node win-5$/);
});

for (const [name, withNode, state, runs] of bootstraps) {
  test(name, async () => {
    const bench = new JourneyBench();
    await bench.take(...begin);
    if (withNode) bench.putNode();
    bench.journey.inventory = { ...bench.journey.inventory, services: services(state) };
    bench.host.faults.exec = () => ({ exitCode: 0, stdout: '', stderr: '' });
    const before = bench.host.commands.length;
    await bench.take(bootstrap);
    expect(bench.host.verbs().slice(before)).toEqual(runs ? ['bootstrap'] : []);
  });
}

test('the size of log files is passed on to the service', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  const { prepared } = bench.journey;
  bench.journey.prepared = { ...prepared, inputs: { ...prepared.inputs, agentLogMegabytes: 105 } };
  bench.putNode();
  await bench.take(installAgent);
  const [service] = await bench.host.model.services.list();
  expect(service).toMatchObject({
    name: agentName,
    config: { command: expect.stringContaining('--log-file-max-size 105') as string },
  });
});

test('an agent that does not come to its end is reported with its last words, which show while it is waited for', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.pace = 20_000;
  bench.putNode();
  const waiting = rejectionOf(bench.take(awaitSettings));
  await soon(5);
  expect(bench.journey.record.journal.activity?.waitsFor).toBe('the agent configures the host');
  const time = new Date(bench.clock.now()).toISOString();
  bench.putReportEvent({ reason: 'ServiceFailure', message: 'kube-proxy does not start', time });
  expect(bench.journey.record.journal.activity?.waitsFor).toBe('ServiceFailure: kube-proxy does not start');
  expect(bench.journey.record.journal.activity?.remedy).toMatch(/kubectl/);
  const error = await waiting;
  expect(error).toMatchObject({
    code: 'NODE_VERSION_TIMEOUT',
    message:
      '10.0.0.5: Node win-5 did not reach version v2 (last event of its agent: ServiceFailure: kube-proxy does not start) within 20 min',
  });
  expect(bench.host.openConnections).toBe(0);
});

const earlier: [what: string, about: object, time: (nowMs: number) => number][] = [
  ['an earlier Node', { nodeUid: 'former' }, nowMs => nowMs],
  ['an earlier boot', { bootId: 'former' }, nowMs => nowMs],
  ['an earlier agent of this host', {}, nowMs => nowMs - 3_600_000],
];
test.each(earlier)('an event of %s is neither shown nor taken as the last one', async (_, about, timeOf) => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.putNode({ metadata: { name: 'win-5', uid: 'present', labels: { 'kubernetes.io/os': 'windows' } } });
  await bench.journey.record.save({ agent: { keyHash: 'a', installed: new Date(bench.clock.now()).toISOString() } });
  bench.pace = 20_000;
  const time = new Date(timeOf(bench.clock.now())).toISOString();
  bench.putReportEvent({ reason: 'ServiceFailure', message: 'stale', time }, about);
  const waiting = rejectionOf(bench.take(awaitSettings));
  await soon(5);
  expect(bench.journey.record.journal.activity?.waitsFor).toBe('the agent configures the host');
  expect(await waiting).toMatchObject({
    message: expect.stringContaining('(its agent reported no event)') as string,
  });
});

test('an agent that never said a word is reported', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.pace = 20_000;
  bench.putNode();
  expect((await rejectionOf(bench.take(awaitVersion)))?.message).toContain('its agent reported no event');
});

test('waits for the version of a Node that is deleted and registered again meanwhile', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.putNode();
  let isOver = false;
  const waiting = bench.take(awaitVersion).finally(() => (isOver = true));
  await soon();
  bench.nodes.remove({ namespace: '', name: 'win-5' });
  await soon();
  expect(isOver).toBe(false);
  bench.putNode({
    metadata: {
      name: 'win-5',
      labels: { 'kubernetes.io/os': 'windows' },
      annotations: { [nodeAnnotation.version]: 'v2' },
    },
  });
  await waiting;
});

test('the end of a journey closes its connection and gives back its place', async () => {
  const bench = new JourneyBench();
  await bench.take(...begin);
  bench.journey.slot = await bench.journey.deps.slots.joins.take(bench.stop.signal);
  await bench.journey[Symbol.asyncDispose]();
  expect([bench.host.openConnections, bench.journey.deps.slots.joins.taken]).toEqual([0, 0]);
});
