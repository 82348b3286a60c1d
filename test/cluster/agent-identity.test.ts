import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../../src/agent/identity/connection.ts';
import { startIdentity } from '../../src/agent/identity/identity.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { configMaps, events, nodes, secrets } from '../../src/kube/resources.ts';
import { reportName } from '../../src/contract/agent-report.ts';
import { file } from '../../src/contract/paths.ts';
import { agentKey, showsKey } from '../kit/agent-certificates.ts';
import { findBinaries } from '../kit/cluster/binaries.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { enrol, type Enrolment } from '../kit/enrolment.ts';
import { ModelFiles } from '../kit/model-files.ts';
import { recordedLog } from '../kit/recorded-log.ts';

const kubeconfigPath = 'C:\\k\\wicd-kubeconfig';
const certDir = 'C:\\k\\wicd-certs';
const current = `${certDir}\\wicd-client-current.pem`;
const byCertificate = { 'client-certificate': current, 'client-key': current };
/** Remaining lifetime of a certificate when it is issued. */
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
  // Before 1.22 the five minutes of backdating are part of the lifetime.
  const seconds = lifeMs / 1000 + ((binaries.controllerManager?.minor ?? 0) < 22 ? 300 : 0);
  cluster = await startCluster({ binaries, controllerManagerFlags: [`--cluster-signing-duration=${seconds}s`] });
  admin = createClient(cluster.adminConfig);
  enrolment = await enrol(admin, cluster, agentKey.hash);
  files.texts.set(file.agentKey, agentKey.pem.reveal());
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
      // As early as possible, because requests are slow on a busy machine.
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

/** Repeats an action until stopped; returns the count and all failures. */
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

test('short certificates are renewed many times without a failed request or watch', async () => {
  write(kubeconfigPath, { token: await enrolment.token() });
  const identity = await start();
  await identity.ready;
  const { client } = identity;
  const ended = new AbortController();
  const seen = { long: 0, short: 0 };
  const watch = async (kind: keyof typeof seen, timeoutSeconds: number) => {
    for await (const _ of client.watch(nodes, { ...ownNode, timeoutSeconds, signal: ended.signal })) seen[kind] += 1;
  };
  const long = watch('long', 300).catch((error: unknown) => error);
  const loops = [
    again(() => client.get(nodes, enrolment.nodeName)),
    again(turn => client.patch(configMaps, reportName('win1'), event(turn), { namespace: enrolment.namespace })),
    again(() => client.listAll(nodes, ownNode)),
    again(() => watch('short', 2)),
  ];
  await expect.poll(() => enrolment.judged.length, { timeout: 60_000, interval: 100 }).toBeGreaterThanOrEqual(5);
  const before = seen.long;
  await admin.patch(nodes, enrolment.nodeName, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
  await expect.poll(() => seen.long).toBeGreaterThan(before);
  ended.abort(new Error('enough'));
  expect(await long).toMatchObject({ message: 'enough' });
  await Promise.all(loops.slice(0, 3).map(loop => loop.stop()));
  expect(loops.slice(0, 3).flatMap(loop => loop.state.failures)).toEqual([]);
  void loops[3]?.stop();
  expect(loops[3]?.state.failures.filter(error => (error as Error).message !== 'enough')).toEqual([]);
  expect(Math.min(...loops.slice(0, 3).map(loop => loop.state.turns))).toBeGreaterThan(50);
  expect(seen.short).toBeGreaterThan(0);
  expect(identity.troubles).toEqual([]);
  const { judged } = enrolment;
  expect(judged.every(({ verdict }) => verdict === 'approve')).toBe(true);
  expect(judged.filter(({ username }) => username === asAgent).length).toBeGreaterThanOrEqual(3);
  expect((await files.list(certDir)).toSorted()).toEqual(['wicd-client-current.pem', 'wicd-client-key.pem']);
  expect(showsKey(inspect(identity.lines, { depth: 9 }))).toBe(false);
});

const ownNode = { fieldSelector: 'metadata.name=win1' };

function event(turn: number) {
  return { type: 'merge', body: { data: { version: String(turn) } } } as const;
}

test('an agent that was off until its certificate expired uses the token', async () => {
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

test('reports an expired certificate and token, and recovers with a fresh token', async () => {
  write(kubeconfigPath, { token: 'stale' });
  await delay(Math.max(0, lifeMs));
  const identity = await start();
  await expect.poll(() => identity.state.lastError).toBeDefined();
  expect(identity.state.lastError).toMatchObject({
    code: 'AGENT_UNIDENTIFIED',
    message: expect.stringContaining(`${kubeconfigPath}: the API server rejects it`),
    remedy: expect.stringContaining(kubeconfigPath),
  });
  write(kubeconfigPath, { token: await enrolment.token() });
  await identity.ready;
  await identity.client.get(nodes, enrolment.nodeName);
  expect(identity.state.lastError).toBeUndefined();
});

test('one-shot verbs prefer the token to the certificate', async () => {
  const shown = async () => {
    const connection = await openConnection({
      kubeconfigPath,
      certDir,
      files,
      clock: systemClock,
      log: recordedLog().log,
    });
    const { authorization, clientCertificate } = await connection.identity.current(new AbortController().signal);
    return authorization === undefined ? clientCertificate && 'certificate' : 'token';
  };
  const identity = await start();
  await identity.ready;
  expect(await shown()).toBe('token');
  write(kubeconfigPath, byCertificate);
  expect(await shown()).toBe('certificate');
  files.texts.delete(current);
  await identity.end();
  files.texts.delete(current);
  await expect(shown()).rejects.toMatchObject({ code: 'AGENT_UNIDENTIFIED' });
});

/** A stolen certificate has only the permissions of its agent. */
test('a certificate can only read its own Node, write its report and request certificates', async () => {
  write(kubeconfigPath, { token: await enrolment.token() });
  const identity = await start();
  await identity.ready;
  const { client } = identity;
  const { namespace } = enrolment;
  const labels = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
  await client.get(nodes, 'win1');
  const refusals: [what: string, act: () => Promise<unknown>][] = [
    ['patch its Node', () => client.patch(nodes, 'win1', labels)],
    ['patch the status of its Node', () => client.patch(nodes, 'win1', labels, { subresource: 'status' })],
    ['read another Node', () => client.get(nodes, 'win2')],
    ['list all Nodes', () => client.list(nodes)],
    ['write an event', () => client.create(events, { metadata: { name: 'x', namespace: 'default' } } as never)],
    ['read a Secret', () => client.list(secrets, { namespace })],
    ['list ConfigMaps', () => client.list(configMaps, { namespace })],
    ['write the report of another agent', () => client.patch(configMaps, reportName('win2'), event(1), { namespace })],
    ['delete its report', () => client.delete(configMaps, reportName('win1'), { namespace })],
  ];
  for (const [what, act] of refusals) {
    await expect(act(), what).rejects.toMatchObject({ code: 403 });
  }
});
