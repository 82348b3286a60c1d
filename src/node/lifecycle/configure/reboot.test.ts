import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { type BlockedPod, drainError } from '#kube/drain/drain.ts';
import { drainProgress } from '#kube/drain/drain-text.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { lost } from '../../../../test/kit/lifecycle/lab-host.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { uploadAgent, takeInventory } from './agent-program.ts';
import { awaitSettings, awaitVersion, rebootForSettings } from './agent-service.ts';
import { connect } from './connect.ts';
import { prepareFiles } from './prepare-files.ts';
import { enableContainers, reboot, rename } from './prepare-windows.ts';

const begin = [connect, prepareFiles, uploadAgent, takeInventory];
const soon = (ms = 15) => new Promise(resolve => setTimeout(resolve, ms));

test('a host that does not come back from a reboot is reported, with what it answers', async () => {
  const bench = new JourneyBench();
  bench.host.model.state.containersFeature = 'disabled';
  bench.host.bootMs = 600_000;
  await bench.take(...begin, enableContainers);
  bench.pace = 5000;
  const booting = rejectionOf(bench.take(reboot));
  await expect
    .poll(() => bench.journey.record.journal.activity?.waitsFor)
    .toContain('the host is not back yet: 10.0.0.5: the host does not answer');
  expect(await booting).toMatchObject({
    code: 'HOST_REBOOT_TIMEOUT',
    message: '10.0.0.5 did not come back after the reboot within 30 min',
  });
  expect(bench.reboots).toEqual([{ bootId: 'boot-1', because: 'the feature Containers' }]);
});

test('the boot is written down before the order goes out', async () => {
  const bench = new JourneyBench();
  bench.host.model.state.containersFeature = 'disabled';
  await bench.take(...begin, enableContainers);
  const order: string[] = [];
  bench.journey.record.saveReboot = () => Promise.reject(new Error('the server is gone'));
  bench.host.faults.exec = command => void order.push(command);
  expect(await rejectionOf(bench.take(reboot))).toMatchObject({ code: 'INTERNAL_ERROR' });
  expect([order, bench.host.boots]).toEqual([[], 1]);
});

test('a host that says it has rebooted already is not waited for to go down', async () => {
  const bench = new JourneyBench();
  bench.host.model.state.containersFeature = 'disabled';
  await bench.take(...begin, enableContainers);
  // Somebody has rebooted it since the inventory was taken.
  await bench.host.reboot();
  await bench.take(reboot);
  expect([bench.host.boots, bench.journey.inventory.containersFeature]).toEqual([2, 'enabled']);
});

test('an order whose answer is lost is as good as one that was answered', async () => {
  const bench = new JourneyBench();
  bench.host.model.state.containersFeature = 'disabled';
  await bench.take(...begin, enableContainers);
  bench.host.faults.exec = async command => {
    if (!command.includes(' reboot ')) return undefined;
    bench.host.faults.exec = () => undefined;
    await bench.host.run(command);
    throw lost('10.0.0.5');
  };
  await bench.take(reboot);
  expect(bench.host.boots).toBe(2);
});

test('a reboot that Windows refuses is reported', async () => {
  const bench = new JourneyBench();
  bench.host.model.state.containersFeature = 'disabled';
  await bench.take(...begin, enableContainers);
  bench.host.model.system.reboot = () => Promise.reject(new AppError('PROGRAM_FAILED', 'no right to', { remedy: 'x' }));
  expect(await rejectionOf(bench.take(reboot))).toMatchObject({ code: 'PROGRAM_FAILED' });
});

test('a host that does not tell its boot is not rebooted', async () => {
  const bench = new JourneyBench();
  bench.host.model.state.containersFeature = 'enable-pending';
  await bench.take(...begin);
  bench.journey.inventory = { ...bench.journey.inventory, bootId: '' };
  expect(await rejectionOf(bench.take(reboot))).toMatchObject({ code: 'AGENT_ANSWER_INVALID' });
  expect(bench.host.boots).toBe(1);
});

test('a name that another key shows up under after the reboot is not waited for', async () => {
  const bench = new JourneyBench();
  bench.host.model.state.containersFeature = 'disabled';
  await bench.take(...begin, enableContainers);
  const rebooting = rejectionOf(bench.take(reboot));
  await soon(20);
  bench.host.hostKey = new JourneyBench().host.hostKey;
  expect(await rebooting).toMatchObject({ code: 'HOST_KEY_CHANGED' });
});

