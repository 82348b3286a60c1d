import { toBase64 } from '../../src/base/bytes.ts';
import { agentName, agentServiceAccountUser, identity } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import * as kinds from '../../src/kube/resources.ts';
import { accountToken } from './account-token.ts';
import { AgentRecords } from './agent-records.ts';
import { AgentRights } from './agent-rights.ts';
import { approvedByTest, startApprover } from './approve-requests.ts';
import { makeReport } from './report-mirror.ts';

/** What an agent meets in a cluster when it enrols: its account and rights, its Node, and an approver. */
export interface Enrolment extends AsyncDisposable {
  readonly namespace: string;
  readonly nodeName: string;
  /** What the operator knows of the host; a request that does not fit stays pending until it does. */
  readonly records: AgentRecords;
  /** What becomes of requests: judged by the records, denied, or left alone. */
  answer: 'judge' | 'deny' | 'leave';
  /** Who asked, and what became of it so far, in order. */
  readonly judged: { username: string; verdict: string }[];
  /** A token of the agent's service account, recorded as one of this host. */
  token(seconds?: number): Promise<string>;
  /** A kubeconfig as the operator writes it: JSON without apiVersion and kind. */
  kubeconfig(user: object, more?: { server?: string; ca?: string }): string;
}

/** `keyHash` is what `install` has printed; without it no request is approved before a test records one. */
export async function enrol(
  admin: Client,
  { url, ca }: { url: string; ca: string },
  keyHash?: string,
  nodeName = 'win1',
): Promise<Enrolment> {
  const { metadata } = await admin.create(kinds.namespaces, { metadata: { generateName: 'enrolment-' } });
  const { name: namespace = '' } = metadata;
  await admin.create(kinds.serviceAccounts, { metadata: { name: agentName, namespace } });
  const rights = await AgentRights.grant(admin, namespace);
  await rights.addNode(nodeName);
  await makeReport(admin, namespace, nodeName);
  const labels = { 'kubernetes.io/os': 'windows' };
  await admin.create(kinds.nodes, { metadata: { name: nodeName, labels } });
  const records = new AgentRecords(namespace);
  records.recordHost(nodeName);
  if (keyHash !== undefined) records.recordKeys(nodeName, { keyHash });
  const enrolment: Enrolment = {
    namespace,
    nodeName,
    records,
    answer: 'judge',
    judged: [],
    token: async (seconds = 3600) => {
      const token = await accountToken(admin, namespace, agentName, seconds);
      records.recordToken(nodeName, 'agent', token);
      return token;
    },
    kubeconfig: (user, more = {}) =>
      JSON.stringify({
        clusters: [
          {
            name: 'local',
            cluster: { server: more.server ?? url, 'certificate-authority-data': toBase64(more.ca ?? ca) },
          },
        ],
        users: [{ name: 'wicd', user }],
        contexts: [{ name: 'wicd', context: { cluster: 'local', user: 'wicd' } }],
        'current-context': 'wicd',
      }),
    [Symbol.asyncDispose]: async () => {
      await approver.stop();
      await rights.revoke();
      await admin.delete(kinds.nodes, nodeName);
      await admin.delete(kinds.namespaces, namespace);
    },
  };
  const entries = new Map<string, Enrolment['judged'][number]>();
  const approver = startApprover(admin, request => judge(enrolment, request, entries), 20);
  return enrolment;
}

/** What the test wants of a request of this agent; undefined leaves it pending. */
function judge(
  { namespace, nodeName, answer, judged, records }: Enrolment,
  request: kinds.CertificateSigningRequest,
  entries: Map<string, Enrolment['judged'][number]>,
): object | undefined {
  const { username = '' } = request.spec;
  const isOfAgent =
    username === agentServiceAccountUser(namespace) || username === `${identity.agentUserPrefix}${nodeName}`;
  if (!isOfAgent) return undefined;
  const verdict = answer === 'judge' ? (records.approves(request) === true ? 'approve' : 'pending') : answer;
  const { uid = '' } = request.metadata;
  const entry = entries.get(uid) ?? { username, verdict };
  if (!entries.has(uid)) judged.push(entry);
  entries.set(uid, Object.assign(entry, { verdict }));
  if (verdict === 'leave' || verdict === 'pending') return undefined;
  return verdict === 'deny' ? { ...approvedByTest, type: 'Denied', message: 'denied by a test' } : approvedByTest;
}
