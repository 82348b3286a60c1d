import { fromUtf8 } from '#base/bytes.ts';
import { isRecord } from '#base/fields.ts';
import { prefix } from './names.ts';

/**
 * Which token a request was made with. Since Kubernetes 1.30 every token of a service account has an id, and the server writes
 * down on a request for a certificate which one its maker showed. So a token is only good for the host it was made for.
 */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id';

/** On a WindowsInstance: ids of the tokens that its host was given, the newest last. An id is no secret. */
export const tokenIdsAnnotation = `${prefix}/token-ids`;

/** As many as a host can have been given while the oldest is still good. */
const keptIds = 20;
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

export function readTokenIds(annotations: Readonly<Record<string, string>> = {}): string[] {
  return (annotations[tokenIdsAnnotation] ?? '').split(',').filter(id => id !== '');
}

/** The ids with one more, as the annotation has them. */
export function addTokenId(ids: readonly string[], id: string): string {
  return [...ids.filter(each => each !== id), id].slice(-keptIds).join(',');
}
