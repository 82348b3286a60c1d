import type { Client } from '../../src/kube/client.ts';

/** A token of a service account, requested by an administrator. */
export async function accountToken(
  admin: Client,
  namespace: string,
  account: string,
  expirationSeconds = 3600,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds } };
  return (await admin.raw<{ status: { token: string } }>('POST', path, { body })).status.token;
}

/** The user as whom the API server knows a service account. */
export function accountUser(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`;
}