test('a rename that does not last is reported after one reboot', async () => {
  const bench = new JourneyBench({ spec: { hostname: 'worker-7' } });
  bench.host.model.boot = () => void (bench.host.model.state.boots += 1);
  await bench.take(...begin, rename);
  expect(await rejectionOf(bench.take(reboot))).toMatchObject({
    code: 'HOST_NAME_UNCHANGEABLE',
    message: expect.stringContaining('worker-7') as string,
  });
  expect(await rejectionOf(bench.take(reboot))).toMatchObject({ code: 'HOST_NAME_UNCHANGEABLE' });
  expect(bench.host.boots).toBe(2);
});

test('a host that has its name and Containers is neither renamed nor rebooted', async () => {
  const bench = new JourneyBench({ spec: { hostname: 'WIN-5' } });
  await bench.take(...begin, rename, enableContainers, reboot);
  expect(bench.host.verbs()).toEqual(['inventory']);
});

test('Containers that need no reboot cause none', async () => {
  const bench = new JourneyBench();
  bench.host.model.state.containersFeature = 'disabled';
  bench.host.model.system.enableContainers = async () => false;
  await bench.take(...begin, enableContainers, reboot);
  expect(bench.host.boots).toBe(1);
});

const record = { host: { name: 'win-5', addresses: ['10.0.0.5'] } };

test('a reboot for settings is made once for each time the agent asks, and pods leave before', async () => {
  const bench = new JourneyBench({ record });
  await bench.take(...begin);
  const ask = (version?: string) =>
    bench.putNode({
      metadata: {
        name: 'win-5',
        labels: { 'kubernetes.io/os': 'windows' },
        annotations:
          version === undefined ? { [nodeAnnotation.rebootRequired]: '' } : { [nodeAnnotation.version]: version },
      },
    });
  ask();
  await bench.take(awaitSettings, rebootForSettings);
  expect([bench.host.boots, bench.drained]).toEqual([2, ['win-5']]);
  expect(bench.reboots).toEqual([{ bootId: 'boot-1', because: 'variables and certificates' }, undefined]);
  ask();
  await bench.take(rebootForSettings);
  expect(bench.host.boots).toBe(3);
  ask();
  await bench.take(rebootForSettings);
  expect(bench.journey.record.known.reboots).toHaveLength(3);
  ask();
  expect(await rejectionOf(bench.take(rebootForSettings))).toMatchObject({ code: 'REBOOT_LIMIT' });
  expect(bench.host.boots).toBe(4);
  ask('v2');
  await bench.take(awaitSettings, rebootForSettings, awaitVersion);
  expect(bench.host.boots).toBe(4);
});

test('a blocked drain shows pods and budgets in the status, and the host is not rebooted', async () => {
  const bench = new JourneyBench({ record });
  await bench.take(...begin);
  const annotations = { [nodeAnnotation.rebootRequired]: '' };
  bench.putNode({ metadata: { name: 'win-5', labels: { 'kubernetes.io/os': 'windows' }, annotations } });
  await bench.take(awaitSettings);
  const { deps, record: journeyRecord } = bench.journey;
  const pod = { namespace: 'ns', name: 'db' };
  const db: BlockedPod = { pod, is: 'managed', budgets: ['db'], isRejected: true, message: 'no disruptions allowed' };
  const blocked = [db];
  let waitsFor: string | undefined;
  deps.nodes.drain = async (node, { note }) => {
    note?.(drainProgress(blocked));
    ({ waitsFor } = journeyRecord.journal.activity ?? {});
    throw drainError(node, { gone: [], left: [], blocked });
  };
  const named = 'ns/db (PodDisruptionBudget db: no disruptions allowed)';
  await expect(bench.take(rebootForSettings)).rejects.toMatchObject({ code: 'DRAIN_BLOCKED' });
  expect(waitsFor).toBe(`draining the Node: 1 pod left; blocked: ${named}`);
  expect(journeyRecord.journal.timeline().at(-1)?.lastError).toMatchObject({
    code: 'DRAIN_BLOCKED',
    message: `Node win-5: pods not evicted: ${named}`,
    remedy: expect.stringContaining('kubectl edit pdb db -n ns'),
  });
  expect(bench.host.boots).toBe(1);
});

test('a reboot for settings that was made before a kill is not made again', async () => {
  const bench = new JourneyBench({ record, reboot: { bootId: 'boot-0', because: 'variables and certificates' } });
  await bench.take(...begin);
  bench.putNode({
    metadata: {
      name: 'win-5',
      labels: { 'kubernetes.io/os': 'windows' },
      annotations: { [nodeAnnotation.rebootRequired]: '' },
    },
  });
  await bench.take(rebootForSettings);
  expect(bench.host.boots).toBe(1);
  expect(bench.reboots).toEqual([undefined]);
});
