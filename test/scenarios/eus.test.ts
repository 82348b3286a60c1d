import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { PayloadRelease } from '../../src/bin/sandbox-factory.ts';
import { resourceOf } from '../../src/cli/install/kinds.ts';
import { main } from '../../src/cli/main.ts';
import { uninstallProgram } from '../../src/cli/uninstall/program.ts';
import type { WindowsInstance } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, nodeLabel } from '../../src/contract/names.ts';
import { installManifests } from '../../src/install/manifests.ts';
import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import { configMaps, events, nodes } from '../../src/kube/resources.ts';
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
  },
];

const byHost = ({ sandbox }: Scene) => Object.fromEntries(sandbox.hosts.map(host => [host.spec.name, bootIdOf(host.state)]));

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
    const { sandbox, client } = scene;
    const operatorOf = (release: PayloadRelease): SandboxOperator => {
      const settings = { lease, kubeletVersion: release.kubeletVersion ?? '' };
      const operator = startOperator(sandbox, { payloadBytes: 600_000, release, clock, settings });
      
      return operator;
    };
    await story.install(scene);
    await setRollout(scene);
    const first = operatorOf(former);
    await first.allReady(hostCount);
    const workload = await startSteadyWorkload(client, { namespace, replicas, minAvailable });
    onTestFinished(() => workload[Symbol.asyncDispose]());
    const history = await recordService(client, namespace);
    onTestFinished(() => history[Symbol.asyncDispose]());
    await workload.complete();
    const [nodesBefore, bootsBefore] = [await windowsNodes(scene), byHost(scene)];
    expect(nodesBefore.map(({ kubelet }) => kubelet)).toEqual(['v1.36.2', 'v1.36.2', 'v1.36.2']);

    await first.stop();
    await story.uninstall(scene);
    sandbox.upgradeServer('v1.37.3');
    offsetMs += story.gapMs;
    sandbox.upgradeServer('v1.38.1');
    await systemClock.sleep(500);
    expect(await windowsNodes(scene)).toEqual(nodesBefore);

    await story.install(scene);
    await setRollout(scene);
    const second = operatorOf(next);
    const upgraded = async () => (await second.instances()).filter(isUpgraded).length;
    await expect.poll(upgraded, { timeout: 40_000, interval: 100 }).toBe(hostCount).catch(async e => { console.log(JSON.stringify((await second.instances()).map(i=>i.status), undefined, 1)); console.log(second.lines.slice(-60).join('')); throw e; });
    await workload.complete();

    const after = await windowsNodes(scene);
    expect(after).toEqual(nodesBefore.map(node => ({ ...node, kubelet: 'v1.38.1' })));
    expect(byHost(scene)).toEqual(bootsBefore);
    for (const host of sandbox.hosts) expect(await setOf(host)).toMatchObject({ runs: next.version, wrong: [] });
    for (const { status } of await second.instances())
      expect(Date.parse(status?.agent?.certificateEnds ?? '')).toBeGreaterThan(clock.now());
    const figures = history.figures(replicas);
    console.log(figures);
    const { items } = await client.list(events, { namespace: sandbox.namespace });
    console.log(items.map(({ reason, message }) => `${reason} ${message}`));
    expect(workload.errors).toEqual([]);
    expect(figures.fewestReady).toBeGreaterThanOrEqual(minAvailable);
    expect(figures.mostOut).toBe(1);
    expect(figures.cordons).toEqual(Object.fromEntries(nodesBefore.map(({ name = '' }) => [name, 1])));
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
    const code = await main(words, plain, [{ name: 'uninstall', summary: '', run: uninstall }]);
    return { code, text: terminal.text(), errors: terminal.errors() };
  };
  return { sandbox, client, installation, run };
}

async function setRollout({ sandbox, client }: Scene): Promise<void> {
  const metadata = { name: configMapName.rollout, namespace: sandbox.namespace };
  const made = await client.create(configMaps, { metadata, data: rollout }).catch(unless(isAlreadyExists));
  if (made === undefined)
    await client.patch(configMaps, metadata.name, { type: 'merge', body: { data: rollout } }, metadata);
}
