import { systemClock as clock } from '../../src/base/clock.ts';
import { attempt } from '../../src/base/errors.ts';
import { parseCertificateRequest } from '../../src/contract/csr-request.ts';
import { identity, signer } from '../../src/contract/names.ts';
import { readNode } from '../../src/contract/node.ts';
import { readObject } from '../../src/contract/object.ts';
import { nothingReserved } from '../../src/contract/reserved.ts';
import type { InstanceRecord } from '../../src/contract/windows-instance/resource.ts';
import { type CsrDecision, decideCsr, readCsr, subjectOf } from '../../src/controllers/csr/decide.ts';
import type { CsrInstance, CsrView } from '../../src/controllers/csr/rules.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { type CertificateSigningRequest, certificateSigningRequests, nodes } from '../../src/kube/resources.ts';

export interface ApproverOptions {
  operatorNamespace: string;
  /** Host names by the address of the host: what windows-instances lists and the operator has read from the hosts. */
  hosts: Readonly<Record<string, string>>;
  /**
   * What the operator would have recorded, by the name of the Node. Without it every host counts as recorded with the token and the
   * key of its request.
   */
  records?: { of(node: string): InstanceRecord };
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
        // What waits is judged again when the record has changed.
        if (decision.do === 'wait') continue;
        if (options.records === undefined || decision.do === 'approve') decided.add(request.metadata.uid ?? '');
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

async function decide(
  client: Client,
  request: CertificateSigningRequest,
  options: ApproverOptions,
): Promise<CsrDecision> {
  const csr = readCsr(
    readObject({ ...request, apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' }),
  );
  const name = subjectOf(csr)?.node ?? '';
  const { items } = await client.list(nodes);
  const node = items.find(({ metadata }) => metadata.name === name);
  const decision = decideCsr({
    csr,
    operatorNamespace: options.operatorNamespace,
    instance: recordFor(name, csr, options),
    node: node && readNode(readObject({ ...node, apiVersion: 'v1', kind: 'Node' })),
    hasTokenIds: false,
    reserved: nothingReserved,
    taken: {},
    ageMs: Number.POSITIVE_INFINITY,
  });
  const { signerName, username = '' } = request.spec;
  const isRenewal = signerName === signer.kubeletClient && username.startsWith(identity.nodeUserPrefix);
  if (decision.do !== 'ignore' || !isRenewal) return decision;
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message: 'renewal' } as const;
  return { do: 'approve', condition };
}

/** The evidence about the host of a Node. */
export function recordFor(
  node: string,
  { requestText, credentialId = '' }: CsrView,
  { hosts, records }: Pick<ApproverOptions, 'hosts' | 'records'>,
): CsrInstance {
  const addresses = Object.keys(hosts).filter(address => hosts[address]?.toLowerCase() === node);
  const common = { label: `host of ${node}`, servingNames: [], hasFormerAgent: false };
  if (records !== undefined) {
    const { host, tokens = [], agent, cloudNode } = records.of(node);
    const isListed = addresses.length > 0;
    const known = { node: host?.name ?? (isListed ? node : ''), addresses: [...addresses, ...(host?.addresses ?? [])] };
    return {
      ...common,
      ...known,
      isMachine: !isListed,
      tokens,
      agentKeyHash: agent?.keyHash,
      cloudKeyHash: cloudNode?.keyHash,
    };
  }
  const key = attempt(() => parseCertificateRequest(requestText).keyHash);
  const keyHash = key.ok ? key.value : undefined;
  return {
    ...common,
    node,
    addresses,
    isMachine: addresses.length === 0,
    tokens: (['kubelet', 'agent'] as const).map(use => ({ id: credentialId, use })),
    agentKeyHash: keyHash,
    cloudKeyHash: keyHash,
  };
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
