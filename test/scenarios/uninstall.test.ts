import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportName } from '../../src/contract/agent-report.ts';
import { agentProgramHash, dir } from '../../src/contract/paths.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import type { Client } from '../../src/kube/client.ts';
import { configMaps, pods } from '../../src/kube/resources.ts';
import { adoptSteps } from '../../src/node/lifecycle/configure/steps.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { goVersion } from '../../src/sandbox/go-operator/objects.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../kit/fast-clock.ts';
import { turnIntoOneGoHost } from '../kit/go-cluster.ts';
import { fleetState, nodeState, reportOf } from '../kit/host-state.ts';
import { withLateWatches } from '../kit/installed-hosts.ts';
import { SandboxInstallation } from '../kit/sandbox-install.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** Two entries, one of them a host of the Go operator, a Direct instance and two Machines. */
const goHost = 'win-2';
const direct = 'win-3';
const hostCount = 5;

let sandbox: Sandbox;
let admin: ReturnType<typeof administratorOf>;
let client: Client;
let installation: SandboxInstallation;
type Fleet = Awaited<ReturnType<typeof fleetState>>;
let fleetBeforeAdoption: Fleet;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 3, machines: 2, listsHosts: false, speed: 20 });
  admin = administratorOf(sandbox);
  client = admin.client;
  const listed = ['win-1', goHost].map(name => sandbox.host(name));
  installation = new SandboxInstallation(sandbox, client, listed, sandbox.host(direct));
  await installation.install();
  await installation.listHosts();
  await installation.addDirect();
  {
    await using operator = startOperator(sandbox, { clock: fastClock(20) });
    const instances = await operator.allReady(hostCount);
    for (const { status } of instances) await addPod(status?.node ?? '');
  }
  await turnIntoOneGoHost(sandbox, client, goHost);
  fleetBeforeAdoption = await fleetState(sandbox);
}, 120_000);
afterAll(async () => {
  await admin?.[Symbol.asyncDispose]();
  await sandbox?.stop();
});

async function addPod(node: string): Promise<void> {
  const spec = { nodeName: node, containers: [{ name: 'app', image: 'app' }] };
  await client.create(pods, { metadata: { name: `pod-of-${node}`, namespace: 'default' }, spec });
}

test('a host of the Go operator is adopted, and only our program is added to it', async () => {
  const nodes = await nodeState(client);
  await using operator = startOperator(sandbox);
  const instances = await operator.allReady(hostCount);
  expect(instances.find(({ status }) => status?.node === goHost)?.status?.version).toBe(goVersion);
  expect(await nodeState(client)).toEqual(nodes);
  const fleet = await fleetState(sandbox);
  expect(fleet.map(({ rest }) => rest)).toEqual(fleetBeforeAdoption.map(({ rest }) => rest));
  for (const [index, { files }] of fleet.entries()) {
    const before = fleetBeforeAdoption[index]?.files ?? {};
    const added = Object.keys(files).filter(path => !Object.hasOwn(before, path));
    expect(added.filter(path => agentProgramHash(path) === undefined)).toEqual([]);
    expect(added).toHaveLength(sandbox.hosts[index]?.spec.name === goHost ? 1 : 0);
    expect(files).toMatchObject(before);
  }
});

interface Case {
  about: string;
  /** A running one continues, also while everything is installed again; a late one sees no deletion until then. */
  operator: 'stopped' | 'running' | 'late';
  /** Whether the records are lost. */
  adopts: boolean;
  /** The pair of the exporter is lost with the namespace; its hosts get the new one, and nothing else. */
  hasNewPair?: boolean;
  uninstall: () => Promise<void>;
}

const cases: readonly Case[] = [
  { about: 'the operator is deleted', operator: 'stopped', adopts: false, uninstall: async () => undefined },
  {
    about: 'the CRD is deleted while the operator runs',
    operator: 'running',
    adopts: true,
    uninstall: () => installation.deleteCrd(),
  },
  {
    about: 'the CRD is deleted while the operator runs with late caches',
    operator: 'late',
    adopts: true,
    uninstall: () => installation.deleteCrd(),
  },
  {
    about: 'the namespace is deleted while the operator runs',
    operator: 'running',
    adopts: true,
    hasNewPair: true,
    uninstall: () => installation.deleteNamespace(),
  },
  {
    about: 'operator, permissions, CRD and namespace are deleted in this order',
    operator: 'stopped',
    adopts: true,
    hasNewPair: true,
    uninstall: async () => {
      await installation.deletePermissions();
      await installation.deleteCrd();
      await installation.deleteNamespace();
    },
  },
  {
    about: 'entries, CRD and namespace are deleted while the operator runs with late caches',
    operator: 'late',
    adopts: true,
    hasNewPair: true,
    uninstall: async () => {
      await installation.deleteEntries();
      await installation.deleteCrd();
      await installation.deleteNamespace();
    },
  },
];

