import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { managedDescription, nodeAnnotation, nodeLabel } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { nodes } from '../../src/kube/resources.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { openPrograms } from '../kit/winhost/open-programs.ts';
import { stepMs, watchOutages } from '../kit/winhost/outage.ts';
import { changedPrograms } from '../kit/winhost/releases.ts';
import { runsVersion, UpgradeScene } from '../kit/winhost/upgrade-scene.ts';
import { startWorkload, type Workload } from '../kit/winhost/workload.ts';

/** Two hosts with a workload, upgraded by a new release of the operator. */

let scene: UpgradeScene;
let workload: Workload;
/** Between cordon and uncordon, without the drain; printed only, because other tests may keep the machine busy. */
const targetMs = 30_000;

beforeAll(async () => {
  // So that the second host is upgraded soon after the first.
  scene = await UpgradeScene.start(inject('agentProgram'), { soak: '5s' });
  const { admin, cluster } = scene.real;
  workload = await startWorkload(admin, { minor: cluster.cluster.minor, namespace: 'shop', replicas: 2 });
  await workload.complete();
});
afterAll(async () => {
  await workload?.[Symbol.asyncDispose]();
  await scene?.[Symbol.asyncDispose]();
});

/** A service as of a version, which the next one does not have, and one of an administrator. */
async function addServices(host: WindowsHost): Promise<void> {
  for (const name of ['former', 'admins']) {
    const program = `C:\\lab\\${name}.exe`;
    await host.install('service.exe', program);
    await host.run(`sc create ${name} binPath= "${program}"`);
    await host.run(`sc start ${name}`);
  }
  await host.run(`sc description former "${managedDescription('former')}"`);
}

test('UPG: one node at a time gets the new programs, with seconds out of service, and keeps the former ones', async () => {
  const { real, hosts } = scene;
  const release = await real.makeRelease({ version: '11.1.0-def5678', behavior: 'works' });
  const former = changedPrograms(real.release, release);
  for (const host of hosts) await addServices(host);
  await using watch = watchOutages(real.admin);
  await scene.replaceOperator(release);
  for (const host of hosts) await scene.until(host, runsVersion(release.version));
  for (const host of hosts) {
    const outage = watch.outages.find(({ node }) => node === host.name);
    const drainMs = await stepMs(real, host.address, 'drain');
    const restMs = (outage?.uncordonedMs ?? NaN) - (outage?.cordonedMs ?? NaN) - drainMs;
    const swapMs = await stepMs(real, host.address, 'activate');
    console.log(`${host.name}: out of service for ${restMs} ms beyond a drain of ${drainMs} ms`);
    console.log(`${host.name}: the swap of files took ${swapMs} ms of it; target for all: ${targetMs} ms`);
    expect(restMs).toBeGreaterThan(0);
    expect(openPrograms(host).filter(({ sha256 }) => former.has(sha256))).toEqual([]);
    expect(host.drive.read(file.previousSet)).toContain(real.version);
    await vi.waitFor(async () => expect((await host.exec('sc query former')).code).not.toBe(0), 20_000);
    expect(await host.run('sc query admins')).toContain('RUNNING');
    const { metadata, spec } = await real.admin.get(nodes, host.name);
    expect(metadata.annotations?.[nodeAnnotation.version]).toBe(release.version);
    expect([spec?.unschedulable ?? false, metadata.labels?.[nodeLabel.upgrading]]).toEqual([false, undefined]);
  }
  await workload.complete();
  expect([workload.fewestReady >= 1, workload.errors]).toEqual([true, []]);
}, 900_000);
