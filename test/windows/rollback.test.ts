import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { hasConditionStatus } from '../../src/base/condition.ts';
import { nodeAnnotation, nodeLabel } from '../../src/contract/names.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import { nodes } from '../../src/kube/resources.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { openPrograms } from '../kit/winhost/open-programs.ts';
import { changedPrograms, type NewRelease, type Release } from '../kit/winhost/releases.ts';
import { type HostStatus, UpgradeScene } from '../kit/winhost/upgrade-scene.ts';

/** New releases that do not work, installed one after the other with the default settings of the roll-out. */
const releases: NewRelease[] = [
  { version: '11.1.0-bad0001', behavior: 'kubelet fails' },
  { version: '11.1.0-bad0002', behavior: 'agent fails' },
  { version: '11.1.0-bad0003', behavior: 'kubelet fails later' },
];
/** How long the other host is watched afterwards: it would follow at once. */
const watchMs = 10_000;
let scene: UpgradeScene;

beforeAll(async () => {
  scene = await UpgradeScene.start(inject('agentProgram'));
});
afterAll(() => scene?.[Symbol.asyncDispose]());

for (const wanted of releases) {
  test(`UPG: ${wanted.behavior}: one node goes back by itself, and no other follows`, async () => {
    const release = await scene.real.makeRelease(wanted);
    await scene.replaceOperator(release);
    const first = await scene.untilAny(wentBack(release));
    const [other = first] = scene.hosts.filter(host => host !== first);
    console.log(`${wanted.behavior}: ${timesOf(await scene.status(first))}`);
    await runsFormer(first, release);
    await delay(watchMs);
    const { version, phase, upgrade } = await scene.status(other);
    const isTried = upgrade?.to === release.version && upgrade.activated !== undefined;
    expect([version, phase, isTried]).toEqual([scene.real.version, 'Ready', false]);
    await runsFormer(other, release);
  }, 1_200_000);
}

/** It is Ready with its former version, and its condition says why. */
const wentBack =
  ({ version }: Release) =>
  ({ phase, upgrade, conditions }: HostStatus): boolean => {
    const isShown = hasConditionStatus(conditions, instanceCondition.rolledBack, 'True');
    return phase === 'Ready' && upgrade?.to === version && upgrade.rolledBack !== undefined && isShown;
  };

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
async function runsFormer(host: WindowsHost, release: Release): Promise<void> {
  const tried = changedPrograms(release, scene.real.release);
  expect(openPrograms(host).filter(({ sha256 }) => tried.has(sha256))).toEqual([]);
  const { metadata, spec, status } = await scene.real.admin.get(nodes, host.name);
  expect(metadata.annotations?.[nodeAnnotation.version]).toBe(scene.real.version);
  expect([spec?.unschedulable ?? false, metadata.labels?.[nodeLabel.upgrading]]).toEqual([false, undefined]);
  expect(hasConditionStatus(status?.conditions, 'Ready', 'True')).toBe(true);
}
