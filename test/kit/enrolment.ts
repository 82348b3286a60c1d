import { toBase64 } from '../../src/base/bytes.ts';
import { agentName, agentServiceAccountUser, identity } from '../../src/contract/names.ts';
import { readObject } from '../../src/contract/object.ts';
import { nothingReserved } from '../../src/contract/reserved.ts';
import { decideCsr, readCsr } from '../../src/controllers/csr/decide.ts';
import type { Client } from '../../src/kube/client.ts';
import * as kinds from '../../src/kube/resources.ts';
import { recordFor } from './approve-requests.ts';
import { nodeOf } from './csr-facts.ts';

const requests = kinds.certificateSigningRequests;

/** What an agent meets in a cluster when it enrols: its account and rights, its Node, and somebody who approves. */
export interface Enrolment extends AsyncDisposable {
  readonly namespace: string;
  readonly nodeName: string;
  /** What becomes of requests: judged by the operator's rules, denied, or left alone. */
  answer: 'judge' | 'deny' | 'leave';
  /** Who asked, and what became of it, in order. */
  readonly judged: { username: string; verdict: string }[];
  /** A token of the agent's service account. */
  token(seconds?: number): Promise<string>;
  /** A kubeconfig as the operator writes it: JSON without apiVersion and kind. */
  kubeconfig(user: object, more?: { server?: string; ca?: string }): string;
}

export async function enrol(admin: Client, server: string, ca: string, nodeName = 'win1'): Promise<Enrolment> {
  const { metadata } = await admin.create(kinds.namespaces, { metadata: { generateName: 'enrolment-' } });
  const { name: namespace = '' } = metadata;
  await makeRights(admin, namespace);
  const labels = { 'kubernetes.io/os': 'windows' };
  await admin.create(kinds.nodes, { metadata: { name: nodeName, labels } });
  const stop = new AbortController();
  const enrolment: Enrolment = {
    namespace,
    nodeName,
    answer: 'judge',
    judged: [],
    token: async (seconds = 3600) => {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${agentName}/token`;
      const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
      const body = { ...kind, spec: { expirationSeconds: seconds } };
      return (await admin.raw<{ status: { token: string } }>('POST', path, { body })).status.token;
    },
    kubeconfig: (user, more = {}) =>
      JSON.stringify({
        clusters: [
          {
            name: 'local',
            cluster: { server: more.server ?? server, 'certificate-authority-data': toBase64(more.ca ?? ca) },
          },
        ],
        users: [{ name: 'wicd', user }],
        contexts: [{ name: 'wicd', context: { cluster: 'local', user: 'wicd' } }],
        'current-context': 'wicd',
      }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await judging;
      await admin.delete(kinds.nodes, nodeName);
      await admin.delete(kinds.namespaces, namespace);
    },
  };
  const judging = judgeAll(admin, enrolment, stop.signal);
  return enrolment;
}

/** As the specification of the agent gives them, to the account and to the group of its certificates. */
async function makeRights(admin: Client, namespace: string): Promise<void> {
  await admin.create(kinds.serviceAccounts, { metadata: { name: agentName, namespace } });
  const name = `agent-${namespace}`;
  const everything = ['get', 'list', 'watch', 'create', 'patch', 'update'];
  await admin.create(kinds.clusterRoles, {
    metadata: { name },
    rules: [
      { apiGroups: ['certificates.k8s.io'], resources: [requests.plural], verbs: ['create', 'get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes', 'configmaps'], verbs: everything },
    ],
  });
  await admin.create(kinds.clusterRoleBindings, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [
      { kind: 'ServiceAccount', name: agentName, namespace },
      { kind: 'Group', name: identity.agentsGroup, apiGroup: 'rbac.authorization.k8s.io' },
    ],
  });
}

/** Follows the requests until it is told to stop. */
async function judgeAll(admin: Client, enrolment: Enrolment, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { items, metadata } = await admin.listAll(requests, { signal });
      for (const item of items) await judge(admin, enrolment, item);
      const { resourceVersion = '' } = metadata;
      for await (const { type, object } of admin.watch(requests, { resourceVersion, signal }))
        if (type === 'ADDED') await judge(admin, enrolment, object);
    } catch {
      // The end of the watch, or of the test.
    }
  }
}

async function judge(admin: Client, enrolment: Enrolment, request: kinds.CertificateSigningRequest): Promise<void> {
  const { namespace, nodeName, answer, judged } = enrolment;
  const { username = '' } = request.spec;
  const isOurs =
    username === agentServiceAccountUser(namespace) || username === `${identity.agentUserPrefix}${nodeName}`;
  if (!isOurs || request.status?.conditions !== undefined) return;
  const csr = readCsr(
    readObject({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', ...request }),
  );
  const decision = decideCsr({
    csr,
    operatorNamespace: namespace,
    instance: recordFor(nodeName, csr, { hosts: {} }),
    node: nodeOf(nodeName, '10.0.0.1'),
    hasTokenIds: false,
    reserved: nothingReserved,
    taken: {},
    ageMs: Number.POSITIVE_INFINITY,
  });
  judged.push({ username, verdict: answer === 'judge' ? decision.do : answer });
  if (answer === 'leave' || (answer === 'judge' && decision.do !== 'approve')) return;
  const denied = { type: 'Denied', status: 'True', reason: 'Test', message: 'as the test wants' };
  const condition = answer === 'judge' && decision.do === 'approve' ? decision.condition : denied;
  await admin.replace(requests, { ...request, status: { conditions: [condition] } }, { subresource: 'approval' });
}
