import { setTimeout as delay } from 'node:timers/promises';
import { imageDigestMirrorSets } from '../src/kube/resources-openshift.ts';
import type { KubeResource } from '../src/kube/resource.ts';
import type { HostState } from './join/hosts-process.ts';
import { demand } from './join/measure.ts';
import { machineLoad, Scene } from './join/scene.ts';
import type { Report } from './run.ts';
import { wholeNumber } from './whole-number.ts';

export const description =
  'a mirror set is created, changed and deleted while a tenth of the hosts is off [HOSTS] [IDLE SECONDS]';

const usage = 'npm run bench -- refresh 100 600';
const name = 'bench';
/** The Go operator writes to one node after the other, and stops at one that does not answer. */
const goSecondsPerNode = 1.2;
/** For hosts that are on. */
const [mostSeconds, mostHosts] = [10, 100];
const mostMegabytes = 300;

/** `npm run bench -- refresh [HOSTS] [IDLE SECONDS]`; exit code 1 if a target is missed. */
export async function run(report: Report, [count = '100', idle = '30']: readonly string[]): Promise<void> {
  const [hosts, idleSeconds] = [wholeNumber(count, usage), wholeNumber(idle, usage)];
  machineLoad(report);
  await using scene = await Scene.open({ hosts, payloadBytes: 2_000_000 });
  await scene.startOperator();
  await scene.list();
  report(`${hosts} hosts joined`, await scene.untilReady(hosts), 's');
  const off = (await names(scene)).slice(0, Math.floor(hosts / 10));
  await scene.change({ off });
  const on = hosts - off.length;
  const before = await scene.hostFigures();
  await measure(report, scene, { on, what: 'created', act: () => create(scene, 'one.example.com') });
  await measure(report, scene, { on, what: 'changed', act: () => change(scene, 'two.example.com') });
  await checkPids(scene, before.states);
  const startMs = performance.now();
  await scene.change({ off: [] });
  await scene.until(async () => (await having(scene, 'two.example.com')) === hosts, 'the others have it, too');
  report(`${off.length} hosts that were off, after their power is on`, (performance.now() - startMs) / 1000, 's');
  await measure(report, scene, { on: hosts, what: 'deleted', act: () => remove(scene) });
  await measureIdle(report, scene, idleSeconds);
}

interface Change {
  /** Hosts that can get it. */
  on: number;
  what: string;
  /** Returns a part of the text that `hosts.toml` has afterwards; '' for no file. */
  act: () => Promise<string>;
}

async function measure(report: Report, scene: Scene, { on, what, act }: Change): Promise<void> {
  await scene.operatorFigures('phase');
  const before = await scene.operatorFigures();
  const startMs = performance.now();
  const text = await act();
  await scene.until(async () => (await having(scene, text)) >= on, `${on} hosts have the mirror set ${what}`);
  const seconds = (performance.now() - startMs) / 1000;
  const after = await scene.operatorFigures();
  report(`${what}: ${on} hosts (Go: ${(on * goSecondsPerNode).toFixed(0)}, or never with one dead host)`, seconds, 's');
  report(`${what}: longest stall, its own work only`, after.busiestStallMs, 'ms');
  report(`${what}: CPU of the operator`, after.cpuSeconds - before.cpuSeconds, 's');
  report(`${what}: memory of the operator, at most`, after.memoryBytes / 1e6, 'MB');
  if (on <= mostHosts) demand(seconds <= mostSeconds, `${what}: ${on} hosts took ${seconds.toFixed(1)} s`);
  demand(after.memoryBytes / 1e6 <= mostMegabytes, `the operator took ${(after.memoryBytes / 1e6).toFixed(0)} MB`);
}

/** How many hosts have a mirror file with this text; '' for hosts without a file. */
async function having(scene: Scene, text: string): Promise<number> {
  const { states } = await scene.hostFigures();
  const has = ({ mirrors }: HostState) => {
    const texts = Object.values(mirrors);
    return text === '' ? texts.length === 0 : texts.some(each => each.includes(text));
  };
  return Object.values(states).filter(has).length;
}

async function names(scene: Scene): Promise<string[]> {
  return Object.keys((await scene.hostFigures()).states);
}

/** Nothing was restarted on hosts that stayed on. */
async function checkPids(scene: Scene, before: Readonly<Record<string, HostState>>): Promise<void> {
  const { states } = await scene.hostFigures();
  for (const [host, { isOn, pids }] of Object.entries(states))
    demand(!isOn || JSON.stringify(pids) === JSON.stringify(before[host]?.pids), `services of ${host} were restarted`);
}

/** The hosts that were off may still be busy for a while. */
async function measureIdle(report: Report, scene: Scene, seconds: number): Promise<void> {
  const isSettled = () => scene.instances.every(({ status }) => status?.phase === 'Ready');
  await scene.until(isSettled, 'all hosts are at rest');
  await delay(5000);
  const [before, { writes: written }] = [await scene.operatorFigures(), await scene.hostFigures()];
  await delay(seconds * 1000);
  const [after, { writes }] = [await scene.operatorFigures(), await scene.hostFigures()];
  const more = Object.entries(writes).filter(([write, count]) => count !== written[write]);
  report(`idle ${seconds} s: SSH connections`, after.sshConnections - before.sshConnections, '');
  report(`idle ${seconds} s: CPU of the operator`, after.cpuSeconds - before.cpuSeconds, 's');
  report(`idle ${seconds} s: kinds of writes but Leases, of operator and agents`, more.length, '');
  demand(after.sshConnections === before.sshConnections, 'an idle operator connected to hosts');
  demand(more.length === 0, `operator or agents wrote: ${more.map(([write]) => write).join(', ')}`);
}

async function create({ client }: Scene, mirror: string): Promise<string> {
  await client.create(imageDigestMirrorSets, mirrorSet(mirror));
  return mirror;
}

async function change({ client }: Scene, mirror: string): Promise<string> {
  const { spec } = mirrorSet(mirror);
  await client.patch(imageDigestMirrorSets, name, { type: 'merge', body: { spec } });
  return mirror;
}

async function remove({ client }: Scene): Promise<string> {
  await client.delete(imageDigestMirrorSets, name);
  return '';
}

function mirrorSet(mirror: string): KubeResource & { spec: object } {
  const entry = { source: 'registry.example.com/team', mirrors: [`${mirror}/team`] };
  return { metadata: { name }, spec: { imageDigestMirrors: [entry] } };
}
