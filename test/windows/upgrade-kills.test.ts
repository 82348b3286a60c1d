import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { activationService, agentName, nodeAnnotation, nodeLabel } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { nodes } from '../../src/kube/resources.ts';
import { until } from '../kit/until.ts';
import { AgentService } from '../kit/winhost/agent-service.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { seededRandom } from '../kit/winhost/interruption.ts';
import { openPrograms } from '../kit/winhost/open-programs.ts';
import { changedPrograms, type Release } from '../kit/winhost/releases.ts';
import { runsVersion, UpgradeScene } from '../kit/winhost/upgrade-scene.ts';

/** Operator and agents are killed again and again while hosts are upgraded. */

const seed = Number(process.env['UPGRADE_KILLS_SEED'] ?? 13);
/** Of each; 20 for a release. */
const times = Number(process.env['UPGRADE_KILLS'] ?? 3);
/** Wine keeps a service that died while it started in that state for ever. */
const startingMs = 5000;
let scene: UpgradeScene;

beforeAll(async () => {
  scene = await UpgradeScene.start(inject('agentProgram'), { soak: '1s' });
});
afterAll(() => scene?.[Symbol.asyncDispose]());

/** Kills so often after random times; the act gets the number of the kill. */
async function killOften(maxPauseMs: number, random: () => number, kill: (index: number) => Promise<unknown>) {
  for (let index = 1; index <= times; index += 1) {
    await delay(random() * maxPauseMs);
    await kill(index);
  }
}

/** Wine does not carry out the recovery of services: starts those again that crashed, until the signal. */
async function playRecovery(host: WindowsHost, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const name of [agentName, activationService]) {
      const { stdout } = await host.exec(`sc.exe query ${name}`);
      if (/: 1 +STOPPED/.test(stdout) && /WIN32_EXIT_CODE +: 1067/.test(stdout))
        await host.exec(`sc.exe start ${name}`);
    }
    await delay(1000, undefined, { signal }).catch(() => undefined);
  }
}

/** Kills all programs of the agent on a host as soon as there is one: its service, a swap of files, a command of the operator. */
async function killAgent(host: WindowsHost): Promise<void> {
  const agent = new AgentService(host);
  for (const endMs = performance.now() + 120_000; agent.kill(startingMs) === 0; await delay(50)) {
    if (performance.now() > endMs) throw new Error(`no agent runs on ${host.name}`);
  }
}

/** Kills the operator again and again; a new release follows when the hosts have the last one. Gives the last one. */
async function killOperators(releases: readonly [Release, Release]): Promise<Release> {
  let release = releases[0];
  let upgrades = 1;
  await scene.replaceOperator(release);
  await killOften(8000, seededRandom(seed), async () => {
    const states = await Promise.all(scene.hosts.map(host => scene.status(host)));
    if (states.every(runsVersion(release.version))) {
      release = release === releases[0] ? releases[1] : releases[0];
      upgrades += 1;
    }
    await scene.replaceOperator(release);
    // Before, it changes nothing.
    await scene.operator.waitForLog('Became the leader');
  });
  console.log(`seed ${seed}: the operator was killed ${times} times in ${upgrades} upgrades of both hosts`);
  return release;
}

/** As after an upgrade without kills. */
async function endsWith(host: WindowsHost, release: Release, other: Release): Promise<void> {
  const { upgrade, reboots } = await scene.status(host);
  expect([upgrade?.failed, upgrade?.rolledBack, reboots]).toEqual([undefined, undefined, undefined]);
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
  const boots = hosts.map(host => host.boots);
  const ending = new AbortController();
  const recovery = Promise.all(hosts.map(host => playRecovery(host, ending.signal)));
  const killAgents = killOften(5000, seededRandom(seed + 1), index => killAgent(hosts[index % 2 === 0 ? 0 : 1]));
  const [release] = await Promise.all([killOperators([one, two]), killAgents]);
  for (const host of hosts) await scene.until(host, runsVersion(release.version));
  ending.abort();
  await recovery;
  for (const host of hosts) await endsWith(host, release, release === one ? two : one);
  expect(hosts.map(host => host.boots)).toEqual(boots);
}, 1_800_000);
