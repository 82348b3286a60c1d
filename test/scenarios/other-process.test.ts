import { expect, test } from 'vitest';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { administratorOf } from '../kit/sandbox-operator.ts';
import { operatorProcesses } from '../kit/spawned-operator.ts';

/** The sandbox here, the operator in another process. */

test('an operator in another process finds hosts and names through the cluster', async () => {
  await using sandbox = await startSandbox({ hosts: 4, speed: 10, faults: ['no-containers@win-2'] });
  await using processes = operatorProcesses(sandbox);
  await using administrator = administratorOf(sandbox);
  processes.keepRunning();
  const { namespace } = sandbox;
  const phases = async () =>
    (await administrator.client.list(windowsInstances, { namespace })).items.map(({ status }) => status?.phase);
  await expect.poll(phases, { timeout: 100_000, interval: 200 }).toEqual(['Ready', 'Ready', 'Ready', 'Ready']);
  for (const { stats } of sandbox.hosts) expect(stats.execSessions + stats.sftpSessions).toBeLessThanOrEqual(20);
}, 120_000);
