import { fromUtf8 } from '#base/bytes.ts';
import { isRecord } from '#base/fields.ts';
import { isServerAtLeast } from './server-version.ts';

/**
 * Which token a request was made with. Since Kubernetes 1.30 every token of a service account has an id, and the server writes
 * down on a request for a certificate which one its maker showed. So a token is only good for the host it was made for.
 */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id';

const maxCharacters = 65_536;

/** In the form in which the server tells it; undefined for a token that has none. */
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

/** Kubernetes 1.30 and newer write the id of a token on requests that were made with it. */
export function writesTokenIds(serverVersion: string): boolean {
  return isServerAtLeast(serverVersion, 30);
}
