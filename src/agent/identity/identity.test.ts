import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { agentName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { certificateSigningRequests, nodes } from '#kube/resources.ts';
import { accountToken } from '../../../test/kit/account-token.ts';
import {
  agentKey,
  agentSubject,
  hourMs,
  minuteMs,
  nodeName,
  showsKey,
  storedText,
} from '../../../test/kit/agent-certificates.ts';
import { type Enrolment, enrol } from '../../../test/kit/enrolment.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { ModelFiles } from '../../../test/kit/model-files.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { until } from '../../../test/kit/until.ts';
import { startEmbeddedCluster } from '../../sandbox/embedded-cluster.ts';
import { factsOf } from './certificate.ts';
import { type AgentIdentity, type IdentityOptions, startIdentity } from './identity.ts';
import { createKey } from './key.ts';

const kubeconfigPath = 'C:\\k\\wicd-kubeconfig';
const certDir = 'C:\\k\\wicd-certs';
const current = `${certDir}\\wicd-client-current.pem`;
const byCertificate = { 'client-certificate': current, 'client-key': current };
const asAccount = (namespace: string) => `system:serviceaccount:${namespace}:windows-instance-config-daemon`;
const asAgent = `system:wicd-node:${nodeName}`;

/** The sandbox's API server with its signer, on a clock of the test. Certificates of the real TLS need the real date. */
async function cluster(clock = manualClock(Date.now())) {
  const server = await startEmbeddedCluster({ clock });
  const admin = createClient(loadKubeconfig(server.kubeconfigFor()));
  const enrolment = await enrol(admin, server, agentKey.hash);
  onTestFinished(async () => {
    await enrolment[Symbol.asyncDispose]();
    await admin.close();
    await server.close();
  });
  return { clock, server, admin, enrolment };
}

interface VerbDeps {
  clock: ReturnType<typeof manualClock>;
  enrolment: Enrolment;
  files: ModelFiles;
  recorded: ReturnType<typeof recordedLog>;
  troubles: string[];
  start(more?: Partial<IdentityOptions>): Promise<AgentIdentity & { stop(): Promise<void> }>;
}

/** A host in that cluster; nothing is in its files but what the test puts there. */
async function world(): Promise<VerbDeps & Awaited<ReturnType<typeof cluster>>> {
  const made = await cluster();
  const files = new ModelFiles(
    () => undefined,
    () => undefined,
  );
  files.texts.set(file.agentKey, agentKey.pem.reveal());
  const recorded = recordedLog();
  const troubles: string[] = [];
  const start = async (more: Partial<IdentityOptions> = {}) => {
    const signal = new AbortController();
    const onTrouble = (error: Error) => void troubles.push(error.message);
    // A ping would be over before its answer is there, where a test moves the time by hours.
    const client = { pingIntervalMs: 1e12 };
    const options = { kubeconfigPath, certDir, durationMs: hourMs, nodeName, files, clock: made.clock };
    const identity = await startIdentity(
      { ...options, log: recorded.log, random: () => 0.5, onTrouble, client, ...more },
      signal.signal,
    );
    const stop = async () => {
      signal.abort();
      await identity.stopped;
      await identity.client.close();
    };
    onTestFinished(stop);
    return Object.assign(identity, { stop });
  };
  return { ...made, files, recorded, troubles, start };
}

async function withToken(given: VerbDeps): Promise<void> {
  given.files.texts.set(kubeconfigPath, given.enrolment.kubeconfig({ token: await given.enrolment.token(86_400) }));
}

/** Lets time go by, but not while the rotation waits for the server: that takes real time, which would become hours. */
async function pass({ clock, recorded }: VerbDeps, ms: number): Promise<void> {
  const count = (message: string) => recorded.lines.filter(line => line.message === message).length;
  const isBusy = () =>
    count('Requesting client certificate') >
    count('Received client certificate') + count('Maintaining the client certificate failed; retrying');
  for (let passedMs = 0; passedMs < ms; passedMs += 10_000) {
    await clock.advance(Math.min(10_000, ms - passedMs));
    if (isBusy()) await until(() => !isBusy());
  }
}

const shownName = async ({ connection }: AgentIdentity) =>
  (await connection.identity.current(new AbortController().signal)).clientCertificate?.certificate;
const requesters = ({ enrolment }: VerbDeps) => enrolment.judged.map(({ username }) => username);

test('enrolls with the token and works with the certificate from then on', async () => {
  const given = await world();
  await withToken(given);
  const identity = await given.start();
  await identity.ready;
  expect(requesters(given)).toEqual([asAccount(given.enrolment.namespace)]);
  given.files.texts.delete(kubeconfigPath);
  expect((await identity.client.get(nodes, nodeName)).metadata.name).toBe(nodeName);
  expect(identity.state).toEqual({ expiresMs: expect.any(Number), lastError: undefined });
  expect(given.files.accessOf(current)).toBe('secret');
  expect(given.files.texts.get(current)).toContain((await shownName(identity)) ?? 'none');
});

test('renews by itself for half a day, and no request fails', async () => {
  const given = await world();
  await withToken(given);
  const identity = await given.start();
  await identity.ready;
  const shown = new Set<string | undefined>();
  for (let step = 0; step < 24; step += 1) {
    shown.add(await shownName(identity));
    await pass(given, 30 * minuteMs);
    await Promise.all([1, 2, 3].map(() => identity.client.get(nodes, nodeName)));
  }
  expect(given.troubles).toEqual([]);
  expect(shown.size).toBeGreaterThan(12);
  expect(
    requesters(given)
      .slice(1)
      .every(name => name === asAgent),
  ).toBe(true);
  expect((await given.files.list(certDir)).toSorted()).toEqual(['wicd-client-current.pem', 'wicd-client-key.pem']);
  expect(showsKey(inspect(given.recorded.lines, { depth: 9 }))).toBe(false);
});

test('a certificate that ended while the host was off is replaced with the token', async () => {
  const given = await world();
  await withToken(given);
  const first = await given.start();
  await first.ready;
  await first.stop();
  await given.clock.advance(2 * hourMs);
  const second = await given.start();
  await second.ready;
  await second.client.get(nodes, nodeName);
  expect(requesters(given)).toEqual([asAccount(given.enrolment.namespace), asAccount(given.enrolment.namespace)]);
});

test('a certificate that is still good is used after a restart, without asking for another', async () => {
  const given = await world();
  await withToken(given);
  const first = await given.start();
  await first.ready;
  await first.stop();
  await given.clock.advance(20 * minuteMs);
  given.files.texts.set(kubeconfigPath, given.enrolment.kubeconfig(byCertificate));
  const second = await given.start();
  await second.ready;
  await second.client.get(nodes, nodeName);
  expect(given.enrolment.judged).toHaveLength(1);
});

test('a host that sleeps while the agent runs: requests after it wait for the new certificate', async () => {
  const given = await world();
  await withToken(given);
  const identity = await given.start();
  await identity.ready;
  given.clock.jump(3 * hourMs);
  await Promise.all([1, 2, 3].map(() => identity.client.get(nodes, nodeName)));
  expect(given.enrolment.judged).toHaveLength(2);
  expect(given.troubles).toEqual([]);
});

test('the certificate of another node name is of no use, also in the kubeconfig', async () => {
  const given = await world();
  const notAfter = given.clock.now() + hourMs;
  given.files.texts.set(current, storedText({ ...agentSubject('old'), notBefore: 0, notAfter }));
  given.files.texts.set(kubeconfigPath, given.enrolment.kubeconfig(byCertificate));
  await given.start();
  await until(() => given.troubles.length > 0);
  expect(given.troubles[0]).toContain('the certificate is for "system:wicd-node:old"');
  expect(given.enrolment.judged).toEqual([]);
});

test('a certificate for another key than the one kept is replaced', async () => {
  const given = await world();
  await withToken(given);
  const notAfter = given.clock.now() + hourMs;
  given.files.texts.set(current, storedText({ notBefore: 0, notAfter }, createKey()));
  const identity = await given.start();
  await identity.ready;
  await identity.client.get(nodes, nodeName);
  expect(requesters(given)).toEqual([asAccount(given.enrolment.namespace)]);
});

test('waits with one request until the operator has recorded the key', async () => {
  const given = await world();
  given.enrolment.records.forget(nodeName);
  await withToken(given);
  const identity = await given.start();
  await until(() => given.enrolment.judged.length === 1);
  await given.clock.advance(10 * minuteMs);
  given.enrolment.records.recordKeys(nodeName, { keyHash: agentKey.hash });
  await identity.ready;
  expect(given.enrolment.judged).toEqual([{ username: asAccount(given.enrolment.namespace), verdict: 'approve' }]);
  expect(given.troubles).toEqual([]);
});

test('waits while its token is recorded for no host', async () => {
  const given = await world();
  const { namespace, records } = given.enrolment;
  const token = await accountToken(given.admin, namespace, agentName);
  given.files.texts.set(kubeconfigPath, given.enrolment.kubeconfig({ token }));
  const identity = await given.start();
  await until(() => given.enrolment.judged.length === 1);
  expect(given.enrolment.judged).toEqual([{ username: asAccount(namespace), verdict: 'pending' }]);
  records.recordToken(nodeName, 'agent', token);
  await identity.ready;
  expect(given.enrolment.judged).toEqual([{ username: asAccount(namespace), verdict: 'approve' }]);
});

test.each([
  ['missing', undefined],
  ['damaged', 'x'],
])('reports a key that is %s, and uses it once it exists', async (_, text) => {
  const given = await world();
  await withToken(given);
  given.files.texts.delete(file.agentKey);
  if (text !== undefined) given.files.texts.set(file.agentKey, text);
  const identity = await given.start();
  await until(() => given.troubles.length > 0);
  expect(identity.state.lastError).toMatchObject({ code: 'AGENT_KEY_MISSING' });
  expect(given.enrolment.judged).toEqual([]);
  given.files.texts.set(file.agentKey, agentKey.pem.reveal());
  await pass(given, 40_000);
  await identity.ready;
});

test('renews with the same key', async () => {
  const given = await world();
  await withToken(given);
  const identity = await given.start();
  await identity.ready;
  await pass(given, 5 * hourMs);
  const { items } = await given.admin.list(certificateSigningRequests);
  expect(items.length).toBeGreaterThan(5);
  expect(given.enrolment.judged.every(({ verdict }) => verdict === 'approve')).toBe(true);
});

test('maintains a certificate for cloud-node-manager with its own key', async () => {
  const given = await world();
  await withToken(given);
  const cloudKey = createKey();
  given.files.texts.set(file.cloudNodeKey, cloudKey.pem.reveal());
  given.enrolment.records.recordKeys(nodeName, { keyHash: agentKey.hash, cloudKeyHash: cloudKey.hash });
  const heard: string[] = [];
  const identity = await given.start({ cloudNode: true, onCloudNode: () => void heard.push('cloud node') });
  await identity.ready;
  await until(() => heard.length > 0);
  const text = () => given.files.texts.get(file.cloudNodeCertificate) ?? '';
  expect(factsOf(text())).toMatchObject({
    commonName: `system:wicd-cloud-node:${nodeName}`,
    organizations: ['system:wicd-cloud-nodes'],
    keyHash: cloudKey.hash,
  });
  expect(text()).toContain(cloudKey.pem.reveal());
  expect(given.files.accessOf(file.cloudNodeCertificate)).toBe('secret');
  const first = text();
  await pass(given, hourMs);
  expect(text()).not.toBe(first);
  expect(heard).toEqual(['cloud node']);
  expect(given.troubles).toEqual([]);
});

test('reports that no credential works, and recovers with a new one', async () => {
  const given = await world();
  given.files.texts.set(current, storedText({ notAfter: given.clock.now() - minuteMs, notBefore: 0 }));
  given.files.texts.set(kubeconfigPath, given.enrolment.kubeconfig({ token: 'hunter2' }));
  const identity = await given.start();
  await until(() => given.troubles.length > 0);
  expect(given.troubles).toEqual([
    `no credential for the API server works: the agent has no valid certificate; ${kubeconfigPath}: the API server rejects it`,
  ]);
  expect(identity.state.lastError).toMatchObject({
    code: 'AGENT_UNIDENTIFIED',
    remedy: expect.stringContaining(kubeconfigPath),
  });
  const request = identity.client.get(nodes, nodeName).catch((error: unknown) => error);
  await pass(given, 20_000);
  expect(await request).toMatchObject({
    code: 'AGENT_UNIDENTIFIED',
    message: expect.stringMatching(/^no valid client certificate: no credential for the API server works/),
  });
  await withToken(given);
  await pass(given, 40_000);
  await identity.client.get(nodes, nodeName);
  expect(identity.state.lastError).toBeUndefined();
  expect(inspect(given.recorded.lines, { depth: 9 })).not.toContain('hunter2');
});

test('is not ready while its requests are denied, and creates few of them', async () => {
  const given = await world();
  await withToken(given);
  given.enrolment.answer = 'deny';
  const identity = await given.start();
  await until(() => given.troubles.length > 0);
  expect(given.troubles[0]).toMatch(/^CertificateSigningRequest csr-\w+ was denied: Test denied by a test/);
  await pass(given, 300_000);
  expect(given.enrolment.judged).toHaveLength(2);
  given.enrolment.answer = 'judge';
  await pass(given, 200_000);
  await identity.ready;
  await identity.client.get(nodes, nodeName);
});

test('replaces a valid certificate that the server rejects, without failing the request', async () => {
  const given = await world();
  await withToken(given);
  const foreign = storedText({ notBefore: 0, notAfter: given.clock.now() + hourMs });
  given.files.texts.set(current, foreign);
  const identity = await given.start();
  await identity.ready;
  expect(given.enrolment.judged).toEqual([]);
  await Promise.all([1, 2, 3].map(() => identity.client.get(nodes, nodeName)));
  expect(requesters(given)).toEqual([asAccount(given.enrolment.namespace)]);
  expect(given.files.texts.get(current)).not.toBe(foreign);
});

test('follows the kubeconfig to another server with another CA', async () => {
  const given = await world();
  await withToken(given);
  const identity = await given.start();
  await identity.ready;
  const other = await cluster(given.clock);
  await other.admin.patch(nodes, nodeName, { type: 'merge', body: { metadata: { labels: { here: 'yes' } } } });
  given.files.texts.set(kubeconfigPath, other.enrolment.kubeconfig({ token: await other.enrolment.token() }));
  expect((await identity.client.get(nodes, nodeName)).metadata.labels).not.toHaveProperty('here');
  await pass(given, 2 * minuteMs);
  expect((await identity.client.get(nodes, nodeName)).metadata.labels).toHaveProperty('here', 'yes');
  expect(other.enrolment.judged).toHaveLength(1);
});

const ownNode = { fieldSelector: `metadata.name=${nodeName}`, timeoutSeconds: 36_000, resourceVersion: '0' };

test('a request under way is not ended by a renewal', async () => {
  const given = await world();
  await withToken(given);
  const identity = await given.start();
  await identity.ready;
  const seen: string[] = [];
  const watching = (async () => {
    for await (const { type } of identity.client.watch(nodes, ownNode)) {
      seen.push(type);
      if (seen.length === 4) return;
    }
  })();
  await until(() => seen.length === 1);
  for (let turn = 1; turn <= 3; turn += 1) {
    const before = await shownName(identity);
    await pass(given, 50 * minuteMs);
    expect(await shownName(identity)).not.toBe(before);
    await identity.client.get(nodes, nodeName);
    await given.admin.patch(nodes, nodeName, { type: 'merge', body: { metadata: { labels: { turn: `${turn}` } } } });
    await until(() => seen.length === turn + 1);
  }
  await watching;
  expect(seen).toEqual(['ADDED', 'MODIFIED', 'MODIFIED', 'MODIFIED']);
});

test('does not start without a kubeconfig, or with one that cannot be read', async () => {
  const given = await world();
  await expect(given.start()).rejects.toMatchObject({ code: 'CREDENTIAL_UNREADABLE' });
  given.files.texts.set(kubeconfigPath, '{"users":');
  await expect(given.start()).rejects.toMatchObject({ code: 'KUBECONFIG_MALFORMED' });
});

test('stops at once in the middle of everything', async () => {
  const given = await world();
  await withToken(given);
  given.enrolment.answer = 'leave';
  const identity = await given.start();
  await until(() => given.enrolment.judged.length === 1);
  await identity.stop();
  await expect(identity.ready).rejects.toThrow();
});
