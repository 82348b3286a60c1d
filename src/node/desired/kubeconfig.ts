import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import type { ServiceAccountToken } from '#cluster/facts.ts';
import { secretKey } from '#contract/names.ts';
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

/** Of cloud-node-manager. */
export function cloudNodeKubeconfig(apiServerUrl: string, ca: string): string {
  return certificateKubeconfig('cloud-node-manager', apiServerUrl, ca, file.cloudNodeCertificate);
}

/** Names the file that the agent keeps, certificate and key in one, so that a renewed certificate is picked up. */
export function certificateKubeconfig(user: string, apiServerUrl: string, ca: string, path: string): string {
  return print(user, apiServerUrl, ca, { 'client-certificate': path, 'client-key': path });
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
