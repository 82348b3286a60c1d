import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasConditionStatus } from '../../src/base/condition.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { PayloadRelease } from '../../src/bin/sandbox-factory.ts';
import { resourceOf } from '../../src/cli/install/kinds.ts';
import { main } from '../../src/cli/main.ts';
import { checkUpgradeProgram } from '../../src/cli/check/upgrade/program.ts';
import { uninstallProgram } from '../../src/cli/uninstall/program.ts';
import type { WindowsInstance } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, nodeLabel, signer } from '../../src/contract/names.ts';
import { installManifests } from '../../src/install/manifests.ts';
import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import { certificateSigningRequests, configMaps, events, nodes } from '../../src/kube/resources.ts';
import { offsetClock } from '../../src/sandbox/machines/clocks.ts';
import { bootIdOf } from '../../src/sandbox/machines/host/state.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../kit/fast-clock.ts';
import { setOf } from '../kit/host-set.ts';
import { SandboxInstallation } from '../kit/sandbox-install.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { recordService } from '../kit/service-history.ts';
import { recordedTerminal } from '../kit/status-views.ts';
import { startSteadyWorkload } from '../kit/steady-workload.ts';

/** From one EUS release to the next: two minor versions of the API server while no operator is installed. */

const timeout = 300_000;
const patient = { timeout: 120_000, interval: 100 };
const hostCount = 3;
const speed = 30;
const dayMs = 24 * 3_600_000;
const namespace = 'shop';
const replicas = 6;
const minAvailable = 4;

const former: PayloadRelease = { version: '11.0.0-a', kubeletVersion: 'v1.36.2' };
const next: PayloadRelease = { version: '13.0.0-b', kubeletVersion: 'v1.38.1' };
const rollout = { paused: 'false', first: '1', soak: '1s' };
const lease = { leaseDurationMs: 3e6, renewDeadlineMs: 2e6, retryPeriodMs: 2000 };

interface Story {
  about: string;
  kind: 'openshift' | 'kubernetes';
  /** How long no operator is installed. */
  gapMs: number;
  install: (scene: Scene) => Promise<void>;
  uninstall: (scene: Scene) => Promise<void>;
  /** What `wmco check upgrade` says without the operator. */
  between: RegExp;
  /** Waits for what happens meanwhile. */
  afterGap?: (scene: Scene) => Promise<void>;
  /** Reasons of events of the second operator. */
  events: string[];
}

interface Scene {
  sandbox: Sandbox;
  client: Client;
  installation: SandboxInstallation;
  /** A command of `wmco`. */
  run: (...words: string[]) => Promise<{ code: number; text: string; errors: string }>;
}

const stories: Story[] = [
  {
    about: 'wmco uninstall and a new installation, three days later',
    kind: 'kubernetes',
    gapMs: 3 * dayMs,
    install: async ({ sandbox, client, installation }) => {
      const manifests = installManifests({
        kind: 'kubernetes',
        namespace: sandbox.namespace,
        image: 'operator',
        hasAdmissionPolicies: false,
      }) as KubeResource[];
      for (const object of manifests) await client.create(resourceOf(object), object).catch(unless(isAlreadyExists));
      await installation.listHosts();
    },
    uninstall: async ({ run }) => {
      const { code, text, errors } = await run('uninstall', '--yes');
      expect([code, errors]).toEqual([0, '']);
      expect(text).toMatch(/^3 Windows nodes stay in service: /m);
    },
    between: /^ {2}-- {3}operator {2}operator 11\.0\.0-a does not run/m,
    events: ['AgentReconnected', 'InstanceUpgraded'],
  },
  {
    about: 'operator, permissions, CRD and namespace deleted, and a new installation, 300 days later',
    kind: 'openshift',
    gapMs: 300 * dayMs,
    install: async ({ installation }) => {
      await installation.install();
      await installation.listHosts();
    },
    uninstall: async ({ installation }) => {
      await installation.deletePermissions();
      await installation.deleteCrd();
      await installation.deleteNamespace();
    },
    between: /^ {2}-- {3}operator {2}none is installed/m,
    // Serving certificates of a year are to be renewed, and nobody approves that.
    afterGap: ({ client }) => expect.poll(async () => (await undecided(client)).length, patient).toBe(hostCount),
    events: ['InstanceAdopted', 'AgentReconnected', 'InstanceUpgraded'],
  },
];

