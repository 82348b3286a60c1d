import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { toBase64 } from '../../src/base/bytes.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { lifetimeLimit } from '../../src/contract/certificate-lifetime.ts';
import { defaultNamespace, nodeLabel } from '../../src/contract/names.ts';
import { writesTokenIds } from '../../src/contract/token-id.ts';
import { csrController, permissions } from '../../src/controllers/csr/controller.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { runManager } from '../../src/kube/controller/manager.ts';
import { noMetrics } from '../../src/kube/controller/metrics.ts';
import { EventRecorder } from '../../src/kube/events/events.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import { apiVersionOf } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { instancesOf, ops } from '../conformance/ops/csr-validation.ts';
import type { Input, Row } from '../conformance/row.ts';
import { installDefinitions } from './cluster/openshift-crds.ts';
import { furtherRows } from './csr-further-rows.ts';
import { fixedFacts } from './fixed-facts.ts';
import { grant } from './grant.ts';
import { postAs } from './impersonation.ts';
import { recordedLog } from './recorded-log.ts';
import { type SkippingClock, skippingClock } from './skipping-clock.ts';
import { until } from './until.ts';

/** A cluster, real or embedded, as far as these rows need one. */
export interface CsrCluster {
  admin: Client;
  kubeconfigFor: (user: string, groups: readonly string[]) => string;
}

const requests = kinds.certificateSigningRequests;
const operatorUser = 'operator';

/** Every row about what becomes of a request, hardened or not. */
const knownRows = (
  JSON.parse(readFileSync(new URL('../conformance/rows/csr-validation.json', import.meta.url), 'utf8')) as Row[]
).filter(({ op }) => op === 'kubeletApprover' || op === 'wicdApprover');

export const csrRows: readonly Row[] = [...knownRows, ...furtherRows];

/** What all rows need: the definitions, the namespace of the operator, and that everybody may ask for a certificate. */
export async function prepareCsrCluster(admin: Client): Promise<void> {
  await installDefinitions(admin);
  await grant(admin, operatorUser, defaultNamespace, permissions);
  const name = 'everybody-may-ask';
  await admin.create(kinds.clusterRoles, {
    metadata: { name },
    rules: [{ apiGroups: [requests.group], resources: [requests.plural], verbs: ['create'] }],
  });
  await admin.create(kinds.clusterRoleBindings, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'Group', name: 'system:authenticated', apiGroup: 'rbac.authorization.k8s.io' }],
  });
}

/** Makes the world of a row, has its requester ask, runs the controller, and compares what became of the request. */
export async function judgeRow(row: Row, cluster: CsrCluster): Promise<void> {
  const { admin } = cluster;
  const input = realistic(row.input);
  const made = await createObjects(admin, input);
  try {
    const request = await ask(cluster, input);
    made.push(() => admin.delete(requests, request.metadata.name ?? ''));
    await preset(admin, request, input.csr.conditions);
    await using controller = startController(cluster, input);
    const want = ops[row.op]?.(input) as { decision: string; condition?: object; because?: Input };
    expect(want.decision).toBe(row.expected['decision']);
    await compare({ admin, request, want, controller });
  } finally {
    for (const undo of made.reverse()) await undo();
  }
}

/** A server puts everybody it knows into system:authenticated; who lacks a group there lacks the other one. */
function realistic(input: Input): Input {
  const groups: string[] = input.csr.groups ?? [];
  const lacksOne = groups.includes('system:nodes') && !groups.includes('system:authenticated');
  const real = [...groups.filter(group => !lacksOne || group !== 'system:nodes'), 'system:authenticated'];
  return { ...input, operatorNamespace: defaultNamespace, csr: { ...input.csr, groups: [...new Set(real)] } };
}

type Undo = () => Promise<unknown>;

async function createObjects(admin: Client, input: Input): Promise<Undo[]> {
  const undo: Undo[] = [];
  for (const { name, os, addresses } of (input.existingNodes ?? []) as Input[]) {
    await admin.create(kinds.nodes, { metadata: { name, ...(os && { labels: { [nodeLabel.os]: os } }) } });
    undo.push(() => admin.delete(kinds.nodes, name));
    const body = { status: { addresses } };
    await admin.patch(kinds.nodes, name, { type: 'strategic', body }, { subresource: 'status' });
  }
  for (const { metadata, spec, status } of instancesOf(input)) {
    const { name = '' } = metadata;
    const key = { name, namespace: defaultNamespace };
    const made = await admin.create(windowsInstances, { metadata: key, spec });
    undo.push(() => admin.delete(windowsInstances, name, { namespace: defaultNamespace }));
    await admin.replace(windowsInstances, { ...made, ...(status && { status }) }, { subresource: 'status' });
  }
  return undo;
}

/**
 * As the requester himself, whom the server then writes into the request. Service accounts are impersonated: a certificate has an
 * id of its own, and it is that of a token which counts.
 */
