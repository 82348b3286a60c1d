import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { windowsInstances } from '../../src/cluster/windows-instances.ts';
import { agentName } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { leases } from '../../src/kube/resources.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';

/** The sandbox here, the operator in another process, which can be killed at any moment. */

const program = fileURLToPath(import.meta.resolve('../kit/operator-process.ts'));
let folder: string;
let sandbox: Sandbox;
let client: Client;
let operator: ChildProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-other-'));
  sandbox = await startSandbox({ hosts: 4, speed: 10, faults: ['no-containers@win-2'] });
  client = createClient(loadKubeconfig(sandbox.kubeconfig));
  writeFileSync(join(folder, 'kubeconfig'), sandbox.kubeconfig, { mode: 0o600 });
});
afterEach(async () => {
  await kill();
  await client.close();
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

/** What it logs goes nowhere: the status of the instances tells more. */
function start(): void {
  operator = spawn(process.execPath, [program, join(folder, 'kubeconfig'), sandbox.namespace], { stdio: 'ignore' });
}

async function kill(): Promise<void> {
  if (operator === undefined || operator.exitCode !== null) return;
  const ended = once(operator, 'exit');
  operator.kill('SIGKILL');
  await ended;
  operator = undefined;
}

/** The next one would wait until the lease of the dead one is over. */
async function forgetLeader(): Promise<void> {
  for (const { metadata } of (await client.list(leases, { namespace: sandbox.namespace })).items) {
    await client.delete(leases, metadata.name ?? '', { namespace: sandbox.namespace });
  }
}

const phases = async () =>
  (await client.list(windowsInstances, { namespace: sandbox.namespace })).items.map(
    ({ status }) => status?.phase ?? '',
  );
const allReady = () =>
  expect.poll(phases, { timeout: 100_000, interval: 200 }).toEqual(['Ready', 'Ready', 'Ready', 'Ready']);

test('an operator in another process finds hosts and names by what the cluster tells', async () => {
  start();
  await allReady();
  for (const { stats } of sandbox.hosts) expect(stats.execSessions + stats.sftpSessions).toBeLessThanOrEqual(20);
}, 120_000);

test('one that is killed three times on the way is followed by one that ends the work, and repeats none of it', async () => {
  for (const pauseMs of [2500, 3500, 5000]) {
    start();
    await new Promise(resolve => setTimeout(resolve, pauseMs));
    await kill();
    await forgetLeader();
  }
  start();
  await allReady();
  for (const host of sandbox.hosts) {
    expect([host.spec.name, host.stats.reboots]).toEqual([host.spec.name, host.spec.name === 'win-2' ? 1 : 0]);
    const agents = (await host.services.list()).filter(({ name }) => name === agentName);
    expect(agents).toHaveLength(1);
  }
}, 120_000);
