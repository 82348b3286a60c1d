import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../../src/agent/identity/connection.ts';
import { startIdentity } from '../../src/agent/identity/identity.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { nodes } from '../../src/kube/resources.ts';
import { showsKey } from '../kit/agent-certificates.ts';
import { findBinaries } from '../kit/cluster/binaries.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { enrol, type Enrolment } from '../kit/enrolment.ts';
import { ModelFiles } from '../kit/model-files.ts';
import { recordedLog } from '../kit/recorded-log.ts';

const kubeconfigPath = 'C:\\k\\wicd-kubeconfig';
const fallbackPath = 'C:\\k\\wicd-bootstrap-kubeconfig';
const certDir = 'C:\\k\\wicd-certs';
const current = `${certDir}\\wicd-client-current.pem`;
const byCertificate = { 'client-certificate': current, 'client-key': current };
/** What is left of a certificate when it arrives. */
const lifeMs = 6000;
const asAgent = 'system:wicd-node:win1';

let cluster: Cluster;
let admin: Client;
let enrolment: Enrolment;
const files = new ModelFiles(
  () => undefined,
  () => undefined,
);

beforeAll(async () => {
  const binaries = await findBinaries();
  // Before 1.22 the five minutes by which a certificate is dated back are part of its life.
  const seconds = lifeMs / 1000 + ((binaries.controllerManager?.minor ?? 0) < 22 ? 300 : 0);
  cluster = await startCluster({ binaries, controllerManagerFlags: [`--cluster-signing-duration=${seconds}s`] });
  admin = createClient(cluster.adminConfig);
  enrolment = await enrol(admin, cluster.url, cluster.ca);
});

afterAll(async () => {
  await enrolment?.[Symbol.asyncDispose]();
  await admin?.close();
  await cluster?.stop();
});

const write = (path: string, user: object) => files.texts.set(path, enrolment.kubeconfig(user));

async function start() {
  const stop = new AbortController();
  const recorded = recordedLog();
  const troubles: Error[] = [];
  const identity = await startIdentity(
    {
      kubeconfigPath,
      certDir,
      durationMs: 3_600_000,
      nodeName: enrolment.nodeName,
      files,
      clock: systemClock,
      log: recorded.log,
      // As early as may be: on a busy machine a request takes its time.
      random: () => 0,
      onTrouble: error => void troubles.push(error),
    },
    stop.signal,
  );
  const end = async () => {
    stop.abort();
    await identity.stopped;
    await identity.client.close();
  };
  onTestFinished(end);
  return Object.assign(identity, { end, troubles, lines: recorded.lines });
}

/** Does something again and again until told to stop; gives how often, and every failure. */
function again(act: (turn: number) => Promise<unknown>) {
  const state = { turns: 0, failures: [] as unknown[], isOver: false };
  const ended = (async () => {
    while (!state.isOver) {
      await act(state.turns).catch((error: unknown) => state.failures.push(error));
      state.turns += 1;
      await delay(10);
    }
  })();
  return {
    state,
    stop: () => {
      state.isOver = true;
      return ended;
    },
  };
}

test('short certificates are renewed many times, and neither requests nor watches fail', async () => {
  write(kubeconfigPath, { token: await enrolment.token() });
  const identity = await start();
  await identity.ready;
  const { client } = identity;
  const ended = new AbortController();
  const seen = { long: 0, short: 0 };
  const watch = async (kind: keyof typeof seen, timeoutSeconds: number) => {
    for await (const _ of client.watch(nodes, { timeoutSeconds, signal: ended.signal })) seen[kind] += 1;
  };
  const long = watch('long', 300).catch((error: unknown) => error);
  const loops = [
    again(() => client.get(nodes, enrolment.nodeName)),
    again(turn => client.patch(nodes, enrolment.nodeName, annotation(turn))),
    again(() => client.listAll(nodes)),
    again(() => watch('short', 2)),
  ];
  await expect.poll(() => enrolment.judged.length, { timeout: 60_000, interval: 100 }).toBeGreaterThanOrEqual(5);
  const before = seen.long;
  await expect.poll(() => seen.long).toBeGreaterThan(before);
  ended.abort(new Error('enough'));
  expect(await long).toMatchObject({ message: 'enough' });
  await Promise.all(loops.slice(0, 3).map(loop => loop.stop()));
  expect(loops.slice(0, 3).flatMap(loop => loop.state.failures)).toEqual([]);
  void loops[3]?.stop();
  expect(loops[3]?.state.failures.filter(error => (error as Error).message !== 'enough')).toEqual([]);
  expect(Math.min(...loops.slice(0, 3).map(loop => loop.state.turns))).toBeGreaterThan(50);
  expect(seen.short).toBeGreaterThan(5);
  expect(identity.troubles).toEqual([]);
  const { judged } = enrolment;
  expect(judged.every(({ verdict }) => verdict === 'approve')).toBe(true);
  expect(judged.filter(({ username }) => username === asAgent).length).toBeGreaterThanOrEqual(3);
  expect((await files.list(certDir)).length).toBeLessThanOrEqual(3);
  expect(showsKey(inspect(identity.lines, { depth: 9 }))).toBe(false);
});

function annotation(turn: number) {
  return { type: 'merge', body: { metadata: { annotations: { turn: String(turn) } } } } as const;
}

test('an agent that was off for longer than its certificate lives comes back with the token', async () => {
  const first = await start();
  await first.ready;
  await first.end();
  await delay(lifeMs + 1000);
  enrolment.judged.length = 0;
  const second = await start();
  await second.ready;
  await second.client.get(nodes, enrolment.nodeName);
  expect(enrolment.judged.map(({ username }) => username)[0]).toContain('system:serviceaccount:');
  expect(second.troubles).toEqual([]);
});

test('an expired certificate and a stale token are reported, and a fresh token beside them is enough', async () => {
  write(kubeconfigPath, { token: 'stale' });
  await delay(Math.max(0, lifeMs));
  const identity = await start();
  await expect.poll(() => identity.state.lastError, { timeout: 10_000 }).toBeDefined();
  expect(identity.state.lastError).toMatchObject({
    code: 'AGENT_UNIDENTIFIED',
    message: expect.stringContaining(`${kubeconfigPath}: the API server refuses it`),
    remedy: expect.stringContaining(fallbackPath),
  });
  write(fallbackPath, { token: await enrolment.token() });
  await identity.ready;
  await identity.client.get(nodes, enrolment.nodeName);
  expect(identity.state.lastError).toBeUndefined();
});

test('without an own certificate any of the three ways in is taken', async () => {
  const ask = async () => {
    const connection = await openConnection({ kubeconfigPath, certDir, files, ...ports });
    const client = createClient(connection);
    try {
      return await client.list(nodes);
    } finally {
      await client.close();
    }
  };
  const ports = { clock: systemClock, log: recordedLog().log };
  write(kubeconfigPath, byCertificate);
  write(fallbackPath, { token: await enrolment.token() });
  await ask();
  files.texts.delete(current);
  await ask();
  files.texts.delete(fallbackPath);
  await expect(ask()).rejects.toMatchObject({ code: 'AGENT_UNIDENTIFIED' });
  write(kubeconfigPath, { token: await enrolment.token() });
  await ask();
});
