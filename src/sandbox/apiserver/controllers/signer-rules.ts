import type { CertificateRequest } from '#contract/csr-request.ts';

/** Why a signer rejects an approved request; undefined if it signs it. */
type SignerRule = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

const servingUsages = ['digital signature', 'key encipherment', 'server auth'];
const clientUsages = ['client auth', 'digital signature', 'key encipherment'];

/** Rules of the built-in signers. */
export const signerRules: Readonly<Record<string, SignerRule>> = {
  'kubernetes.io/kubelet-serving': (request, usages) =>
    organizationProblem(request) ??
    (request.dnsNames.length + request.ipAddresses.length === 0 ? 'DNS or IP subjectAltName is required' : undefined) ??
    namesProblem(request, ['emailAddresses', 'uris']) ??
    usagesProblem(usages, servingUsages) ??
    commonNameProblem(request),
  'kubernetes.io/kube-apiserver-client-kubelet': (request, usages) =>
    organizationProblem(request) ??
    namesProblem(request, ['dnsNames', 'emailAddresses', 'ipAddresses', 'uris']) ??
    commonNameProblem(request) ??
    usagesProblem(usages, clientUsages),
  'kubernetes.io/kube-apiserver-client': (_request, usages) => clientUsagesProblem(usages),
  'kubernetes.io/legacy-unknown': () => undefined,
};

function organizationProblem({ organizations }: CertificateRequest): string | undefined {
  const [first, ...more] = organizations;
  return first === 'system:nodes' && more.length === 0 ? undefined : 'subject organization is not system:nodes';
}

function commonNameProblem({ commonName }: CertificateRequest): string | undefined {
  return commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:';
}

const nameKinds = { dnsNames: 'DNS', emailAddresses: 'Email', ipAddresses: 'IP', uris: 'URI' };

function namesProblem(request: CertificateRequest, forbidden: readonly (keyof typeof nameKinds)[]): string | undefined {
  const found = forbidden.find(kind => request[kind].length > 0);
  return found === undefined ? undefined : `${nameKinds[found]} subjectAltNames are not allowed`;
}

function usagesProblem(usages: readonly string[], wanted: readonly string[]): string | undefined {
  const given = new Set(usages);
  const same = given.size === wanted.length && wanted.every(usage => given.has(usage));
  return same ? undefined : `usages did not match [${wanted.join(' ')}]`;
}

function clientUsagesProblem(usages: readonly string[]): string | undefined {
  const odd = usages.find(usage => !clientUsages.includes(usage));
  if (odd !== undefined) return `invalid usage for client certificate: ${odd}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}
