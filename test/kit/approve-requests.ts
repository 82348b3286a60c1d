import { identity, signer } from '../../src/contract/names.ts';
import { readNode } from '../../src/contract/node.ts';
import { readObject } from '../../src/contract/object.ts';
import type { CsrDecision } from '../../src/controllers/csr/decide.ts';
import type { Client } from '../../src/kube/client.ts';
import { type CertificateSigningRequest, certificateSigningRequests, nodes } from '../../src/kube/resources.ts';
import { AgentRecords } from './agent-records.ts';
import { nodeOf } from './csr-facts.ts';
import { startFollowing } from './follow.ts';

export interface ApproverOptions {
  operatorNamespace: string;
  /** Node names by the address of the host. */
  hosts: Readonly<Record<string, string>>;
  /** What is recorded about hosts and agents; requests that come before that stay pending. */
  records?: AgentRecords;
  /** Handed to all of these hosts, for their kubelets. */
  tokens?: readonly string[];
}

/** Decides about pending certificate requests until it is stopped. */
export interface Approver extends AsyncDisposable {
  /** Names of the requests that were approved or denied. */
  readonly decided: string[];
  stop(): Promise<void>;
}

export interface RecordsApprover extends AsyncDisposable {
  /** Each decision once, in order. */
  readonly decisions: { request: CertificateSigningRequest; decision: CsrDecision }[];
}

export const approvedByTest = { type: 'Approved', status: 'True', reason: 'Test', message: 'approved by a test' };

type ConditionFor = (request: CertificateSigningRequest) => object | undefined | Promise<object | undefined>;

/** Approves every request unless `conditionFor` decides; undefined leaves a request pending and asks again later. */
export function startApprover(
  client: Client,
  conditionFor: ConditionFor = () => approvedByTest,
  everyMs = 100,
): Approver {
  const decided = new Map<string, string>();
  const isPending = ({ metadata, status }: CertificateSigningRequest) =>
    !status?.conditions?.length && !decided.has(metadata.uid ?? '');
  const approve = async (request: CertificateSigningRequest) => {
    const condition = await conditionFor(request);
    if (condition === undefined) return;
    decided.set(request.metadata.uid ?? '', await patchApproval(client, request, condition));
  };
  const following = startFollowing(client, everyMs, informers => {
    const { store } = informers.get(certificateSigningRequests);
    return async () => {
      // The API server is away, the request is gone, or the test is over.
      for (const request of store.list().filter(isPending)) await approve(request).catch(() => undefined);
    };
  });
  const stop = async () => following[Symbol.asyncDispose]();
  return {
    get decided() {
      return [...decided.values()];
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * Decides about certificate requests by the rules of the operator, and approves what the cluster itself would: the renewal of a
 * kubelet's own certificate.
 */
export function startRecordsApprover(client: Client, options: ApproverOptions): RecordsApprover {
  const { operatorNamespace, hosts, tokens = [], records = new AgentRecords(operatorNamespace) } = options;
  for (const [address, name] of Object.entries(hosts)) {
    records.recordHost(name, [address]);
    for (const token of tokens) records.recordToken(name, 'kubelet', token);
  }
  const decisions: RecordsApprover['decisions'] = [];
  const known = new Map<string, string>();
  const approver = startApprover(client, async request => {
    const decision = await decide(client, request, records);
    const { uid = '' } = request.metadata;
    if (known.get(uid) !== decision.do) decisions.push({ request, decision });
    known.set(uid, decision.do);
    return decision.do === 'approve' ? decision.condition : undefined;
  });
  return { decisions, [Symbol.asyncDispose]: () => approver.stop() };
}

/** The record of each host that is listed here, beside what is recorded about its agent. */
async function decide(client: Client, request: CertificateSigningRequest, records: AgentRecords): Promise<CsrDecision> {
  const name = records.nodeOf(request);
  const found = name === undefined ? undefined : await client.find(nodes, name);
  const node = found && readNode(readObject({ ...found, apiVersion: 'v1', kind: 'Node' }));
  // Some tests start an agent before there is a Node, which the operator never does.
  const isAgent = request.spec.signerName === signer.apiClient;
  const decision = records.decide(request, node ?? (isAgent ? nodeOf(name ?? '', '') : undefined));
  const { signerName, username = '' } = request.spec;
  const isRenewal = signerName === signer.kubeletClient && username.startsWith(identity.nodeUserPrefix);
  if (decision.do !== 'ignore' || !isRenewal) return decision;
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message: 'renewal' } as const;
  return { do: 'approve', condition };
}

async function patchApproval(
  client: Client,
  { metadata }: CertificateSigningRequest,
  condition: object,
): Promise<string> {
  const { name = '', uid } = metadata;
  // Another request of this name is not meant.
  const body = { metadata: { uid }, status: { conditions: [condition] } };
  await client.patch(certificateSigningRequests, name, { type: 'merge', body }, { subresource: 'approval' });
  return name;
}
