import { X509Certificate } from 'node:crypto';
import { sha256 } from '#base/sha256.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import type { Authenticator, Credentials, UserInfo } from '../ports.ts';
import { CertificateHolders } from './client-certificate.ts';
import { anonymous, withAuthenticatedGroup } from './service-account-user.ts';
import { type ApiReader, reviewServiceAccountToken } from './token-review.ts';
import type { TokenSigner } from './token-signer.ts';

export interface AuthenticatorOptions {
  api: ApiReader;
  signer: TokenSigner;
  /** Certificate (PEM) of the authority that issues client certificates. */
  authority: string;
  /** Whether client certificates have an ID, as since Kubernetes 1.32. */
  givesCertificateIds?: boolean;
}

/** Authenticates by client certificate, then by service account token; requests without credentials are anonymous. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const holders = new CertificateHolders(new X509Certificate(options.authority));
  const reviewToken: Authenticator['reviewToken'] = (token, audiences) =>
    reviewServiceAccountToken(token, audiences, options);
  return {
    reviewToken,
    authenticate: credentials => {
      const proofs = [
        byCertificate(credentials, holders, options),
        byToken(credentials, token => reviewToken(token, [])?.user),
      ];
      const user = proofs.find(proof => typeof proof === 'object');
      if (user !== undefined) return withAuthenticatedGroup(user);
      // Bad credentials are an error (401), never anonymous access.
      return proofs.includes('rejected') ? undefined : anonymous;
    },
  };
}

type Proof = UserInfo | 'none' | 'rejected';

function byCertificate(
  { clientCertificate }: Credentials,
  holders: CertificateHolders,
  { api, givesCertificateIds = false }: AuthenticatorOptions,
): Proof {
  if (clientCertificate === undefined) return 'none';
  const holder = holders.at(api.clock.now(), clientCertificate);
  if (holder.is === 'user') {
    const extra = { [credentialIdKey]: [`X509SHA256=${sha256(clientCertificate)}`] };
    return givesCertificateIds ? { ...holder.user, extra } : holder.user;
  }
  return holder.is === 'nameless' ? 'none' : 'rejected';
}

function byToken({ authorization }: Credentials, userOf: (token: string) => UserInfo | undefined): Proof {
  const [scheme = '', token = ''] = (authorization ?? '').trim().split(' ');
  if (scheme.toLowerCase() !== 'bearer' || token === '') return 'none';
  return userOf(token) ?? 'rejected';
}
