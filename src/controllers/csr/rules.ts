import { AppError, shown } from '#base/errors.ts';
import type { CertificateRequest } from '#contract/csr-request.ts';
import { agentServiceAccountUser, bootstrapperUser, identity, isServiceAccount, signer } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import type { InstanceToken } from '#contract/windows-instance/resource.ts';
import type { Case, CertificateKind, Rule } from './case.ts';
import { alternativeNames, brokenServingNames, unknownServingNames } from './serving-names.ts';

/** Subject of each kind of certificate. */
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
    return names.length > 0 ? `alternative names are not allowed: ${shown(names)}` : undefined;
  },
};

interface ContentCase {
  request: CertificateRequest;
}

/** Rules about the content of the request, whoever sent it. */
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
    return isWindowsNode(node) ? undefined : `Node ${nodeName} is not a Windows node`;
  },
};

/** Only hosts whose instance exists and records the name can renew certificates. */
const ofInstance: Rule = {
  name: 'instance',
  broken: ({ instance, nodeName }) =>
    instance === undefined ? `no WindowsInstance is recorded as Node ${nodeName}` : undefined,
};

/** Serving certificates may have the recorded node name and addresses, and names that an administrator added. */
export const recordedNames = 'recorded-names';

/** The rules of each kind of certificate, in order. A request that breaks none of them is approved. */
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
    // Agents of the Go operator do not request a lifetime.
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

/** Checks subject and alternative names of a request by the rules that need no evidence. */
export function checkCertificateContent(kind: CertificateKind, request: CertificateRequest, label = 'CSR'): void {
  for (const { broken } of contentRules[kind]) {
    const why = broken({ request });
    if (why === undefined) continue;
    throw new AppError('CSR_REFUSED', `${label}: ${why}`, {
      remedy: 'Find out who sent this request: neither kubelet nor agent sends such requests.',
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
          ? `the subject may have only common name and organization, but also has ${shown(otherAttributes)}`
          : undefined,
    },
  ];
}

function wrongOrganization(organizations: readonly string[], wanted: string): string | undefined {
  const found = `in CSR content ${shown(organizations)}, expected only ${shown(wanted)}`;
  if (organizations.length !== 1) return `invalid number of organizations ${found}`;
  return organizations[0] === wanted ? undefined : `invalid subject organization ${found}`;
}

function signedBy(wanted: string): Rule {
  return {
    name: 'signer',
    broken: ({ csr: { signerName } }) =>
      signerName === wanted ? undefined : `signer is ${shown(signerName)}, but must be ${wanted}`,
  };
}

function requestedBy(allowed: (given: Case) => string[]): Rule {
  return {
    name: 'requester',
    broken: given =>
      allowed(given).includes(given.csr.username)
        ? undefined
        : `requester is ${shown(given.csr.username)}, but must be ${allowed(given).map(shown).join(' or ')}`,
  };
}

/** Exactly these two usages; RSA keys also have key encipherment. */
function usedFor(purpose: 'client auth' | 'server auth'): Rule {
  const wanted = ['digital signature', purpose];
  return {
    name: 'usages',
    broken: ({ csr: { usages } }) => {
      const rest = usages.filter(usage => usage !== 'key encipherment');
      const exact = rest.length === wanted.length && wanted.every(usage => rest.includes(usage));
      const once = usages.length - rest.length <= 1;
      return exact && once ? undefined : `usages are ${shown(usages)}, but must be ${wanted.join(', ')}`;
    },
  };
}

function missingGroup(groups: readonly string[]): string | undefined {
  const missing = [identity.nodesGroup, identity.authenticatedGroup].filter(group => !groups.includes(group));
  return missing.length > 0 ? `the requester is not in ${missing.join(', ')}` : undefined;
}

/**
 * A token lets only the host join that it was issued for. Applies to requests with a token, not to renewals with a certificate.
 * Servers before 1.30 do not write the id of the token.
 */
function madeWithTokenFor(use: InstanceToken['use']): Rule {
  return {
    name: 'token',
    broken: ({ csr: { username, credentialId }, hasTokenIds, instance, nodeName }) => {
      if (!isServiceAccount(username)) return undefined;
      if (credentialId === undefined) {
        return hasTokenIds ? 'it was sent with a token without an id, such as one that never expires' : undefined;
      }
      const isOwn = instance?.tokens.some(token => token.id === credentialId && token.use === use) === true;
      return isOwn ? undefined : `it was sent with a token that was not issued to the host of Node ${nodeName}`;
    },
  };
}

/** Otherwise a stolen agent key could be used to get a certificate with a very long lifetime. */
function wrongLifetime({ csr: { expirationSeconds }, lifetime: { maxSeconds, isKept } }: Case): string | undefined {
  if (expirationSeconds === undefined) {
    return isKept ? `it requests no lifetime; the maximum is ${maxSeconds} s` : undefined;
  }
  if (expirationSeconds <= maxSeconds) return undefined;
  return `requested lifetime of ${expirationSeconds} s exceeds ${maxSeconds} s (--agent-certificate-lifetime)`;
}

/** The agent reported the hash of its key over the pinned connection. */
function wrongKey({ request, instance }: Case, recorded: string | undefined): string | undefined {
  return recorded === request.keyHash ? undefined : `its key is not the one recorded for ${instance?.label}`;
}

/** All hosts of the Go operator share one token, so it is no evidence about a single host. */
function wrongRenewal({ csr, request }: Case): string | undefined {
  return csr.username === request.commonName
    ? undefined
    : 'an agent of the Go operator can only renew its certificate, with that certificate';
}

/** Agents of the Go operator create a new key for each request. */
function isFormerAgent({ instance }: Case): boolean {
  return instance?.hasFormerAgent === true && instance.agentKeyHash === undefined;
}
