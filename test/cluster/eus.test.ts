import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { PayloadRelease } from '../../src/bin/sandbox-factory.ts';
import { checkUpgradeProgram } from '../../src/cli/check/upgrade/program.ts';
import { main } from '../../src/cli/main.ts';
import { uninstallProgram } from '../../src/cli/uninstall/program.ts';
import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, nodeLabel } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import type { Resource } from '../../src/kube/resource.ts';
import {
  clusterRoleBindings,
  configMaps,
  customResourceDefinitions,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
} from '../../src/kube/resources.ts';
import { bootIdOf } from '../../src/sandbox/machines/host/state.ts';
import { accountToken } from '../kit/account-token.ts';
import { startFreshCluster } from '../kit/fresh-cluster.ts';
import { installedOperator } from '../kit/installed-operator.ts';
import { tokenKubeconfig } from '../kit/operator-scene.ts';
import { crdName } from '../kit/installed-hosts.ts';
import { recordService } from '../kit/service-history.ts';
import { recordedTerminal } from '../kit/status-views.ts';
import { startSteadyWorkload } from '../kit/steady-workload.ts';
import { startVersionProxy } from '../kit/version-proxy.ts';

/**
 * From one EUS release to the next on a real API server: it restarts on the same etcd, and says the version after it. One binary has
 * one version, so that the others are said by a proxy before it.
 */

const names = ['win-1', 'win-2'];
const hostCount = names.length;
const namespace = 'shop';
const replicas = 4;
const minAvailable = 2;
const patient = { timeout: 60_000, interval: 200 };

test('EUS: uninstall, an API server two minor versions up, install: Nodes are adopted and upgraded, and the workload is never down', async () => {
  await using fresh = await startFreshCluster('kubernetes');
  const { admin, cluster } = fresh;
  const place = { namespace: fresh.namespace };
  const minors = [0, 1, 2].map(ahead => `v1.${cluster.minor + ahead}`);
  const [now = '', between = '', later = ''] = minors.map(minor => `${minor}.4`);
  await using proxy = await startVersionProxy(cluster, now);
  const seen = { ...fresh, cluster: { ...cluster, url: proxy.url, ca: proxy.ca } };
  const releases = [
    { version: '11.0.0-a', kubeletVersion: `${minors[0]}.2` },
    { version: '13.0.0-b', kubeletVersion: `${minors[2]}.1` },
  ] as const satisfies PayloadRelease[];
  const operatorOf = (release: (typeof releases)[number]) =>
    installedOperator(seen, { release, settings: { kubeletVersion: release.kubeletVersion } });
  const run = await commands(fresh.admin, proxy);
  const instances = async () => (await admin.list(windowsInstances, place)).items;
  const countOf = async (isSo: (each: WindowsInstance) => boolean) => (await instances()).filter(isSo).length;
  const kubelets = async () => {
    const { items } = await admin.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
    return items.map(({ metadata, status }) => ({
      uid: metadata.uid,
      kubelet: (status as { nodeInfo?: { kubeletVersion?: string } }).nodeInfo?.kubeletVersion,
    }));
  };

  const hosts = await Promise.all(names.map(name => fresh.addHost(name)));
  const install = async () => {
    await fresh.install();
    await fresh.givePrivateKey();
    const metadata = { name: configMapName.rollout, ...place };
    await admin.create(configMaps, { metadata, data: { first: '1', soak: '1s' } });
    await fresh.list(hosts);
  };
  await install();
  {
    await using _operator = await operatorOf(releases[0]);
    await expect.poll(() => countOf(({ status }) => status?.phase === 'Ready'), patient).toBe(hostCount);
    await expect.poll(() => run('check', 'upgrade', '--to', later), patient).toMatchObject({ code: 0, errors: '' });
  }
  const before = await kubelets();
  const boots = hosts.map(({ state }) => bootIdOf(state));
  expect(before.map(({ kubelet }) => kubelet)).toEqual(hosts.map(() => releases[0].kubeletVersion));
  await using workload = await startSteadyWorkload(admin, { namespace, replicas, minAvailable, minor: cluster.minor });
  await using history = await recordService(admin, namespace);
  await workload.complete();

  // Nothing runs the Deployment here, whose pod ends with it.
  await admin.delete(pods, (await admin.list(pods, place)).items[0]?.metadata.name ?? '', place);
  expect(await run('uninstall', '--yes')).toMatchObject({ code: 0, errors: '' });
  await Promise.all([
    deleteAndWait(admin, customResourceDefinitions, crdName),
    deleteAndWait(admin, namespaces, fresh.namespace),
  ]);
  await cluster.restart('kube-apiserver');
  for (const version of [between, later]) {
    proxy.version = version;
    const { code, text, errors } = await run('check', 'upgrade', '--to', later);
    expect([code, errors]).toEqual([0, '']);
    expect(text).toMatch(/^ {2}-- {3}operator {2}none is installed/m);
  }
  expect(await kubelets()).toEqual(before);

  await install();
  await using operator = await operatorOf(releases[1]);
  const isUpgraded = ({ status }: WindowsInstance) =>
    status?.version === releases[1].version && status.upgrade?.soaked !== undefined;
  await expect.poll(() => countOf(({ status }) => status?.version !== undefined), patient).toBe(hostCount);
  await expect.poll(() => countOf(isUpgraded), patient).toBe(hostCount);
  await workload.complete();
  await expect.poll(() => run('check', 'upgrade'), patient).toMatchObject({ code: 0, errors: '' });

  expect(await kubelets()).toEqual(before.map(({ uid }) => ({ uid, kubelet: releases[1].kubeletVersion })));
  expect(hosts.map(({ state }) => bootIdOf(state))).toEqual(boots);
  expect(operator.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  expect(workload.errors).toEqual([]);
  const figures = history.figures(replicas);
  expect(figures.fewestReady).toBeGreaterThanOrEqual(minAvailable);
  expect(figures.mostOut).toBe(1);
  expect(figures.cordons).toEqual(Object.fromEntries(names.map(name => [name, 1])));
});

async function deleteAndWait(admin: Client, resource: Resource, name: string): Promise<void> {
  await admin.delete(resource, name);
  await expect.poll(() => admin.find(resource, name), patient).toBeUndefined();
}

type Run = (...words: string[]) => Promise<{ code: number; text: string; errors: string }>;

/** Commands of `wmco` by an administrator behind the proxy. */
async function commands(admin: Client, server: Parameters<typeof tokenKubeconfig>[0]): Promise<Run> {
  const metadata = { name: 'administrator', namespace: 'default' };
  await admin.create(serviceAccounts, { metadata });
  await admin.create(clusterRoleBindings, {
    metadata: { name: metadata.name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  });
  const token = await accountToken(admin, metadata.namespace, metadata.name);
  const folder = await mkdtemp(join(tmpdir(), 'wmco-eus-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, tokenKubeconfig(server, token), { mode: 0o600 });
  return async (...words) => {
    const terminal = recordedTerminal(undefined, { KUBECONFIG: kubeconfig }, systemClock);
    const plain = { ...terminal, stdin: () => Promise.resolve(''), runtime: '' };
    const code = await main(words, plain, [
      { name: 'uninstall', summary: '', run: rest => uninstallProgram(rest, { ...terminal, ask: undefined }) },
      { name: 'upgrade', group: 'check', summary: '', run: rest => checkUpgradeProgram(rest, terminal) },
    ]);
    return { code, text: terminal.text(), errors: terminal.errors() };
  };
}