/** Shows that nothing happens: what the operator does after a change takes much less. */
const quietMs = 1000;

for (const { about, operator: how, adopts, hasNewPair = false, uninstall } of cases) {
  test(`nodes stay Ready and hosts unchanged when ${about}, also after a new installation`, async () => {
    const { operator: first, release } = startWith(how);
    await first.allReady(hostCount);
    await expect.poll(() => first.lines.join('')).toContain('leader-only');
    const seeFleet = async () => (hasNewPair ? withoutPair(await fleetState(sandbox)) : fleetState(sandbox));
    const [fleet, nodes] = [await seeFleet(), await nodeState(client)];
    const expectUnchanged = async () => {
      expect(await nodeState(client)).toEqual(nodes);
      expect(await seeFleet()).toEqual(fleet);
    };
    const [connections, verbs] = [countConnections(), sandbox.hosts.map(({ stats }) => stats.verbs.length)];
    if (how === 'stopped') await first.stop();
    await uninstall();
    await delay(quietMs);
    await expectUnchanged();
    expect(countConnections()).toEqual(connections);

    await installation.install();
    release();
    await delay(quietMs);
    await expectUnchanged();
    await using second = how === 'stopped' ? startOperator(sandbox) : first;
    await installation.listHosts();
    // Until an administrator creates the Direct instance again, its Node is an orphan.
    if (adopts) await second.allReady(hostCount - 1);
    await installation.addDirect();
    const instances = await second.allReady(hostCount);
    await expectReports(second);
    await expectUnchanged();
    const run = () => sandbox.hosts.map(({ stats }, index) => stats.verbs.slice(verbs[index]));
    const refreshed = hasNewPair ? ['inventory', 'stage'] : [];
    const expected = ({ spec }: SimulatedHost) => ['inventory', ...(spec.name === goHost ? [] : refreshed)];
    await expect.poll(run, { timeout: 30_000 }).toEqual(sandbox.hosts.map(host => (adopts ? expected(host) : [])));
    await expectUnchanged();
    if (!adopts || hasNewPair) return;
    const steps = instances.map(({ status }) => status?.timeline?.map(({ name }) => name));
    expect(steps).toEqual(instances.map(() => adoptSteps.map(({ name }) => name)));
  });
}

/** A bundle with the pair is also recorded, and may be on its way when a host is looked at. */
function withoutPair(fleet: Fleet): Fleet {
  const isOfPair = (path: string) =>
    [`${dir.tls}\\certs\\`, `${dir.staged}\\`, `${dir.incoming}\\`].some(folder => path.startsWith(folder)) ||
    path.endsWith('\\leader.json');
  return fleet.map(({ files, rest }) => {
    const others = Object.entries(files).filter(([path]) => !isOfPair(path));
    return { files: Object.fromEntries(others), rest };
  });
}

function startWith(how: Case['operator']): { operator: SandboxOperator; release: () => void } {
  let release = (): void => undefined;
  const wrapClient = (own: Client): Client => {
    const late = withLateWatches(own);
    ({ release } = late);
    return late.client;
  };
  // An operator whose CRD or namespace is missing checks again after half a minute.
  const options = { clock: fastClock(20), ...(how === 'late' && { wrapClient }) };
  return { operator: startOperator(sandbox, options), release: () => release() };
}

function countConnections(): number[] {
  return sandbox.hosts.map(({ stats }) => stats.connections);
}

test('all agents report after the installations', async () => {
  await using operator = startOperator(sandbox);
  await operator.allReady(hostCount);
  const { namespace } = sandbox;
  const names = agents().map(reportName);
  // The operator creates them again, and a new services ConfigMap starts a pass of each agent.
  for (const name of [...names, servicesConfigMapName(operator.version)])
    await client.delete(configMaps, name, { namespace });
  await expectReports(operator);
});

/** Nodes with an agent of this version. */
function agents(): string[] {
  return sandbox.hosts.map(({ spec }) => spec.name).filter(name => name !== goHost);
}

/** The agents of this version report again; that of the Go operator has no report. */
async function expectReports({ version }: SandboxOperator): Promise<void> {
  for (const node of agents())
    await expect.poll(() => reportOf(client, sandbox.namespace, node)).toMatchObject({ version });
}
