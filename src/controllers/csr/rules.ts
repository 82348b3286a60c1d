import { AppError, shown } from '#base/errors.ts';
import type { LifetimeLimit } from '#contract/certificate-lifetime.ts';
import type { CertificateRequest } from '#contract/csr-request.ts';
import { agentServiceAccountUser, bootstrapperUser, identity, isServiceAccount, signer } from '#contract/names.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import type { Reserved } from '#contract/reserved.ts';
import type { InstanceToken } from '#contract/windows-instance/resource.ts';
import { alternativeNames, brokenServingNames, unknownServingNames } from './serving-names.ts';

export type CertificateKind = 'kubelet-client' | 'kubelet-serving' | 'agent' | 'cloud-node';

/** What we need to know of a CertificateSigningRequest, read once from the API object. */
export interface CsrView {
  label: string;
  /** What it asks for, or why it cannot be read. */
  parsed: { ok: true; value: CertificateRequest } | { ok: false; error: AppError };
  usages: string[];
  signerName: string;
  username: string;
  groups: string[];
  /** Of the token its maker showed, in clusters that tell. */
  credentialId?: string;
  /** How long the certificate should live; servers before 1.22 do not tell. */
  expirationSeconds?: number;
  /** Types of the conditions it has. */
  conditions: string[];
}

/** A host by the record of the operator: evidence, not what a node says about itself. */
export interface CsrInstance {
  label: string;
  /** Kubelets of Machines are approved by the cluster. */
  isMachine: boolean;
  /** Node name in the record. */
  node: string;
  /** Addresses read over the pinned connection. */
  addresses: readonly string[];
  /** Names that the administrator has added. */
  servingNames: readonly string[];
  tokens: readonly Pick<InstanceToken, 'id' | 'use'>[];
  agentKeyHash: string | undefined;
  cloudKeyHash: string | undefined;
  /** An agent of the Go operator runs there, which has no recorded key. */
  hasFormerAgent: boolean;
}

/** One request, taken apart, with the Node it names (if that exists) and the host that is that Node. */
export interface Case {
  csr: CsrView;
  request: CertificateRequest;
  nodeName: string;
  node: NodeView | undefined;
  instance: CsrInstance | undefined;
  operatorNamespace: string;
  /** Whether the server writes the id of a token on requests (Kubernetes 1.30). */
  hasTokenIds: boolean;
  lifetime: LifetimeLimit;
  reserved: Reserved;
  /** Of the names asked for, those that belong to other hosts: name to whom. */
  taken: Readonly<Record<string, string>>;
}

/** A named check; it says what is wrong, or nothing. */
export interface Rule<Given = Case> {
  name: string;
  broken: (given: Given) => string | undefined;
}

/** What the subject of each kind of certificate looks like. */
export const subjects: Record<CertificateKind, { prefix: string; organization: string }> = {
  'kubelet-client': { prefix: identity.nodeUserPrefix, organization: identity.nodesGroup },
  'kubelet-serving': { prefix: identity.nodeUserPrefix, organization: identity.nodesGroup },
  agent: { prefix: identity.agentUserPrefix, organization: identity.agentsGroup },
  'cloud-node': { prefix: identity.cloudNodeUserPrefix, organization: identity.cloudNodesGroup },
};

const noAlternativeNames: Rule<ContentCase> = {
  name: 'no-alternative-names',
  broken: ({ request }) => {
    const names = alternativeNames(request);
    return names.length > 0 ? `it may hold no alternative names, and holds ${shown(names)}` : undefined;
  },
};

interface ContentCase {
  request: CertificateRequest;
}

/** Rules about the request itself, whoever made it. */
const contentRules: Record<CertificateKind, readonly Rule<ContentCase>[]> = {
  'kubelet-client': [...subjectRules('kubelet-client'), noAlternativeNames],
  'kubelet-serving': subjectRules('kubelet-serving'),
  agent: [...subjectRules('agent'), noAlternativeNames],
  'cloud-node': [...subjectRules('cloud-node'), noAlternativeNames],
};