async function ask({ kubeconfigFor }: CsrCluster, { csr }: Input): Promise<kinds.CertificateSigningRequest> {
  const groups = (csr.groups as string[]).filter(group => group !== 'system:authenticated');
  const { signerName, usages, request, username: user, extra } = csr;
  const object: kinds.CertificateSigningRequest = {
    metadata: { generateName: 'row-' },
    // The rows have no lifetimes.
    spec: { signerName, usages, expirationSeconds: 86_400, request: toBase64(request.pem ?? request.requestText) },
  };
  if (user.startsWith('system:serviceaccount:')) {
    const admin = loadKubeconfig(kubeconfigFor('impersonator', ['system:masters']));
    const kind = { apiVersion: apiVersionOf(requests), kind: requests.kind };
    const made = await postAs<kinds.CertificateSigningRequest & { spec: { extra?: unknown } }>(
      admin,
      { user, groups, extra },
      '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      { ...kind, ...object },
    );
    expect(made.spec).toMatchObject({ username: user, ...(extra && { extra }) });
    return made;
  }
  const client = createClient(loadKubeconfig(kubeconfigFor(user, groups)));
  try {
    const made = await client.create(requests, object);
    expect(made.spec.username).toBe(user);
    return made;
  } finally {
    await client.close();
  }
}

async function preset(admin: Client, request: kinds.CertificateSigningRequest, conditions: Input[]): Promise<void> {
  for (const { type } of conditions ?? []) {
    const status = { conditions: [{ type, status: 'True', reason: 'Preset', message: 'by the test' }] };
    const subresource = type === 'Failed' ? 'status' : 'approval';
    await admin.replace(requests, { ...request, status }, { subresource });
  }
}

/** With no more rights than the controller asks for. */
function startController({ kubeconfigFor }: CsrCluster, input: Input) {
  const client = createClient(loadKubeconfig(kubeconfigFor(operatorUser, [])));
  const informers = new Informers({ client });
  const recorder = new EventRecorder({ client, component: 'test' });
  const log = recordedLog();
  const clock = skippingClock();
  const controller = csrController({
    client,
    informers,
    recorder,
    namespace: defaultNamespace,
    version: 'v',
    clock,
    log: log.log,
    metrics: noMetrics,
    random: Math.random,
    facts: fixedFacts(),
    hasTokenIds: writesTokenIds(input.serverVersion ?? ''),
    // The server may be older than the one a row is about, and drop the lifetime of a request.
    lifetime: lifetimeLimit('24h', ''),
    resolver: { addresses: async () => [] },
    inputs: { loadKeys: async () => [] },
    payload: { agent: () => Promise.reject(new Error('no host is read')) },
    connect: () => Promise.reject(new Error('no host answers')),
  });
  const stop = new AbortController();
  const over = runManager({ caches: [informers], others: [recorder], leaderOnly: [controller] }, stop.signal);
  return {
    clock,
    messages: () => log.lines.map(({ message }) => message),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await over;
      await client.close();
    },
  };
}

interface Comparison {
  admin: Client;
  request: kinds.CertificateSigningRequest;
  want: { decision: string; condition?: object; because?: Input };
  controller: { messages: () => string[]; clock: SkippingClock };
}

async function compare({ admin, request, want, controller: { messages, clock } }: Comparison): Promise<void> {
  const { name = '' } = request.metadata;
  const conditions = async () => (await admin.get(requests, name)).status?.conditions ?? [];
  const before = await conditions();
  if (want.decision === 'approve') {
    await until(async () => (await conditions()).some(({ type }) => type === 'Approved'), `${name} is approved`);
    expect(await conditions()).toContainEqual(expect.objectContaining(want.condition));
    return;
  }
  const isDecided = before.some(({ type }) => type === 'Approved' || type === 'Denied');
  const isRefused = want.because?.do === 'refuse';
  if (isDecided) await delay(500);
  else if (isRefused)
    await until(
      skipping(() => messages().includes('Refusing CSR'), clock),
      `${name} is refused`,
    );
  else await until(async () => messages().includes('Ignoring CSR'), `${name} is ignored`);
  const reported = async () =>
    (await admin.list(kinds.events, { namespace: 'default' })).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason} ${message}`);
  const { event } = want.because ?? {};
  if (isRefused) await until(async () => (await reported()).length > 0, `there is an event about ${name}`);
  expect(await reported()).toEqual(isRefused ? [`${event.reason} ${event.message}`] : []);
  expect(await conditions()).toEqual(before);
}

/** Skips the waits of the operator: half a minute passes twice a second. */
function skipping(isSo: () => boolean, clock?: SkippingClock): () => boolean {
  let attempts = 0;
  return () => {
    attempts += 1;
    if (attempts % 25 === 0) clock?.skip(31_000);
    return isSo();
  };
}
