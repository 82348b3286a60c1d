import { textFromCanonicalBase64 } from '#base/bytes.ts';
import { isNodeName } from '#base/dns-name.ts';
import { attempt, shown } from '#base/errors.ts';
import { malformedRequest } from '#contract/csr-der.ts';
import { type CertificateRequest, parseCertificateRequest } from '#contract/csr-request.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { agentServiceAccountUser, identity, signer } from '#contract/names.ts';
import { findNodeByAddress, type NodeView } from '#contract/node.ts';
import type { KubeObject } from '#contract/object.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import type { ListedInstance, PtrAnswers } from '#controllers/instances/decide.ts';
import { type HostNameAnswers, standingOf } from './names.ts';
import { type Case, type CertificateKind, type CsrView, rules, subjects, type TokenHolder } from './rules.ts';

/** Everything the decision about one request depends on. */
export interface CsrFacts {
  csr: CsrView;
  operatorNamespace: string;
  /** Usable entries of windows-instances; one that cannot be used is left out and harms nobody else. */
  instances: readonly ListedInstance[];
  /** All Nodes, also those of Linux: a client certificate is for a Node that does not exist yet. */
  nodes: readonly NodeView[];
  /** Hosts that were given tokens; those of the request's are found among them. */
  tokenHolders?: readonly TokenHolder[];
  ptrAnswers: PtrAnswers;
  hostNames: HostNameAnswers;
}

export interface ApprovedCondition {
  type: 'Approved';
  status: 'True';
  reason: string;
  message: string;
}

/**
 * Refused is what looks like a request to us and breaks a rule: somebody should know. Ignored is what is none of our
 * business. To ask means: all else is fine, but these hosts have to tell their name over pinned SSH first; those that
 * gave no answer are named again.
 */
export type CsrDecision =
  | { do: 'approve'; condition: ApprovedCondition }
  | { do: 'refuse'; rule: string; why: string; event: EventText }
  | { do: 'ignore'; why: string }
  | { do: 'ask'; addresses: string[] };

export function readCsr(object: KubeObject): CsrView {
  const spec = object.fields.object('spec');
  const requestText = textFromCanonicalBase64(spec.string('request') ?? '');
  if (requestText === undefined) throw malformedRequest(object.label, 'spec.request is not plain base64 of a text');
  const [credentialId] = spec.object('extra').strings(credentialIdKey);
  return {
    label: object.label,
    requestText,
    usages: spec.strings('usages'),
    signerName: spec.string('signerName') ?? '',
    username: spec.string('username') ?? '',
    groups: spec.strings('groups'),
    ...(credentialId !== undefined && { credentialId }),
    conditions: object.fields
      .object('status')
      .objects('conditions')
      .map(item => item.string('type') ?? ''),
  };
}

/**
 * The Node a request is about; undefined when it names none. `isNewKubelet` is false where no name of a host could matter: for the
 * agent, and for a kubelet that renews its own client certificate.
 */
export function subjectOf(csr: CsrView): { node: string; isNewKubelet: boolean } | undefined {
  const parsed = attempt(() => parseCertificateRequest(csr.requestText, csr.label));
  const commonName = parsed.ok ? parsed.value.commonName : '';
  const prefix = Object.values(subjects).find(one => commonName.startsWith(one.prefix))?.prefix;
  if (prefix === undefined || !isNodeName(commonName.slice(prefix.length))) return undefined;
  const renews = csr.signerName === signer.kubeletClient && csr.username === commonName;
  return { node: commonName.slice(prefix.length), isNewKubelet: prefix === identity.nodeUserPrefix && !renews };
}

export function decideCsr(facts: CsrFacts): CsrDecision {
  const { csr } = facts;
  // A request whose signing failed is still open: it can be approved and tried again.
  if (csr.conditions.some(type => type === 'Approved' || type === 'Denied')) {
    return ignore('CSR is already approved/denied');
  }
  const parsed = attempt(() => parseCertificateRequest(csr.requestText, csr.label));
  if (!parsed.ok) {
    return isForUs(csr, facts.operatorNamespace)
      ? refuse('request', parsed.error.message)
      : ignore('it is neither of a kubelet nor of an agent, and cannot be read');
  }
  const kind = kindOf(facts, parsed.value);
  if (kind === undefined) return ignore(`common name ${shown(parsed.value.commonName)} is not ours`);
  return decideKind(kind, parsed.value, facts);
}

