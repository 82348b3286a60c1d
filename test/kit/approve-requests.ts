import { systemClock as clock } from '../../src/base/clock.ts';
import { identity, signer } from '../../src/contract/names.ts';
import { readNode } from '../../src/contract/node.ts';
import { readObject } from '../../src/contract/object.ts';
import { type CsrDecision, decideCsr, readCsr } from '../../src/controllers/csr/decide.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { type CertificateSigningRequest, certificateSigningRequests, nodes } from '../../src/kube/resources.ts';
import type { AgentRecords } from './agent-records.ts';

export interface ApproverOptions {
  operatorNamespace: string;
  /** Host names by the address of the host: what windows-instances lists and the hosts would tell. */
  hosts: Readonly<Record<string, string>>;
  /** What is recorded about agents; their requests are left alone while they do not fit. */
  records?: AgentRecords;
}

export interface Approver extends AsyncDisposable {
  /** What was decided, in order. */
  readonly decisions: { request: CertificateSigningRequest; decision: CsrDecision }[];
}

const everyMs = 200;

/**
 * Decides about certificate requests by the rules of the operator, and approves what the cluster itself would: the renewal of a
 * kubelet's own certificate.
 */
export function startApproving(client: Client, options: ApproverOptions): Approver {
  const stop = new AbortController();
  const decisions: Approver['decisions'] = [];
  const run = async () => {
    const decided = new Set<string>();
    while (!stop.signal.aborted) {
      const { items } = await client.list(certificateSigningRequests, { signal: stop.signal });
      for (const request of items.filter(
        ({ metadata, status }) => !status?.conditions && !decided.has(metadata.uid ?? ''),
      )) {
        const decision = await decide(client, request, options);
        if (decision.do !== 'ask') decided.add(request.metadata.uid ?? '');
        decisions.push({ request, decision });
        if (decision.do === 'approve') await approve(client, request, decision.condition);
      }
      await clock.sleep(everyMs, stop.signal);
    }
  };
  const running = run().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    decisions,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

const byRecord = { type: 'Approved', status: 'True', reason: 'Test', message: 'the key is recorded' } as const;

async function decide(
  client: Client,
  request: CertificateSigningRequest,
  { operatorNamespace, hosts, records }: ApproverOptions,
): Promise<CsrDecision> {
  const isKnown = records?.approves(request);
  if (isKnown !== undefined) return isKnown ? { do: 'approve', condition: byRecord } : { do: 'ask', addresses: [] };
  const { items } = await client.list(nodes);
  const decision = decideCsr({
    csr: readCsr(readObject({ ...request, apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' })),
    operatorNamespace,
    instances: Object.keys(hosts).map(address => ({ address, ipv4: address })),
    nodes: items.map(item => readNode(readObject({ ...item, apiVersion: 'v1', kind: 'Node' }))),
    ptrAnswers: {},
    hostNames: hosts,
  });
  const { signerName, username = '' } = request.spec;
  const isRenewal = signerName === signer.kubeletClient && username.startsWith(identity.nodeUserPrefix);
  if (decision.do !== 'ignore' || !isRenewal) return decision;
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message: 'renewal' } as const;
  return { do: 'approve', condition };
}

async function approve(client: Client, request: CertificateSigningRequest, condition: object): Promise<void> {
  const body = { status: { conditions: [condition] } };
  try {
    const name = request.metadata.name ?? '';
    await client.patch(certificateSigningRequests, name, { type: 'merge', body }, { subresource: 'approval' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
