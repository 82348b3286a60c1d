import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { textFromBase64 } from '../../src/base/bytes.ts';
import { parseCertificateRequest } from '../../src/contract/csr-request.ts';
import { agentName, identity, nodeLabel } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import { certificateSigningRequests, nodes } from '../../src/kube/resources.ts';
import { machines } from '../../src/kube/resources-openshift.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { instancesOf, killOperators, type Kill } from '../kit/killed-journey.ts';
import { administratorOf } from '../kit/sandbox-operator.ts';
import { operatorProcesses, type SpawnedOperator } from '../kit/spawned-operator.ts';

/** Ten hosts join while the operator is killed thirty times; work is neither repeated nor left incomplete. */

const [hosts, kills] = [10, 30];
/** They need a reboot for the feature Containers, the Machine also for its name. */
const rebooted = ['win-2', 'win-5', 'win-9', 'winworker-1'];
const wanted = process.env['WMCO_KILL_SEED'];
const seeds = wanted === undefined ? [4711, randomInt(1, 2 ** 31)] : wanted.split(',').map(Number);
const platform = 'Nutanix';
const settings = {
  lease: { leaseDurationMs: 3000, renewDeadlineMs: 2500, retryPeriodMs: 500 },
  maxParallelJoins: 4,
};

test.concurrent.for(seeds)(
  'thirty kills do not keep ten hosts from becoming nodes (WMCO_KILL_SEED=%i)',
  { timeout: 600_000 },
  // Parallel tests need different ones.
  async (seed, { expect: expectHere }) => {
    const faults = rebooted.map(name => `no-containers@${name}`);
    // Slow uploads, so that some are interrupted.
    const times = { uploadBytesPerSecond: 1_000_000 };
    await using sandbox = await startSandbox({ hosts: hosts - 1, machines: 1, platform, speed: 10, faults, times });
    await using processes = operatorProcesses(sandbox, { platform, settings });
    await using administrator = administratorOf(sandbox);
    const { client } = administrator;
    const { namespace } = sandbox;
    const startMs = performance.now();
    const done = await killOperators({ client, namespace, hosts, kills, seed }, processes);
    const phases = async () => (await instancesOf({ client, namespace })).map(({ status }) => status?.phase);
    await expectHere.poll(phases, { timeout: 90_000, interval: 200 }).toEqual(Array(hosts).fill('Ready'));
    const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
    console.log(
      `seed ${seed}: ${processes.all.length} processes, ${seconds} s, killed in ${JSON.stringify(stepsOf(done))}`,
    );
    checkMoments(done);
    for (const host of sandbox.hosts) await checkHost(host);
    await checkCluster(sandbox, client);
    checkSuccession(done, processes.all);
  },
);

/** How often each step was running when the operator was killed. */
function stepsOf(done: readonly Kill[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { steps } of done) for (const step of steps) counts[step] = (counts[step] ?? 0) + 1;
  return counts;
}

/** Kills must hit early, middle and late steps. */
function checkMoments(done: readonly Kill[]): void {
  const seen = Object.keys(stepsOf(done));
  const parts = [
    ['connect', 'queued', 'prepare files', 'agent program', 'inventory', 'preflight'],
    ['rename', 'containers feature', 'reboot', 'stage programs', 'write files', 'bootstrap'],
    ['find node', 'mark node', 'desired version', 'agent service', 'wait for agent', 'uncordon'],
  ];
  expect(parts.map(steps => seen.some(step => steps.includes(step)))).toEqual([true, true, true]);
}

async function checkHost({ spec, stats, services, state }: SimulatedHost): Promise<void> {
  const { name } = spec;
  const isRebooted = rebooted.includes(name) || !name.startsWith('win-');
  expect([name, stats.reboots, state.hostName]).toEqual([name, isRebooted ? 1 : 0, name]);
  // A complete upload has its final name.
  const complete = stats.received.filter(({ path }) => !path.endsWith('.part'));
  const paths = complete.map(({ path }) => path);
  expect([name, paths]).toEqual([name, [...new Set(paths)]]);
  // The agent and the bundle of programs; files with fresh tokens differ each time.
  expect([name, complete.filter(({ bytes }) => bytes > 50_000).length]).toEqual([name, 2]);
  const agents = (await services.list()).filter(
    ({ name: each, config }) => each === agentName || config.command.toLowerCase().includes(`${agentName}.exe`),
  );
  expect([name, agents.map(each => each.name)]).toEqual([name, [agentName]]);
}

async function checkCluster({ namespace, hosts: all }: Sandbox, client: Client): Promise<void> {
  const names = new Set(all.map(({ spec }) => spec.name));
  const { items: windows } = await client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
  expect(new Set(windows.map(({ metadata }) => metadata.name))).toEqual(names);
  expect(windows.filter(({ spec }) => spec?.unschedulable === true)).toEqual([]);
  const instances = await instancesOf({ client, namespace });
  expect(new Set(instances.map(({ status }) => status?.node))).toEqual(names);
  expect((await client.list(machines)).items).toHaveLength(1);
  const keys = new Set(instances.map(({ status }) => status?.agent?.keyHash));
  const { items: requests } = await client.list(certificateSigningRequests);
  for (const { metadata, spec, status } of requests) {
    const { commonName, keyHash } = parseCertificateRequest(textFromBase64(spec.request) ?? '');
    const owner = commonName.replace(identity.nodeUserPrefix, '').replace(identity.agentUserPrefix, '');
    expect([metadata.name, names.has(owner)]).toEqual([metadata.name, true]);
    // A request with a key that was replaced before it was recorded stays pending.
    const isReplaced = commonName.startsWith(identity.agentUserPrefix) && !keys.has(keyHash);
    const want = isReplaced ? [undefined, ['Approved']] : [['Approved']];
    expect(want).toContainEqual(status?.conditions?.map(({ type }) => type));
  }
}

/** After a kill the next operator waits for the Lease to expire. */
function checkSuccession(done: readonly Kill[], all: readonly SpawnedOperator[]): void {
  const leaders = all.flatMap(({ leadsSinceMs }) => leadsSinceMs ?? []);
  const next = done.map(kill => ({ ...kill, gapMs: Math.min(...leaders.filter(ms => ms > kill.atMs)) - kill.atMs }));
  expect(next.filter(({ gapMs }) => !(gapMs < 60_000))).toEqual([]);
  expect(next.filter(({ keepsLease }) => keepsLease)).toHaveLength(5);
}
