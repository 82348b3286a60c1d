import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { hasConditionStatus } from '../../src/base/condition.ts';
import { nodeAnnotation, nodeLabel } from '../../src/contract/names.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import { nodes } from '../../src/kube/resources.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { openPrograms } from '../kit/winhost/open-programs.ts';
import { changedPrograms, type NewRelease, type Release } from '../kit/winhost/releases.ts';
import { type HostStatus, UpgradeScene } from '../kit/winhost/upgrade-scene.ts';

/** LATE_MS=180000 for three minutes; the node soaks for ten. */
const lateMs = Number(process.env['LATE_MS'] ?? 60_000);

/** New releases that do not work, each with two hosts of its own and the default settings of the roll-out. */
const cases: NewRelease[] = [
  { version: '11.1.0-bad0001', behavior: 'kubelet fails' },
  { version: '11.1.0-bad0002', behavior: 'agent fails' },
  { version: '11.1.0-bad0003', behavior: 'kubelet fails later', failsAfterMs: lateMs },
];
/** How long the other host is watched afterwards: it would follow at once. */
const watchMs = 10_000;
/** Also for three minutes and on a busy machine. */
const limitMs = 480_000;

for (const wanted of cases) {
  const title = `UPG: ${wanted.behavior}: one node goes back by itself, and no other follows`;
  test.concurrent(title, () => rollsBack(wanted), 800_000);
}

async function rollsBack(wanted: NewRelease): Promise<void> {
  await using scene = await UpgradeScene.start(inject('agentProgram'));
  const release = await scene.real.makeRelease(wanted);
  await scene.replaceOperator(release);
  const first = await scene.untilAny(wentBack, limitMs);
  const [other = first] = scene.hosts.filter(host => host !== first);
  console.log(`${wanted.behavior}: ${timesOf(await scene.status(first))}`);
  await runsFormer(scene, first, release);
  await delay(watchMs);
  const { version, phase, upgrade } = await scene.status(other);
  expect([version, phase, upgrade?.activated]).toEqual([scene.real.version, 'Ready', undefined]);
  await runsFormer(scene, other, release);
}

/** It is Ready with its former version, and its condition says why. */
function wentBack({ phase, upgrade, conditions }: HostStatus): boolean {
  const isShown = hasConditionStatus(conditions, instanceCondition.rolledBack, 'True');
  return phase === 'Ready' && upgrade?.rolledBack !== undefined && isShown;
}

function timesOf({ upgrade }: HostStatus): string {
  const { activated = '', ready, failed, rolledBack = '' } = upgrade ?? {};
  const after = (time: string) => `${Math.round((Date.parse(time) - Date.parse(activated)) / 1000)} s`;
  const lines = [
    ...(ready === undefined ? [] : [`in service ${after(ready)} after its swap began`]),
    `failed after ${after(failed?.at ?? '')} (${failed?.code}: ${failed?.message})`,
    `back after ${after(rolledBack)}`,
  ];
  return lines.join(', ');
}

/** Nothing of the new release runs, and its Node is in service. */
async function runsFormer(scene: UpgradeScene, host: WindowsHost, release: Release): Promise<void> {
  const tried = changedPrograms(release, scene.real.release);
  expect(openPrograms(host).filter(({ sha256 }) => tried.has(sha256))).toEqual([]);
  const { metadata, spec, status } = await scene.real.admin.get(nodes, host.name);
  expect(metadata.annotations?.[nodeAnnotation.version]).toBe(scene.real.version);
  expect([spec?.unschedulable ?? false, metadata.labels?.[nodeLabel.upgrading]]).toEqual([false, undefined]);
  expect(hasConditionStatus(status?.conditions, 'Ready', 'True')).toBe(true);
}
