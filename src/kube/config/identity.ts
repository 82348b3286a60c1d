import { createPrivateKey, X509Certificate } from 'node:crypto';
import { Secret } from '#base/secret.ts';
import type { ClientCertificate, Credential, Identity } from '../transport/connection.ts';
import { type TextSource, unreadable } from './text-source.ts';

/** Nobody: for servers that know us by other means, or not at all. */
export const anonymous: Identity = { current: () => Promise.resolve({}), renew: () => Promise.resolve(false) };

/** A bearer token. */
export function tokenIdentity(source: TextSource): Identity {
  let known: { text: string; credential: Credential } | undefined;

  function credentialOf(text: string): Credential {
    if (known?.text !== text) known = { text, credential: { authorization: bearer(text) } };
    return known.credential;
  }

  return {
    current: async () => credentialOf(await source.read()),
    renew: async refused => !isSame(credentialOf(await source.reread()), refused),
  };
}

/** User name and password. */
export function passwordIdentity(username: string, password: Secret): Identity {
  const pair = Buffer.from(`${username}:${password.reveal()}`).toString('base64');
  return { ...anonymous, current: () => Promise.resolve({ authorization: new Secret(`Basic ${pair}`) }) };
}

/** A client certificate and its key. While the two are being replaced they may not fit; the last pair that did stays. */
export function certificateIdentity(certificate: TextSource, key: TextSource): Identity {
  let known: { texts: readonly [string, string]; credential: Credential } | undefined;

  function credentialOf(texts: readonly [string, string]): Credential {
    if (known?.texts[0] === texts[0] && known.texts[1] === texts[1]) return known.credential;
    const problem = pairProblem(...texts);
    if (problem === undefined) {
      const clientCertificate = { certificate: texts[0], key: new Secret(texts[1]) };
      known = { texts, credential: { clientCertificate } };
    }
    if (known === undefined) throw unreadable(`client certificate: ${problem}`);
    return known.credential;
  }

  return {
    current: async () => credentialOf(await Promise.all([certificate.read(), key.read()])),
    renew: async refused => !isSame(credentialOf(await Promise.all([certificate.reread(), key.reread()])), refused),
  };
}

/** Several at once, such as a certificate and a token: the server takes what it knows first. */
export function combinedIdentity(parts: readonly Identity[]): Identity {
  if (parts.length === 0) return anonymous;
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return {
    current: async signal => Object.assign({}, ...(await Promise.all(parts.map(part => part.current(signal))))),
    renew: async (refused, signal) =>
      (await Promise.all(parts.map(part => part.renew(refused, signal)))).some(renewed => renewed),
  };
}

export function bearer(token: string): Secret {
  const trimmed = token.trim();
  if (!/^[\u0021-\u007e]+$/.test(trimmed))
    throw unreadable('token: is empty or has characters that a header cannot hold');
  return new Secret(`Bearer ${trimmed}`);
}

/** Why the two cannot be used together; undefined when they can. */
export function pairProblem(certificate: string, key: string): string | undefined {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
      ? undefined
      : 'certificate and key do not belong together';
  } catch {
    // What the library says may quote the input.
    return 'certificate or key is not in PEM form';
  }
}

/** Compares what both have; a part of a combined identity knows only its own half. */
export function isSame(one: Credential, other: Credential): boolean {
  const token = one.authorization === undefined || one.authorization.reveal() === other.authorization?.reveal();
  return token && isSameCertificate(one.clientCertificate, other.clientCertificate);
}

function isSameCertificate(one: ClientCertificate | undefined, other: ClientCertificate | undefined): boolean {
  return one === undefined || (one.certificate === other?.certificate && one.key.reveal() === other.key.reveal());
}