export const windowsNode: Rule = {
  name: 'windows-node',
  broken: ({ node, nodeName }) => {
    if (node === undefined) return `there is no Node ${nodeName}`;
    return isWindowsNode(node) ? undefined : `Node ${nodeName} is no Windows node`;
  },
};

/** Only a host that is listed now, and has the name in its record, renews its certificate. */
const ofInstance: Rule = {
  name: 'instance',
  broken: ({ instance, nodeName }) =>
    instance === undefined ? `no WindowsInstance is recorded as Node ${nodeName}` : undefined,
};

/** A server is named by evidence: the recorded node name and addresses, and what the administrator has added. */
export const recordedNames = 'recorded-names';

/** All rules of a kind of certificate, in the order in which they are checked. Whatever breaks none of them is approved. */
export const rules: Record<CertificateKind, readonly Rule[]> = {
  'kubelet-client': [
    signedBy(signer.kubeletClient),
    requestedBy(({ operatorNamespace }) => [identity.nodeBootstrapper, bootstrapperUser(operatorNamespace)]),
    ...contentRules['kubelet-client'],
    usedFor('client auth'),
    { name: 'node-absent', broken: ({ node }) => node && `node ${node.name} already exists, cannot validate CSR` },
    madeWithTokenFor('kubelet'),
  ],
  'kubelet-serving': [
    signedBy(signer.kubeletServing),
    requestedBy(({ request }) => [request.commonName]),
    { name: 'groups', broken: ({ csr }) => missingGroup(csr.groups) },
    ...contentRules['kubelet-serving'],
    usedFor('server auth'),
    windowsNode,
    { name: 'alternative-names', broken: brokenServingNames },
    { name: recordedNames, broken: unknownServingNames },
  ],
  agent: [
    signedBy(signer.apiClient),
    requestedBy(({ operatorNamespace, request }) => [agentServiceAccountUser(operatorNamespace), request.commonName]),
    ...contentRules.agent,
    usedFor('client auth'),
    windowsNode,
    ofInstance,
    madeWithTokenFor('agent'),
    // Those of the Go operator do not say for how long.
    { name: 'lifetime', broken: given => (isFormerAgent(given) ? undefined : wrongLifetime(given)) },
    {
      name: 'key',
      broken: given => (isFormerAgent(given) ? wrongRenewal(given) : wrongKey(given, given.instance?.agentKeyHash)),
    },
  ],
  'cloud-node': [
    signedBy(signer.apiClient),
    requestedBy(({ operatorNamespace, nodeName }) => [
      agentServiceAccountUser(operatorNamespace),
      `${identity.agentUserPrefix}${nodeName}`,
    ]),
    ...contentRules['cloud-node'],
    usedFor('client auth'),
    windowsNode,
    ofInstance,
    madeWithTokenFor('agent'),
    { name: 'lifetime', broken: wrongLifetime },
    { name: 'key', broken: given => wrongKey(given, given.instance?.cloudKeyHash) },
  ],
};

/** Checks subject and alternative names of a request, as far as the kind of certificate alone decides about them. */
export function checkCertificateContent(kind: CertificateKind, request: CertificateRequest, label = 'CSR'): void {
  for (const { broken } of contentRules[kind]) {
    const why = broken({ request });
    if (why === undefined) continue;
    throw new AppError('CSR_REFUSED', `${label}: ${why}`, {
      remedy: 'Find out who made this request; the programs we know ask for nothing of the kind.',
    });
  }
}

function subjectRules(kind: CertificateKind): Rule<ContentCase>[] {
  const { prefix, organization } = subjects[kind];
  return [
    { name: 'organization', broken: ({ request }) => wrongOrganization(request.organizations, organization) },
    {
      name: 'common-name',
      broken: ({ request: { commonName } }) =>
        commonName.startsWith(prefix) ? undefined : `common name ${shown(commonName)} does not begin with ${prefix}`,
    },
    {
      name: 'subject',
      broken: ({ request: { otherAttributes } }) =>
        otherAttributes.length > 0
          ? `the subject may hold common name and organization only, and holds ${shown(otherAttributes)}`
          : undefined,
    },
  ];
}

