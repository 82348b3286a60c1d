import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import type { ServiceAccountToken } from '#cluster/facts.ts';
import { secretKey } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { secretMember } from '#contract/secret-data.ts';

/** Reads CA and token from a service account token Secret. */
export function serviceAccountToken(data: Readonly<Record<string, Secret>>, label: string): ServiceAccountToken {
  return { ca: secretMember(data, secretKey.ca, label).reveal(), token: secretMember(data, secretKey.token, label) };
}

/** A kubeconfig with a token: for the first start of the kubelet, and for the agent. */
export function tokenKubeconfig(user: string, apiServerUrl: string, credentials: ServiceAccountToken): Secret {
  const token = credentials.token.reveal();
  return new Secret(print(user, apiServerUrl, credentials.ca, token === '' ? {} : { token }));
}

export function cloudNodeKubeconfig(apiServerUrl: string, ca: string): string {
  return certificateKubeconfig('cloud-node-manager', apiServerUrl, ca, file.cloudNodeCertificate);
}

/** Refers to a file with certificate and key that the agent renews. */
export function certificateKubeconfig(user: string, apiServerUrl: string, ca: string, path: string): string {
  return print(user, apiServerUrl, ca, { 'client-certificate': path, 'client-key': path });
}

/** JSON without apiVersion and kind, in this order, as the Go operator writes it. */
function print(user: string, server: string, ca: string, credentials: Record<string, string>): string {
  const authority = ca === '' ? {} : { 'certificate-authority-data': toBase64(ca) };
  return JSON.stringify({
    clusters: [{ name: 'local', cluster: { server, ...authority } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: user, context: { cluster: 'local', user } }],
    'current-context': user,
  });
}
