import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { main } from '../../src/cli/main.ts';
import { uninstallProgram } from '../../src/cli/uninstall/program.ts';
import { hasConditionStatus } from '../../src/base/condition.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { instanceAnnotation, operatorName } from '../../src/contract/names.ts';
import { installManifests } from '../../src/install/manifests.ts';
import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import { configMaps, deployments, type Node, nodes, pods } from '../../src/kube/resources.ts';
import { resourceOf } from '../../src/cli/install/kinds.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { allObjects } from '../kit/cluster/all-objects.ts';
import { hostTraces } from '../kit/host-traces.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';
import { recordedTerminal } from '../kit/status-views.ts';

/** `wmco uninstall --remove-nodes` with an operator that runs while its Deployment exists, and its simulated hosts. */

const hostCount = 3;
let sandbox: Sandbox;
let admin: ReturnType<typeof administratorOf>;
let client: Client;
let folder: string;
let before: string[];
let traces: unknown[];
/** Ends operators also when a test fails. */
const over = new AbortController();
let last: Promise<void> | undefined;

beforeAll(async () => {
  sandbox = await startSandbox({ kind: 'kubernetes', hosts: hostCount, speed: 20, listsHosts: false });
  admin = administratorOf(sandbox);
  client = admin.client;
  folder = await mkdtemp(join(tmpdir(), 'wmco-uninstall-'));
  await writeFile(join(folder, 'kubeconfig'), sandbox.kubeconfig);
  traces = await hostState();
  before = await allObjects(client);
  await install();
});
afterAll(async () => {
  over.abort();
  await last?.catch(() => undefined);
  await admin?.[Symbol.asyncDispose]();
  await sandbox?.stop();
  await rm(folder, { recursive: true, force: true });
});

const hostState = () => Promise.all(sandbox.hosts.map(host => hostTraces(host, [])));
const place = () => ({ namespace: sandbox.namespace });

/** The objects of `wmco install`; the API server of the sandbox has no server-side apply. */
async function install(): Promise<void> {
  const options = {
    kind: 'kubernetes',
    namespace: sandbox.namespace,
    image: 'operator',
    hasAdmissionPolicies: false,
  } as const;
  for (const object of installManifests(options) as KubeResource[])
    await client.create(resourceOf(object), object).catch(unless(isAlreadyExists));
}

async function listHosts(): Promise<void> {
  const data = Object.fromEntries(sandbox.hosts.map(({ spec }) => [spec.address, `username=${spec.user}`]));
  await client.create(configMaps, { metadata: { name: 'windows-instances', ...place() }, data });
}

/** Runs the operator like the pods of its Deployment: it ends when that is deleted. */
async function runDeployment(): Promise<{ operator: SandboxOperator; ended: Promise<void> }> {
  const labels = { name: operatorName };
  const spec = { containers: [{ name: 'manager', image: 'operator' }] };
  await client.create(pods, { metadata: { name: 'operator', ...place(), labels }, spec });
  const operator = startOperator(sandbox);
  const isDeployed = async () => (await client.find(deployments, operatorName, place())) !== undefined;
  const ended = (async () => {
    while (!over.signal.aborted && (await isDeployed())) await systemClock.sleep(50);
    await operator.stop();
    await client.delete(pods, 'operator', { ...place(), gracePeriodSeconds: 0 });
  })();
  last = ended;
  return { operator, ended };
}

interface Uninstall {
  code: Promise<number>;
  text: () => string;
  errors: () => string;
  stop: () => void;
}

function uninstall(...words: string[]): Uninstall {
  const recorded = recordedTerminal(undefined, { KUBECONFIG: join(folder, 'kubeconfig') }, systemClock);
  const act = (rest: readonly string[]) => uninstallProgram(rest, { ...recorded, ask: undefined });
  const terminal = { ...recorded, stdin: () => Promise.resolve(''), runtime: '' };
  const code = main(['uninstall', ...words], terminal, [{ name: 'uninstall', summary: '', run: act }]);
  return { code, text: recorded.text, errors: recorded.errors, stop: recorded.stop };
}