/** Who may be meant by a request that cannot be read. Users of all kinds ask the signer of API clients, in ways of their own. */
export function isForUs({ signerName, username = '' }: Requester, operatorNamespace: string): boolean {
  if (signerName === signer.apiClient) return isAgentUser(username, operatorNamespace);
  return signerName === signer.kubeletClient || signerName === signer.kubeletServing;
}

interface Requester {
  signerName: string;
  username?: string;
}

function isAgentUser(username: string, operatorNamespace: string): boolean {
  return username === agentServiceAccountUser(operatorNamespace) || username.startsWith(identity.agentUserPrefix);
}

/** The signer decides which kind of certificate comes out, so it decides which rules apply. */
function kindOf({ csr, operatorNamespace }: CsrFacts, { commonName }: CertificateRequest): CertificateKind | undefined {
  if (isAgentUser(csr.username, operatorNamespace) || commonName.startsWith(identity.agentUserPrefix)) return 'agent';
  if (!commonName.startsWith(identity.nodeUserPrefix)) return undefined;
  return csr.signerName === signer.kubeletServing ? 'kubelet-serving' : 'kubelet-client';
}

function decideKind(kind: CertificateKind, request: CertificateRequest, facts: CsrFacts): CsrDecision {
  const { prefix } = subjects[kind];
  const { commonName } = request;
  const nodeName = commonName.startsWith(prefix) ? commonName.slice(prefix.length) : '';
  if (commonName.startsWith(prefix) && !isNodeName(nodeName)) {
    return refuseNodeName(nodeName);
  }
  const node = facts.nodes.find(({ name }) => name === nodeName);
  const { csr, operatorNamespace, tokenHolders = [] } = facts;
  const holders = tokenHolders.filter(({ tokenIds }) => tokenIds.includes(csr.credentialId ?? ''));
  const given: Case = { csr, request, nodeName, node, operatorNamespace, tokenHolders: holders };
  return kind === 'agent' ? decideAgent(given) : decideKubelet(kind, given, facts);
}

function decideAgent(given: Case): CsrDecision {
  return (
    firstBroken('agent', given) ??
    approve('WICDAutoApproved', 'This CSR was approved by the WICD certificate controller')
  );
}

function decideKubelet(kind: CertificateKind, given: Case, facts: CsrFacts): CsrDecision {
  if (kind === 'kubelet-client' && given.csr.username === given.request.commonName) {
    return ignore('a node renews its own client certificate, which the cluster approves by itself');
  }
  const candidates = facts.instances.filter(instance => mayBeNode(instance, given.node, facts.nodes));
  const standing = standingOf(given.nodeName, { ...facts, candidates });
  const unlisted = `CSR contents are invalid for approval by WMCO: no listed instance is known as ${given.nodeName}`;
  if (standing.is === 'unlisted') return ignore(unlisted);
  const refusal = firstBroken(kind, given);
  if (standing.is === 'listed') {
    return refusal ?? approve('WMCOApprove', 'This CSR was approved by the WMCO certificate Approver.');
  }
  // Nobody is asked because of a request that cannot be approved anyway; most of these belong to Linux nodes.
  return refusal === undefined ? { do: 'ask', addresses: standing.ask } : ignore(`${unlisted}, and ${refusal.why}`);
}

/** An instance can only be the Node that carries its address; while there is none, an instance that has another Node is out. */
function mayBeNode(instance: ListedInstance, node: NodeView | undefined, nodes: readonly NodeView[]): boolean {
  if (instance.ipv4 === undefined) return true;
  return node === undefined
    ? findNodeByAddress(instance.ipv4, nodes) === undefined
    : findNodeByAddress(instance.ipv4, [node]) !== undefined;
}

type Refusal = Extract<CsrDecision, { do: 'refuse' }>;

function firstBroken(kind: CertificateKind, given: Case): Refusal | undefined {
  for (const { name, broken } of rules[kind]) {
    const why = broken(given);
    if (why !== undefined) return refuse(name, why);
  }
  return undefined;
}

function refuse(rule: string, why: string): Refusal {
  return { do: 'refuse', rule, why, event: eventText.csrRefused(rule, why) };
}

function refuseNodeName(nodeName: string): Refusal {
  const event = eventText.nodeNameInvalid(nodeName.slice(0, 253));
  return { do: 'refuse', rule: 'node-name', why: event.message, event };
}

function ignore(why: string): CsrDecision {
  return { do: 'ignore', why };
}

function approve(reason: string, message: string): CsrDecision {
  return { do: 'approve', condition: { type: 'Approved', status: 'True', reason, message } };
}
