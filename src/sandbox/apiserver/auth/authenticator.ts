import { createHash, timingSafeEqual, X509Certificate } from 'node:crypto';
import type { Authenticator, Credentials, UserInfo } from '../ports.ts';
import { holderOf } from './client-certificate.ts';
import { anonymous, authenticated } from './service-account-user.ts';
import { type ApiReader, type ReviewedToken, reviewServiceAccountToken } from './token-review.ts';
import type { TokenSigner } from './token-signer.ts';

export interface AuthenticatorOptions {
  api: ApiReader;
  signer: TokenSigner;
  /** Certificate of the authority whose client certificates count, in PEM form. */
  authority: string;
  /** Tokens that stand for a user for ever, such as the administrator's. */
  staticTokens?: readonly { token: string; user: UserInfo }[];
  /** Whether somebody without credentials is system:anonymous rather than refused. */
  allowAnonymous?: boolean;
}

/** Knows users by certificate, by static token and by service account token, in this order. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const authority = new X509Certificate(options.authority);
  const review = (token: string, audiences: readonly string[]) =>
    reviewStaticToken(token, audiences, options) ?? reviewServiceAccountToken(token, audiences, options);
  return {
    reviewToken: review,
    authenticate: credentials => {
      const proofs = [
        byCertificate(credentials, authority, options.api.clock.now()),
        byToken(credentials, token => review(token, [])?.user),
      ];
      const user = proofs.find(proof => typeof proof === 'object');
      if (user !== undefined) return authenticated(user);
      // Somebody who shows bad credentials must learn of it, and not be taken for somebody without any.
      return proofs.includes('refused') || options.allowAnonymous !== true ? undefined : anonymous;
    },
  };
}

type Proof = UserInfo | 'none' | 'refused';

function byCertificate({ clientCertificate }: Credentials, authority: X509Certificate, now: number): Proof {
  if (clientCertificate === undefined) return 'none';
  const holder = holderOf(clientCertificate, authority, now);
  if (holder.is === 'user') return holder.user;
  return holder.is === 'nobody' ? 'none' : 'refused';
}

function byToken({ authorization }: Credentials, userOf: (token: string) => UserInfo | undefined): Proof {
  const [scheme = '', token = ''] = (authorization ?? '').trim().split(' ');
  if (scheme.toLowerCase() !== 'bearer' || token === '') return 'none';
  return userOf(token) ?? 'refused';
}

function reviewStaticToken(
  token: string,
  asked: readonly string[],
  { staticTokens = [], signer }: AuthenticatorOptions,
): ReviewedToken | undefined {
  const known = staticTokens.find(entry => isSameText(entry.token, token));
  const audiences = signer.audiences.filter(name => asked.length === 0 || asked.includes(name));
  return known === undefined || audiences.length === 0 ? undefined : { user: authenticated(known.user), audiences };
}

/** Takes the same time for every wrong text, so that a token cannot be found letter by letter. */
function isSameText(one: string, other: string): boolean {
  const [a, b] = [one, other].map(text => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
