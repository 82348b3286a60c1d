import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import type { ServiceAccountToken } from '#cluster/facts.ts';
import { identity, secretKey } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { secretMember } from '#contract/secret-data.ts';

/** Reads CA and token from the data of a service account's token Secret. */
export function serviceAccountToken(data: Readonly<Record<string, Secret>>, label: string): ServiceAccountToken {
  return { ca: secretMember(data, secretKey.ca, label).reveal(), token: secretMember(data, secretKey.token, label) };
}

/** A kubeconfig that authenticates with a token: the kubelet's for its first start, and the agent's. */
export function tokenKubeconfig(user: string, apiServerUrl: string, credentials: ServiceAccountToken): Secret {
  const token = credentials.token.reveal();
  return new Secret(print(user, apiServerUrl, credentials.ca, token === '' ? {} : { token }));
}

/** The agent's kubeconfig once it has a certificate: both halves are in one file that the agent renews itself. */
export function certificateKubeconfig(node: string, apiServerUrl: string, ca: string): string {
  const credentials = { 'client-certificate': file.agentCertificate, 'client-key': file.agentCertificate };
  return print(`${identity.agentUserPrefix}${node}`, apiServerUrl, ca, credentials);
}

/** JSON without apiVersion and kind, members in this order: the form that hosts of live clusters have on disk. */
function print(user: string, server: string, ca: string, credentials: Record<string, string>): string {
  const authority = ca === '' ? {} : { 'certificate-authority-data': toBase64(ca) };
  return JSON.stringify({
    clusters: [{ name: 'local', cluster: { server, ...authority } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: user, context: { cluster: 'local', user } }],
    'current-context': user,
  });
}
