import { systemClock as clock } from '../../src/base/clock.ts';
import { identity, signer } from '../../src/contract/names.ts';
import { readNode } from '../../src/contract/node.ts';
import { readObject } from '../../src/contract/object.ts';
import type { CsrDecision } from '../../src/controllers/csr/decide.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { type CertificateSigningRequest, certificateSigningRequests, nodes } from '../../src/kube/resources.ts';
import { AgentRecords } from './agent-records.ts';
import { nodeOf } from './csr-facts.ts';

export interface ApproverOptions {
  operatorNamespace: string;
  /** Node names by the address of the host. */
  hosts: Readonly<Record<string, string>>;
  /** What is recorded about hosts and agents; requests that come before that stay pending. */
  records?: AgentRecords;
  /** Handed to all of these hosts, for their kubelets. */
  tokens?: readonly string[];
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
  const { operatorNamespace, hosts, tokens = [], records = new AgentRecords(operatorNamespace) } = options;
  for (const [address, name] of Object.entries(hosts)) {
    records.recordHost(name, [address]);
    for (const token of tokens) records.recordToken(name, 'kubelet', token);
  }
  const stop = new AbortController();
  const decisions: Approver['decisions'] = [];
  const run = async () => {
    const known = new Map<string, string>();
    while (!stop.signal.aborted) {
      const { items } = await client.list(certificateSigningRequests, { signal: stop.signal });
      // Looked at again and again, for what was not recorded at first may be recorded later.
      for (const request of items.filter(({ status }) => !status?.conditions)) {
        const decision = await decide(client, request, records);
        const { uid = '' } = request.metadata;
        if (known.get(uid) !== decision.do) decisions.push({ request, decision });
        known.set(uid, decision.do);
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

/** The record of each host that is listed here, beside what is recorded about its agent. */
async function decide(client: Client, request: CertificateSigningRequest, records: AgentRecords): Promise<CsrDecision> {
  const name = records.nodeOf(request);
  const found = name === undefined ? undefined : await client.get(nodes, name).catch(unlessGone);
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

function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
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
