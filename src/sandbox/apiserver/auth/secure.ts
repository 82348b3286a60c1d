import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { createControllers } from '../controllers/all.ts';
import type { Controller, IdentityFactory, UserInfo } from '../ports.ts';
import { type CertificateAuthority, createAuthority } from './ca.ts';
import { createIdentity } from './identity.ts';
import { jwtKey } from './jwt.ts';
import { TokenSigner } from './token-signer.ts';

export interface SecureOptions {
  clock?: Clock;
  log?: Log;
  /** A new one is made when absent. */
  authority?: CertificateAuthority;
  /** Signs the tokens of service accounts: an RSA or P-256 key in PEM form. A new one is made when absent. */
  tokenKey?: string;
  issuer?: string;
  /** Tokens that stand for a user for ever. */
  staticTokens?: readonly { token: string; user: UserInfo }[];
  /** True when absent, as in most clusters. */
  allowAnonymous?: boolean;
  /** Whether tokens have ids; false when absent. */
  givesTokenIds?: boolean;
}

/** The parts that make an API server a cluster of its own: who is who, who may do what, and the usual controllers. */
export interface SecureParts {
  clock: Clock;
  authority: CertificateAuthority;
  identity: IdentityFactory;
  controllers: Controller[];
}

export function secureParts(options: SecureOptions = {}): SecureParts {
  const clock = options.clock ?? systemClock;
  const authority = options.authority ?? createAuthority('kubernetes', clock);
  const issuer = options.issuer ?? 'https://kubernetes.default.svc';
  const privateKey =
    options.tokenKey === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      : createPrivateKey(options.tokenKey);
  const signer = new TokenSigner({
    key: jwtKey(privateKey),
    issuer,
    audiences: [issuer],
    clock,
    givesIds: options.givesTokenIds ?? false,
  });
  return {
    clock,
    authority,
    identity: createIdentity({
      signer,
      authority: authority.certificate,
      staticTokens: options.staticTokens ?? [],
      allowAnonymous: options.allowAnonymous ?? true,
    }),
    controllers: createControllers({ authority, signer, ...(options.log === undefined ? {} : { log: options.log }) }),
  };
}