const bootsOf = ({ sandbox }: Scene) => sandbox.hosts.map(({ state }) => bootIdOf(state));

async function denied(client: Client): Promise<string[]> {
  const { items } = await client.list(certificateSigningRequests);
  const refused = items.filter(({ status }) => hasConditionStatus(status?.conditions, 'Denied', 'True'));
  return refused.map(({ metadata }) => metadata.name ?? '');
}

/** Names of requests for serving certificates that nobody has decided on. */
async function undecided(client: Client): Promise<string[]> {
  const { items } = await client.list(certificateSigningRequests);
  const open = items.filter(({ spec, status }) => spec.signerName === signer.kubeletServing && !status?.conditions);
  return open.map(({ metadata }) => metadata.name ?? '');
}

async function windowsNodes({ client }: Scene) {
  const { items } = await client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
  return items.map(({ metadata, status }) => ({
    name: metadata.name,
    uid: metadata.uid,
    kubelet: (status as { nodeInfo?: { kubeletVersion?: string } }).nodeInfo?.kubeletVersion,
  }));
}

const isUpgraded = ({ status }: WindowsInstance) =>
  status?.phase === 'Ready' && status.version === next.version && status.upgrade?.soaked !== undefined;

for (const story of stories) {
  test(`EUS: the workload is never down from v1.36 to v1.38: ${story.about}`, { timeout }, async () => {
    let offsetMs = 0;
    const clock = offsetClock(fastClock(speed), () => offsetMs);
    const scene = await setUp({ kind: story.kind, clock });
    const { sandbox, client, run } = scene;
    const operatorOf = (release: PayloadRelease): SandboxOperator => {
      const settings = { lease, kubeletVersion: release.kubeletVersion ?? '' };
      return startOperator(sandbox, { payloadBytes: 600_000, release, clock, settings });
    };
    await story.install(scene);
    await setRollout(scene);
    const nodesBefore = await (async () => {
      await using operator = operatorOf(former);
      await operator.allReady(hostCount);
      await expect.poll(() => run('check', 'upgrade', '--to', 'v1.38'), patient).toMatchObject({ code: 0, errors: '' });
      return windowsNodes(scene);
    })();
    expect(nodesBefore.map(({ kubelet }) => kubelet)).toEqual(['v1.36.2', 'v1.36.2', 'v1.36.2']);
    await using workload = await startSteadyWorkload(client, { namespace, replicas, minAvailable });
    await using history = await recordService(client, namespace);
    await workload.complete();
    const bootsBefore = bootsOf(scene);

    await story.uninstall(scene);
    {
      await using early = operatorOf(next);
      await expect.poll(() => early.failure, patient).toMatchObject({ code: 'SERVER_VERSION_UNSUPPORTED' });
    }
    await upgradeServer(scene, 'v1.37.3');
    const between = await run('check', 'upgrade', '--to', 'v1.38');
    expect([between.code, between.errors]).toEqual([0, '']);
    expect(between.text).toMatch(story.between);
    await upgradeServer(scene, 'v1.38.1');
    offsetMs += story.gapMs;
    await story.afterGap?.(scene);
    expect(await windowsNodes(scene)).toEqual(nodesBefore);
    expect(history.figures(replicas)).toMatchObject({ fewestReady: replicas, mostOut: 0 });

    await story.install(scene);
    await setRollout(scene);
    await using operator = operatorOf(next);
    await expect.poll(() => run('check', 'upgrade'), patient).toMatchObject({ code: 1 });
    const upgraded = async () => (await operator.instances()).filter(isUpgraded).length;
    await expect.poll(upgraded, patient).toBe(hostCount);
    await workload.complete();

    expect(await windowsNodes(scene)).toEqual(nodesBefore.map(node => ({ ...node, kubelet: 'v1.38.1' })));
    expect(bootsOf(scene)).toEqual(bootsBefore);
    for (const host of sandbox.hosts) expect(await setOf(host)).toMatchObject({ runs: next.version, wrong: [] });
    for (const { status } of await operator.instances())
      expect(Date.parse(status?.agent?.certificateEnds ?? '')).toBeGreaterThan(clock.now());
    await expect.poll(() => undecided(client), patient).toEqual([]);
    expect(await denied(client)).toEqual([]);
    const { items } = await client.list(events, { namespace: sandbox.namespace });
    expect(items.map(({ reason }) => reason)).toEqual(expect.arrayContaining(story.events));
    const figures = history.figures(replicas);
    expect(workload.errors).toEqual([]);
    expect(figures.changes).toBeGreaterThan(hostCount * 10);
    expect(figures.fewestReady).toBeGreaterThanOrEqual(minAvailable);
    expect(figures.mostOut).toBe(1);
    // A reconnect drains nothing: each Node is out of service once, for its upgrade.
    expect(figures.cordons).toEqual(Object.fromEntries(nodesBefore.map(({ name = '' }) => [name, 1])));
    await expect.poll(() => run('check', 'upgrade', '--to', 'v1.40'), patient).toMatchObject({ code: 0, errors: '' });
  });
}

