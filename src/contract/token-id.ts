import { fromUtf8 } from '#base/bytes.ts';
import { isRecord } from '#base/fields.ts';
import { isKubernetesAtLeast } from './kubernetes-version.ts';

/**
 * The token that a CSR was created with. Since Kubernetes 1.30 every service account token has an id, which the server
 * stores in the CSR. So a token can be restricted to the host that it was issued for.
 */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id';

const maxCharacters = 65_536;

/** In the form of the server; undefined for a token without an id. */
export function tokenIdOf(token: string): string | undefined {
  const [, body, ...rest] = token.split('.');
  if (token.length > maxCharacters || body === undefined || rest.length !== 1) return undefined;
  try {
    const claims: unknown = JSON.parse(fromUtf8(Uint8Array.fromBase64(body, { alphabet: 'base64url' })) ?? '');
    const id = isRecord(claims) ? claims['jti'] : undefined;
    return typeof id === 'string' && /^[\w-]+$/.test(id) ? `JTI=${id}` : undefined;
  } catch {
    return undefined;
  }
}

export function writesTokenIds(serverVersion: string): boolean {
  return isKubernetesAtLeast(serverVersion, 30);
}
