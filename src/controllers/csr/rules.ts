import { normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { isIp } from '#base/ipv4.ts';
import type { CertificateRequest } from '#contract/csr-request.ts';
import { agentServiceAccountUser, bootstrapperUser, identity, signer } from '#contract/names.ts';
import { findNodeByAddress, isWindowsNode, type NodeView } from '#contract/node.ts';

export type CertificateKind = 'kubelet-client' | 'kubelet-serving' | 'agent';

/** What we need to know of a CertificateSigningRequest, read once from the API object. */
export interface CsrView {
  label: string;
  /** PEM, no longer in base64. */
  requestText: string;
  usages: string[];
  signerName: string;
  username: string;
  groups: string[];
  /** Of the token its maker showed, in clusters that tell. */
  credentialId?: string;
  /** Types of the conditions it has. */
  conditions: string[];
}

/** One request, taken apart, with the Node it names (if that exists). */
export interface Case {
  csr: CsrView;
  request: CertificateRequest;
  nodeName: string;
  node: NodeView | undefined;
  operatorNamespace: string;
  /** The hosts that were given the token of the request. */
  tokenHolders: readonly TokenHolder[];
}

/** A host with what is known of its Node. */
export interface TokenHolder {
  label: string;
  ipv4: string | undefined;
  node: string | undefined;
  tokenIds: readonly string[];
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
};

const windowsNode: Rule = {
  name: 'windows-node',
  broken: ({ node, nodeName }) => {
    if (node === undefined) return `there is no Node ${nodeName}`;
    return isWindowsNode(node) ? undefined : `Node ${nodeName} is no Windows node`;
  },
};

/** All rules of a kind of certificate, in the order in which they are checked. Whatever breaks none of them is approved. */
export const rules: Record<CertificateKind, readonly Rule[]> = {
  'kubelet-client': [
    signedBy(signer.kubeletClient),
    requestedBy(({ operatorNamespace }) => [identity.nodeBootstrapper, bootstrapperUser(operatorNamespace)]),
    ...contentRules['kubelet-client'],
    usedFor('client auth'),
    { name: 'node-absent', broken: ({ node }) => node && `node ${node.name} already exists, cannot validate CSR` },
  ],
  'kubelet-serving': [
    signedBy(signer.kubeletServing),
    requestedBy(({ request }) => [request.commonName]),
    { name: 'groups', broken: ({ csr }) => missingGroup(csr.groups) },
    ...contentRules['kubelet-serving'],
    usedFor('server auth'),
    windowsNode,
    { name: 'alternative-names', broken: brokenServingNames },
  ],
  agent: [
    signedBy(signer.apiClient),
    requestedBy(({ operatorNamespace, request }) => [agentServiceAccountUser(operatorNamespace), request.commonName]),
    ...contentRules.agent,
    usedFor('client auth'),
    windowsNode,
    { name: 'token', broken: brokenToken },
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

function alternativeNames(request: CertificateRequest): string[] {
  const unknown = Array.from({ length: request.otherNames }, () => '(of another kind)');
  return [...request.dnsNames, ...request.ipAddresses, ...request.emailAddresses, ...request.uris, ...unknown];
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
        : `${shown(given.csr.username)} may not ask for it, only ${allowed(given).join(' or ')}`,
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

/** A token that was made for one host brings no other into the cluster. Clusters before 1.30 do not tell tokens apart. */
function brokenToken({ csr, request, nodeName, node, tokenHolders }: Case): string | undefined {
  if (csr.credentialId === undefined || csr.username === request.commonName) return undefined;
  if (tokenHolders.length === 0) return 'the token it was made with was given to no host';
  const isNode = ({ ipv4, node: known }: TokenHolder) =>
    known === nodeName || (ipv4 !== undefined && node !== undefined && findNodeByAddress(ipv4, [node]) !== undefined);
  if (tokenHolders.some(isNode)) return undefined;
  return `the token it was made with was given to ${tokenHolders.map(({ label }) => label).join(', ')}, which is not Node ${nodeName}`;
}

/** A server may only be named as the Node it runs on is: by the Node's name, or an address in its status. */
function brokenServingNames({ request, node }: Case): string | undefined {
  if (alternativeNames(request).length === 0) return 'it names no server: there are no alternative names';
  const strange = [...request.emailAddresses, ...request.uris];
  if (strange.length + request.otherNames > 0)
    return `only DNS names and IP addresses may name a server, not ${shown(strange)}`;
  const own = [node?.name ?? '', ...(node?.addresses.map(item => item.address) ?? [])].filter(name => name !== '');
  const ips = new Set(own.filter(isIp).map(normalHostName));
  const names = new Set(own.filter(text => !isIp(text)).map(normalHostName));
  const foreign = [
    ...request.dnsNames.filter(name => !names.has(normalHostName(name))),
    ...request.ipAddresses.filter(address => !ips.has(address)),
  ];
  return foreign.length > 0 ? `these names are not the Node’s own: ${shown(foreign)}` : undefined;
}
