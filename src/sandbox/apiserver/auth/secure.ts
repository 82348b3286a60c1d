import { generateKeyPairSync } from 'node:crypto';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { createControllers } from '../controllers/all.ts';
import { newestVersion, type ServerVersion } from '../discovery.ts';
import type { Controller, IdentityFactory } from '../ports.ts';
import { type CertificateAuthority, createAuthority } from './ca.ts';
import { createIdentity } from './identity.ts';
import { jwtKey } from './jwt.ts';
import { TokenSigner } from './token-signer.ts';

export interface SecureOptions {
  clock?: Clock;
  log?: Log;
  /** Created if not set. */
  authority?: CertificateAuthority;
  /** Decides which credentials have IDs; the newest by default. */
  version?: ServerVersion;
}

/** Authentication, authorization and the built-in controllers. */
export interface SecureParts {
  clock: Clock;
  authority: CertificateAuthority;
  identity: IdentityFactory;
  controllers: Controller[];
}

/** The minor versions since which tokens and client certificates have IDs. */
const tokenIdsSince = 30;
const certificateIdsSince = 32;

export function secureParts(options: SecureOptions = {}): SecureParts {
  const clock = options.clock ?? systemClock;
  const authority = options.authority ?? createAuthority('kubernetes', clock);
  const minor = Number((options.version ?? newestVersion).minor);
  const issuer = 'https://kubernetes.default.svc';
  const signer = new TokenSigner({
    key: jwtKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
    issuer,
    audiences: [issuer],
    clock,
    givesIds: minor >= tokenIdsSince,
  });
  return {
    clock,
    authority,
    identity: createIdentity({
      signer,
      authority: authority.certificate,
      givesCertificateIds: minor >= certificateIdsSince,
    }),
    controllers: createControllers({ authority, signer, ...(options.log === undefined ? {} : { log: options.log }) }),
  };
}
