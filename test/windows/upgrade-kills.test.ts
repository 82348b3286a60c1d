import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { activationService, nodeAnnotation, nodeLabel } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { nodes } from '../../src/kube/resources.ts';
import { until } from '../kit/until.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { seededRandom } from '../kit/winhost/interruption.ts';
import { KilledAgent } from '../kit/winhost/killed-agent.ts';
import { openPrograms } from '../kit/winhost/open-programs.ts';
import { changedPrograms, type Release } from '../kit/winhost/releases.ts';
import { runsVersion, UpgradeScene } from '../kit/winhost/upgrade-scene.ts';

/** Operator and agents are killed again and again while hosts are upgraded. */

const seed = Number(process.env['UPGRADE_KILLS_SEED'] ?? 13);
/** Of each. */
const times = Number(process.env['UPGRADE_KILLS'] ?? 20);
/** In which the operator is killed, however fast the machine is; the longest more often. */
const steps = ['connect', 'inventory', 'stage next', 'cordon', 'activate', 'activate', 'wait for agent', 'uncordon'];
const maxPauseMs = 4000;
const limitMs = 600_000;
let scene: UpgradeScene;

beforeAll(async () => {
  scene = await UpgradeScene.start(inject('agentProgram'), { soak: '1s' });
});
afterAll(() => scene?.[Symbol.asyncDispose]());

/** Waits until the operator has begun a step, or the hosts have its version, and for some time more. */
async function untilAmid(step: string, release: Release, pauseMs: number): Promise<void> {
  const isReached = async () => scene.operator.log.includes(`"step":"${step}"`) || (await haveVersion(release));
  await expect
    .poll(isReached, { timeout: limitMs, interval: 200 })
    .toBe(true)
    .catch(async (error: unknown) => {
      const states = await Promise.all(scene.hosts.map(host => scene.status(host)));
      console.log(`not amid ${step} of ${release.version}`, scene.operator.log.slice(-3000), JSON.stringify(states));
      throw error;
    });
  await delay(pauseMs);
}

async function haveVersion({ version }: Release): Promise<boolean> {
  const states = await Promise.all(scene.hosts.map(host => scene.status(host)));
  return states.every(runsVersion(version));
}

/** Kills operator and agents in turn; another release follows when the hosts have the last one. Gives the last one. */
async function killAll(releases: readonly [Release, Release], agents: readonly KilledAgent[]): Promise<Release> {
  const random = seededRandom(seed);
  let release = releases[0];
  let upgrades = 1;
  await scene.replaceOperator(release);
  for (let kills = 1; kills <= times; kills += 1) {
    const [agent, step = ''] = [agents[kills % agents.length], steps[Math.floor(random() * steps.length)]];
    const agentKilled = delay(random() * maxPauseMs).then(() => agent?.kill());
    await Promise.all([untilAmid(step, release, random() * maxPauseMs), agentKilled]);
    if (await haveVersion(release)) {
      release = release === releases[0] ? releases[1] : releases[0];
      upgrades += 1;
    }
    await scene.replaceOperator(release);
  }
  console.log(`seed ${seed}: ${times} kills of operator and agents each, in ${upgrades} upgrades of both hosts`);
  return release;
}

/** As after an upgrade without kills. */
async function endsWith(host: WindowsHost, release: Release, other: Release): Promise<void> {
  const { upgrade } = await scene.status(host);
  expect([upgrade?.failed, upgrade?.rolledBack]).toEqual([undefined, undefined]);
  const wrong = new Map([...changedPrograms(other, release), ...changedPrograms(scene.real.release, release)]);
  expect(openPrograms(host).filter(({ sha256 }) => wrong.has(sha256))).toEqual([]);
  expect(JSON.parse(await host.run(`${file.agent} activation -o json`))).toMatchObject({ version: release.version });
  const { metadata, spec } = await scene.real.admin.get(nodes, host.name);
  expect(metadata.annotations?.[nodeAnnotation.version]).toBe(release.version);
  expect([spec?.unschedulable ?? false, metadata.labels?.[nodeLabel.upgrading]]).toEqual([false, undefined]);
  await until(async () => (await host.exec(`sc.exe query ${activationService}`)).code !== 0);
}

test(`UPG: ${times} kills of the operator and of agents do not change where upgrades end`, async () => {
  const { real, hosts } = scene;
  const make = (version: string) => real.makeRelease({ version, behavior: 'works' });
  const [one, two] = [await make('11.1.0-def5678'), await make('11.2.0-fed8765')];
  const reboots = () => Promise.all(hosts.map(async host => [host.boots, (await scene.status(host)).reboots]));
  const before = await reboots();
  const ending = new AbortController();
  const agents = hosts.map(host => new KilledAgent(host));
  const recovery = Promise.all(agents.map(agent => agent.recover(ending.signal)));
  const release = await killAll([one, two], agents);
  for (const host of hosts) await scene.until(host, runsVersion(release.version));
  ending.abort();
  await recovery;
  for (const host of hosts) await endsWith(host, release, release === one ? two : one);
  expect(await reboots()).toEqual(before);
}, 1_800_000);