/** Ends the backoff of failed hosts. */
async function retryAll(): Promise<void> {
  const body = { metadata: { annotations: { [instanceAnnotation.retry]: 'now' } } };
  for (const { metadata } of (await client.list(windowsInstances, place())).items)
    await client.patch(windowsInstances, metadata.name ?? '', { type: 'merge', body }, place());
}

const isReadyWindows = ({ metadata, status }: Node) =>
  metadata.labels?.['kubernetes.io/os'] === 'windows' && hasConditionStatus(status?.conditions, 'Ready', 'True');

/** Of the sandbox, which an administrator would have created for the operator. */
const preparedObjects = () => [
  'CustomResourceDefinition /windowsinstances.windowsmachineconfig.openshift.io',
  `Secret ${sandbox.namespace}/cloud-private-key`,
  `ServiceAccount ${sandbox.namespace}/windows-instance-config-daemon`,
];

/** Kinds in the table of what stays. */
async function leftoversOfPage(): Promise<string[]> {
  const page = await readFile(join(repositoryRoot, 'docs', 'removal.md'), 'utf8');
  const [, table = ''] = /^What stays in the cluster after `--remove-nodes`:\n\n([\s\S]*?)\n\n/m.exec(page) ?? [];
  return [...table.matchAll(/^\| (\w+) /gm)].map(match => match[1] ?? '');
}

test('the nodes stay Ready without the operator, and a new installation has them again', async () => {
  await listHosts();
  const { operator, ended } = await runDeployment();
  await operator.allReady(hostCount);
  const uids = (await operator.instances()).map(({ metadata }) => metadata.uid);
  const { code, text, errors } = uninstall('--yes');
  expect([await code, errors()]).toEqual([0, '']);
  await ended;
  expect(text()).toMatch(/^3 Windows nodes stay in service: /m);
  expect((await client.list(nodes)).items.filter(isReadyWindows)).toHaveLength(hostCount);

  await install();
  const again = await runDeployment();
  const instances = await again.operator.allReady(hostCount);
  expect(instances.map(({ metadata }) => metadata.uid)).toEqual(uids);
  // Continued by the next test.
  running = again;
});

let running: Awaited<ReturnType<typeof runDeployment>>;

test('--remove-nodes stops with the operator installed when a host cannot be removed', async () => {
  sandbox.host('win-2').change({ acceptsKey: false });
  const { code, errors } = uninstall('--remove-nodes', '--yes', '--timeout', '6s');
  expect(await code).toBe(1);
  expect(errors()).toMatch(
    /^error: UNINSTALL_UNFINISHED: \d hosts? not removed after 6\.0 s, so the operator stays installed: /,
  );
  expect(errors()).toContain('HOST_REFUSED_KEY');
  expect(await client.find(deployments, operatorName, place())).toBeDefined();
});

test('run again, it removes the last host, and nothing is left but what the page says', async () => {
  const stopped = uninstall('--remove-nodes', '--yes');
  await expect.poll(stopped.text).toMatch(/^First \d hosts? (is|are) removed/m);
  stopped.stop();
  expect(await stopped.code).toBe(1);
  expect(stopped.errors()).toBe('Stopped. What was requested goes on; run the command again to continue.\n');

  sandbox.host('win-2').change({ acceptsKey: true });
  await retryAll();

  const { code, text, errors } = uninstall('--remove-nodes', '--yes');
  expect([await code, errors()]).toEqual([0, '']);
  await running.ended;
  expect(text()).toMatch(/^Host \S+ is removed, (\d) of \1\.$/m);
  expect(text()).toMatch(/The operator is uninstalled\.\n$/);
  const left = (await allObjects(client)).filter(name => !before.includes(name));
  const kinds = await leftoversOfPage();
  expect(kinds.length).toBeGreaterThan(0);
  expect(left.filter(name => !kinds.includes(name.split(' ')[0] ?? ''))).toEqual([]);
  const after = await allObjects(client);
  expect(before.filter(name => !after.includes(name))).toEqual(preparedObjects());
  expect(await hostState()).toEqual(traces);
});
