import { createPrivateKey, X509Certificate } from 'node:crypto';
import { Secret } from '#base/secret.ts';
import type { ClientCertificate, Credential, Identity } from '../transport/connection.ts';
import { type TextSource, unreadable } from './text-source.ts';

/** No credential. */
export const anonymous: Identity = { current: () => Promise.resolve({}), renew: () => Promise.resolve(false) };

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

export function passwordIdentity(username: string, password: Secret): Identity {
  const pair = Buffer.from(`${username}:${password.reveal()}`).toString('base64');
  return { ...anonymous, current: () => Promise.resolve({ authorization: new Secret(`Basic ${pair}`) }) };
}

/** Keeps the last matching pair of certificate and key while the files are being replaced. */
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

/** Several credentials at once, such as a certificate and a token. */
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
    throw unreadable('token: is empty or has characters that are not allowed in a header');
  return new Secret(`Bearer ${trimmed}`);
}

/** Why certificate and key are unusable; undefined when they match. */
export function pairProblem(certificate: string, key: string): string | undefined {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
      ? undefined
      : 'certificate and key do not belong together';
  } catch {
    // The message of the library may quote the input.
    return 'certificate or key is not in PEM form';
  }
}

/** Compares only members that `one` has: each part of a combined identity has its own. */
export function isSame(one: Credential, other: Credential): boolean {
  const token = one.authorization === undefined || one.authorization.reveal() === other.authorization?.reveal();
  return token && isSameCertificate(one.clientCertificate, other.clientCertificate);
}

function isSameCertificate(one: ClientCertificate | undefined, other: ClientCertificate | undefined): boolean {
  return one === undefined || (one.certificate === other?.certificate && one.key.reveal() === other.key.reveal());
}
