import { patchedPrograms, type PayloadRelease } from '../src/bin/sandbox-factory.ts';
import { configMapName } from '../src/contract/names.ts';
import { configMaps } from '../src/kube/resources.ts';
import { payloadFor } from '../src/node/payload.ts';
import type { HostsFigures } from './join/hosts-process.ts';
import { demand } from './join/measure.ts';
import { machineLoad, Scene } from './join/scene.ts';
import type { Report } from './run.ts';
import { medianOf, Outages } from './outages.ts';
import { wholeNumber } from './whole-number.ts';

export const description = 'all hosts are upgraded, to a release of new programs and to a patch [MEGABYTES] [HOSTS]';

const usage = 'npm run bench -- upgrade 207 40';

const old: PayloadRelease = { version: '11.0.0-bench' };
const release: PayloadRelease = { version: '11.1.0-bench' };
const patch: PayloadRelease = { version: '11.1.1-bench', since: release.version };

/** The Go operator copies all programs while the node is out of service, one node after the other. */
const goSecondsPerNode = 70;
const budgetPercent = 10;

/** `npm run bench -- upgrade [MEGABYTES] [HOSTS]`; exit code 1 if a target is missed. */
export async function run(report: Report, [size = '207', count = '40']: readonly string[]): Promise<void> {
  const [payloadBytes, hosts] = [wholeNumber(size, usage) * 1_000_000, wholeNumber(count, usage)];
  machineLoad(report);
  await using scene = await Scene.open({ hosts, payloadBytes, releases: [old, release, patch] });
  await scene.startOperator(old);
  await scene.list();
  report(`${hosts} hosts joined`, await scene.untilReady(hosts), 's');
  await shortenSoak(scene);
  const programs = payloadFor('None').length;
  await measure(report, scene, { to: release, name: 'new programs', hosts, bytes: payloadBytes });
  // A release always has an agent of its own.
  const changedBytes = Math.ceil((payloadBytes * (patchedPrograms.length + 1)) / programs);
  await measure(report, scene, { to: patch, name: 'patch', hosts, bytes: changedBytes });
}

/** Without it the roll-out would mostly wait: two minutes for each group of nodes. */
async function shortenSoak({ client, ready }: Scene): Promise<void> {
  const { namespace } = ready;
  const data = { maxUnavailable: `${budgetPercent}%`, first: '1', soak: '1s' };
  await client.create(configMaps, { metadata: { name: configMapName.rollout, namespace }, data });
}

interface Upgrade {
  to: PayloadRelease;
  name: string;
  hosts: number;
  /** What each host has to receive. */
  bytes: number;
}

async function measure(report: Report, scene: Scene, { to, name, hosts, bytes }: Upgrade): Promise<void> {
  await scene.killOperator();
  const before = totals(await scene.hostFigures());
  await using outages = await Outages.watch(scene.client);
  const startMs = performance.now();
  await scene.startOperator(to);
  const isUpgraded = () =>
    scene.instances.every(({ status }) => status?.version === to.version && status.upgrade?.soaked !== undefined);
  await scene.until(isUpgraded, `all ${hosts} hosts run ${to.version}`);
  const seconds = (performance.now() - startMs) / 1000;
  const after = totals(await scene.hostFigures());
  const { seconds: out, most } = outages;
  const megabytes = (after.bytes - before.bytes) / hosts / 1e6;
  report(`${name}: all nodes (Go: ${goSecondsPerNode * hosts})`, seconds, 's');
  report(`${name}: node out of service, median (Go: ${goSecondsPerNode})`, medianOf(out), 's');
  report(`${name}: node out of service, worst`, Math.max(...out), 's');
  report(`${name}: nodes out of service at once, at most`, most, 'nodes');
  report(`${name}: received per host`, megabytes, 'MB');
  report(`${name}: commands per host`, (after.commands - before.commands) / hosts, 'sessions');
  report(`${name}: file transfers per host`, (after.transfers - before.transfers) / hosts, 'sessions');
  const { cpuSeconds, memoryBytes } = await scene.operatorFigures();
  report(`${name}: CPU of the operator`, cpuSeconds, 's');
  report(`${name}: memory of the operator, at most`, memoryBytes / 1e6, 'MB');
  demand(out.length === hosts, `${out.length} outages of ${hosts} nodes`);
  const allowed = Math.max(1, Math.floor((hosts * budgetPercent) / 100));
  demand(most <= allowed, `${most} nodes were out of service at once, ${allowed} were allowed`);
  demand(megabytes * 1e6 <= bytes + 1_000_000, `${name}: a host received more than ${bytes / 1e6} MB`);
}

function totals({ hosts }: HostsFigures): { bytes: number; commands: number; transfers: number } {
  const seen = Object.values(hosts);
  const sum = (pick: (one: (typeof seen)[number]) => number) => seen.reduce((all, one) => all + pick(one), 0);
  return {
    bytes: sum(({ uploadedBytes }) => uploadedBytes),
    commands: sum(({ execSessions }) => execSessions),
    transfers: sum(({ sftpSessions }) => sftpSessions),
  };
}
