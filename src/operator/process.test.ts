import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { agentName } from '#contract/names.ts';
import { payloadFor } from '#node/payload.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '#sandbox/embedded-cluster.ts';
import { type OperatorScene, operatorScene } from '../../test/kit/operator-scene.ts';
import { writeSigned } from '../../test/kit/payload-key.ts';
import { repositoryRoot } from '../../test/kit/run-wmco.ts';
import { ask } from '../../test/kit/running-server.ts';

let cluster: EmbeddedCluster;
let scene: OperatorScene;
let folder: string;
beforeAll(async () => {
  // Older than the kubelet of the payload.
  cluster = await startEmbeddedCluster({ version: { major: '1', minor: '33', gitVersion: 'v1.33.0' } });
  scene = await operatorScene({ url: cluster.url, ca: cluster.ca, kubeconfig: cluster.kubeconfigFor() });
  folder = await mkdtemp(join(tmpdir(), 'wmco-process-'));
  const names = ['', 'AWS', 'Azure'].flatMap(platform => payloadFor(platform).map(({ name }) => name));
  const lines = [...new Set([...names, `${agentName}.exe`])].map(name => `${'a'.repeat(64)}  ${name}`);
  writeSigned(folder, `${lines.join('\n')}\n`);
  await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfigFor());
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await cluster.close();
  await rm(folder, { recursive: true });
});

/** The program as its own process. */
function start(...flags: string[]) {
  const words = [
    'operator',
    `--kubeconfig=${join(folder, 'kubeconfig')}`,
    `--payload-dir=${folder}`,
    `--payload-key=${join(folder, 'payload-key.pub')}`,
    `--payload-cache-dir=${join(folder, 'cache')}`,
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=127.0.0.1:0',
    ...flags,
  ];
  const environment = { PATH: process.env['PATH'], WATCH_NAMESPACE: scene.namespace, WMCO_VERSION: '11.0.0-abc1234' };
  const child = spawn(process.execPath, [join(repositoryRoot, 'src/bin/wmco.ts'), ...words], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', text => (log += String(text)));
  const ended = new Promise<[code: number | null, signal: string | null]>(resolve =>
    child.once('exit', (code, signal) => resolve([code, signal])),
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, log: () => log };
}

test('runs as a process, is ready, and exits with 0 after SIGTERM', async () => {
  const { child, ended, log } = start('--kubelet-version=v1.33.0');
  await expect.poll(log).toContain('Became the leader');
  const port = (server: string) =>
    new RegExp(`"Starting ${server}","address":"127\\.0\\.0\\.1:(\\d+)"`).exec(log())?.[1];
  expect(await ask(`http://127.0.0.1:${port('health server')}/readyz`)).toMatchObject({ code: 200 });
  const metrics = await ask(`http://127.0.0.1:${port('metrics server')}/metrics`);
  expect(metrics.text).toContain('controller_runtime_reconcile_total');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(/"version":"([^"]+)"/.exec(log())?.[1]).toBe('11.0.0-abc1234');
});

test('OP-02: ends with 1 when the cluster is not for it', async () => {
  const { ended, log } = start();
  expect(await ended).toEqual([1, null]);
  expect(log()).toContain('SERVER_VERSION_UNSUPPORTED');
});

test('ends with 2 when its command line is wrong', async () => {
  const { ended } = start('--wrong');
  expect(await ended).toEqual([2, null]);
});