async function setUp(options: SandboxOptions): Promise<Scene> {
  const sandbox = await startSandbox({
    hosts: hostCount,
    listsHosts: false,
    speed: 2,
    serverVersion: 'v1.36.4',
    ...options,
  });
  onTestFinished(() => sandbox.stop());
  const administrator = administratorOf(sandbox);
  onTestFinished(() => administrator[Symbol.asyncDispose]());
  const { client } = administrator;
  const folder = await mkdtemp(join(tmpdir(), 'wmco-eus-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'kubeconfig'), sandbox.kubeconfig, { mode: 0o600 });
  const [host = sandbox.host('win-1')] = sandbox.hosts;
  const installation = new SandboxInstallation(sandbox, client, sandbox.hosts, host);
  const run: Scene['run'] = async (...words) => {
    const terminal = recordedTerminal(undefined, { KUBECONFIG: join(folder, 'kubeconfig') }, systemClock);
    const uninstall = (rest: readonly string[]) => uninstallProgram(rest, { ...terminal, ask: undefined });
    const plain = { ...terminal, stdin: () => Promise.resolve(''), runtime: '' };
    const check = (rest: readonly string[]) => checkUpgradeProgram(rest, terminal);
    const code = await main(words, plain, [
      { name: 'uninstall', summary: '', run: uninstall },
      { name: 'upgrade', group: 'check', summary: '', run: check },
    ]);
    return { code, text: terminal.text(), errors: terminal.errors() };
  };
  return { sandbox, client, installation, run };
}

/** A call that was under way fails, as with a real server; clients connect again. */
async function upgradeServer({ sandbox, client }: Scene, version: string): Promise<void> {
  sandbox.upgradeServer(version);
  const answer = () => client.raw<{ gitVersion: string }>('GET', '/version').catch(() => undefined);
  await expect.poll(answer, patient).toMatchObject({ gitVersion: version });
}

async function setRollout({ sandbox, client }: Scene): Promise<void> {
  const metadata = { name: configMapName.rollout, namespace: sandbox.namespace };
  const made = await client.create(configMaps, { metadata, data: rollout }).catch(unless(isAlreadyExists));
  if (made === undefined)
    await client.patch(configMaps, metadata.name, { type: 'merge', body: { data: rollout } }, metadata);
}