function wrongOrganization(organizations: readonly string[], wanted: string): string | undefined {
  const found = `in CSR content ${shown(organizations)}, wanted is ${shown(wanted)} alone`;
  if (organizations.length !== 1) return `invalid number of organizations ${found}`;
  return organizations[0] === wanted ? undefined : `invalid subject organization ${found}`;
}

function signedBy(wanted: string): Rule {
  return {
    name: 'signer',
    broken: ({ csr: { signerName } }) =>
      signerName === wanted ? undefined : `signer is ${shown(signerName)}, and must be ${wanted}`,
  };
}

function requestedBy(allowed: (given: Case) => string[]): Rule {
  return {
    name: 'requester',
    broken: given =>
      allowed(given).includes(given.csr.username)
        ? undefined
        : `${shown(given.csr.username)} may not ask for it, only ${allowed(given).map(shown).join(' or ')}`,
  };
}

/** Exactly the two usages of the certificate; RSA keys are used for key encipherment as well. */
function usedFor(purpose: 'client auth' | 'server auth'): Rule {
  const wanted = ['digital signature', purpose];
  return {
    name: 'usages',
    broken: ({ csr: { usages } }) => {
      const rest = usages.filter(usage => usage !== 'key encipherment');
      const exact = rest.length === wanted.length && wanted.every(usage => rest.includes(usage));
      const once = usages.length - rest.length <= 1;
      return exact && once ? undefined : `usages are ${shown(usages)}, and must be ${wanted.join(', ')}`;
    },
  };
}

function missingGroup(groups: readonly string[]): string | undefined {
  const missing = [identity.nodesGroup, identity.authenticatedGroup].filter(group => !groups.includes(group));
  return missing.length > 0 ? `the requester is not in ${missing.join(', ')}` : undefined;
}

/**
 * A token brings no other host into the cluster than the one it was made for. Demanded of requests made with a token, not of
 * renewals made with a certificate. Servers before 1.30 do not write which token it was.
 */
function madeWithTokenFor(use: InstanceToken['use']): Rule {
  return {
    name: 'token',
    broken: ({ csr: { username, credentialId }, hasTokenIds, instance, nodeName }) => {
      if (!isServiceAccount(username)) return undefined;
      if (credentialId === undefined) {
        return hasTokenIds ? 'it was made with a token that has no id, such as one that never expires' : undefined;
      }
      const isOwn = instance?.tokens.some(token => token.id === credentialId && token.use === use) === true;
      return isOwn ? undefined : `the token it was made with was not handed to the host of Node ${nodeName}`;
    },
  };
}

/** Whoever has stolen the key of an agent could otherwise ask for a certificate that outlives all that is done about it. */
function wrongLifetime({ csr: { expirationSeconds }, lifetime: { maxSeconds, isKept } }: Case): string | undefined {
  if (expirationSeconds === undefined) {
    return isKept ? `it does not say how long the certificate should live, at most ${maxSeconds} s` : undefined;
  }
  if (expirationSeconds <= maxSeconds) return undefined;
  return `the certificate should live for ${expirationSeconds} s, and may for ${maxSeconds} s (--agent-certificate-lifetime)`;
}

/** The key must be the one whose hash the host has printed over the pinned connection. */
function wrongKey({ request, instance }: Case, recorded: string | undefined): string | undefined {
  return recorded === request.keyHash ? undefined : `its key is not the one recorded for ${instance?.label}`;
}

/** The token of the account is the same on all hosts of the Go operator, so it proves nothing about one. */
function wrongRenewal({ csr, request }: Case): string | undefined {
  return csr.username === request.commonName
    ? undefined
    : 'an agent of the Go operator can only renew its certificate, with that certificate';
}

/** Agents of the Go operator make a new key for each request. */
function isFormerAgent({ instance }: Case): boolean {
  return instance?.hasFormerAgent === true && instance.agentKeyHash === undefined;
}
