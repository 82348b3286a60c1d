import { textFromCanonicalBase64 } from '#base/bytes.ts';
import { isNodeName } from '#base/dns-name.ts';
import { attempt, shown } from '#base/errors.ts';
import { shortLine } from '#base/printable.ts';
import { malformedRequest } from '#contract/csr-der.ts';
import { type CertificateRequest, maxRequestCharacters, parseCertificateRequest } from '#contract/csr-request.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { agentServiceAccountUser, identity, signer } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { noReservations } from '#contract/reserved.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import type { Case, CertificateKind, CsrView } from './case.ts';
import { recordedNames, rules, subjects } from './rules.ts';

/** Everything that the decision about one request depends on. */
export interface CsrFacts extends Omit<Case, 'request' | 'nodeName' | 'reserved'> {
  /** Undefined while the cluster has not been read. */
  reserved: Case['reserved'] | undefined;
  /** Age of the request. */
  ageMs: number;
}

export interface ApprovedCondition {
  type: 'Approved';
  status: 'True';
  reason: string;
  message: string;
}

/**
 * `refuse`: the request is for this operator and breaks a rule; an event tells the administrator. `ignore`: it is for another approver.
 * `wait`: it stays pending without an event, because the record may change soon. `inspect`: only some names are not recorded, so the
 * addresses of the host are read again over SSH first.
 */
export type CsrDecision =
  | { do: 'approve'; condition: ApprovedCondition }
  | Refusal
  | { do: 'ignore'; why: string }
  | { do: 'wait'; why: string }
  | { do: 'inspect'; why: string; otherwise: Refusal };

export interface Refusal {
  do: 'refuse';
  rule: string;
  why: string;
  event: EventText;
}

export function readCsr(object: KubeObject): CsrView {
  const spec = object.fields.object('spec');
  const text = decodeRequest(spec.string('request') ?? '', object.label);
  const [credentialId] = spec.object('extra').strings(credentialIdKey);
  const expirationSeconds = spec.number('expirationSeconds');
  return {
    label: object.label,
    parsed: attempt(() => parseCertificateRequest(text, object.label)),
    usages: spec.strings('usages'),
    signerName: spec.string('signerName') ?? '',
    username: spec.string('username') ?? '',
    groups: spec.strings('groups'),
    ...(credentialId !== undefined && { credentialId }),
    ...(expirationSeconds !== undefined && { expirationSeconds }),
    conditions: object.fields
      .object('status')
      .objects('conditions')
      .map(item => item.string('type') ?? ''),
  };
}

function decodeRequest(encoded: string, label: string): string {
  if (encoded.length > maxRequestCharacters)
    throw malformedRequest(label, `spec.request is longer than ${maxRequestCharacters} characters`);
  const text = textFromCanonicalBase64(encoded);
  if (text === undefined) throw malformedRequest(label, 'spec.request is not canonical base64 of text');
  return text;
}

/** The Node in the subject and the requested names; undefined without a valid Node name. */
export function subjectOf({ parsed }: CsrView): { node: string; names: readonly string[] } | undefined {
  if (!parsed.ok) return undefined;
  const { commonName, dnsNames, ipAddresses } = parsed.value;
  const prefix = Object.values(subjects).find(one => commonName.startsWith(one.prefix))?.prefix;
  if (prefix === undefined || !isNodeName(commonName.slice(prefix.length))) return undefined;
  return { node: commonName.slice(prefix.length), names: [...dnsNames, ...ipAddresses] };
}

export function decideCsr(facts: CsrFacts): CsrDecision {
  const { csr } = facts;
  // A request whose signing failed is still pending and can be approved.
  if (csr.conditions.some(type => type === 'Approved' || type === 'Denied')) {
    return ignore('CSR is already approved/denied');
  }
  const { parsed } = csr;
  if (!parsed.ok) {
    return isForUs(csr, facts.operatorNamespace)
      ? refuse('request', parsed.error.message)
      : ignore('it is neither from a kubelet nor from an agent, and cannot be read');
  }
  const kind = kindOf(facts, parsed.value);
  if (kind === undefined) return ignore(`common name ${shown(parsed.value.commonName)} is not of a kubelet or agent`);
  return decideKind(kind, parsed.value, facts);
}

/** Whether an unreadable request is for this operator. Other users also send requests to the signer of API clients. */
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

/** The signer determines the kind of kubelet certificate, and so the rules that apply. */
function kindOf({ csr, operatorNamespace }: CsrFacts, { commonName }: CertificateRequest): CertificateKind | undefined {
  if (commonName.startsWith(identity.cloudNodeUserPrefix)) return 'cloud-node';
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
  // Evidence about another Node does not count.
  const instance = facts.instance?.node === nodeName ? facts.instance : undefined;
  const node = facts.node?.name === nodeName ? facts.node : undefined;
  const given: Case = { ...facts, reserved: facts.reserved ?? noReservations, request, nodeName, instance, node };
  if (kind === 'agent' || kind === 'cloud-node') return decideAgent(kind, given, facts.ageMs);
  const decision = decideKubelet(kind, given);
  const isEarly = kind === 'kubelet-serving' && facts.reserved === undefined && decision.do === 'approve';
  return isEarly ? { do: 'wait', why: 'the names and addresses of the cluster are not known yet' } : decision;
}

/** The agent starts before the operator can record the hash of its key. */
const recordMs = 30_000;

function decideAgent(kind: CertificateKind, given: Case, ageMs: number): CsrDecision {
  const refusal = firstBroken(kind, given);
  if (refusal === undefined) {
    return approve('WICDAutoApproved', 'This CSR was approved by the WICD certificate controller');
  }
  const mayBeEarly = refusal.rule === 'key' && ageMs < recordMs;
  return mayBeEarly ? { do: 'wait', why: `${refusal.why}; it may not be recorded yet` } : refusal;
}

function decideKubelet(kind: CertificateKind, given: Case): CsrDecision {
  const { csr, request, instance, nodeName } = given;
  if (kind === 'kubelet-client' && csr.username === request.commonName) {
    return ignore('a node renews its own client certificate, which the cluster approves');
  }
  if (instance === undefined || instance.isMachine) {
    return ignore(`CSR contents are invalid for approval by WMCO: no listed instance is recorded as ${nodeName}`);
  }
  const refusal = firstBroken(kind, given);
  if (refusal === undefined) return approve('WMCOApprove', 'This CSR was approved by the WMCO certificate Approver.');
  // The host may have a new address since it was read.
  return refusal.rule === recordedNames ? { do: 'inspect', why: refusal.why, otherwise: refusal } : refusal;
}

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
  const event = eventText.nodeNameInvalid(shortLine(nodeName, 253));
  return { do: 'refuse', rule: 'node-name', why: event.message, event };
}

function ignore(why: string): CsrDecision {
  return { do: 'ignore', why };
}

function approve(reason: string, message: string): CsrDecision {
  return { do: 'approve', condition: { type: 'Approved', status: 'True', reason, message } };
}
