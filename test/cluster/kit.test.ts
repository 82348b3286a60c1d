import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { namespaces, nodes } from '../../src/kube/resources.ts';
import { selfSubjectAccessReviews } from '../kit/resources.ts';
import { startCluster } from '../kit/cluster/cluster.ts';

const review = (verb: string, resource: string) => ({ metadata: {}, spec: { resourceAttributes: { verb, resource } } });

test('starts within seconds, authenticates its users, and leaves no processes when stopped', async () => {
  const start = performance.now();
  const cluster = await startCluster({ controllerManager: false, admissionPlugins: ['NodeRestriction'] });
  expect(performance.now() - start).toBeLessThan(30_000);
  const pids = [cluster.pidOf('etcd'), cluster.pidOf('kube-apiserver')];
  const admin = createClient(cluster.adminConfig);
  expect((await admin.get(namespaces, 'default')).metadata.name).toBe('default');
  expect((await admin.raw<{ gitVersion: string }>('GET', '/version')).gitVersion).toBe(cluster.version);
  const node = createClient(loadKubeconfig(cluster.kubeconfigFor('system:node:n1', ['system:nodes'])));
  expect((await node.create(nodes, { metadata: { name: 'n1' } })).metadata.name).toBe('n1');
  await expect(node.create(nodes, { metadata: { name: 'n2' } })).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('n1'),
  });
  const nobody = createClient(loadKubeconfig(cluster.kubeconfigFor('nobody')));
  expect((await nobody.create(selfSubjectAccessReviews, review('list', 'nodes'))).status?.allowed).toBe(false);
  await Promise.all([admin.close(), node.close(), nobody.close()]);
  expect(() => cluster.pidOf('kube-controller-manager')).toThrow('this cluster runs without kube-controller-manager');
  await cluster.stop();
  for (const pid of pids) expect(isAlive(pid)).toBe(false);
});

test('allows everything with AlwaysAllow', async () => {
  await using cluster = await startCluster({ controllerManager: false, authorization: 'AlwaysAllow' });
  const nobody = createClient(loadKubeconfig(cluster.kubeconfigFor('nobody')));
  expect((await nobody.create(selfSubjectAccessReviews, review('delete', 'nodes'))).status?.allowed).toBe(true);
  await nobody.close();
});

test('keeps its objects when its components are killed and restarted', async () => {
  await using cluster = await startCluster({ controllerManager: false });
  const client = createClient(cluster.adminConfig);
  await client.create(nodes, { metadata: { name: 'kept' } });
  const before = cluster.pidOf('kube-apiserver');
  await cluster.restart('etcd');
  await cluster.restart('kube-apiserver');
  expect(cluster.pidOf('kube-apiserver')).not.toBe(before);
  const again = createClient(cluster.adminConfig);
  expect((await again.get(nodes, 'kept')).metadata.name).toBe('kept');
  await Promise.all([client.close(), again.close()]);
});

test('reports the output of a program that does not start', async () => {
  await expect(startCluster({ controllerManager: false, apiServerFlags: ['--no-such-flag'] })).rejects.toThrow(
    /kube-apiserver ended at once:[^]*unknown flag: --no-such-flag/,
  );
});

test('leaves no processes when the test is killed', async () => {
  const program = `
    const { startCluster } = await import(${JSON.stringify(join(import.meta.dirname, '../kit/cluster/cluster.ts'))});
    const cluster = await startCluster({ controllerManager: false });
    console.log(JSON.stringify({ pids: [cluster.pidOf('etcd'), cluster.pidOf('kube-apiserver')], folder: cluster.folder }));
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pids, folder } = JSON.parse(await firstLine(child)) as { pids: number[]; folder: string };
  expect([...pids.map(isAlive), existsSync(folder)]).toEqual([true, true, true]);
  child.kill('SIGKILL');
  await expect.poll(() => [...pids.map(isAlive), existsSync(folder)]).toEqual([false, false, false]);
});

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  for (let turn = 0; turn < 600 && !text.includes('\n'); turn += 1) await delay(100);
  return text.split('\n')[0] ?? '';
}

function isAlive(pid: number | undefined): boolean {
  try {
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
}
