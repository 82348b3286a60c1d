import type { Log } from '#base/log.ts';
import type { CertificateAuthority } from '../auth/ca.ts';
import type { TokenSigner } from '../auth/token-signer.ts';
import type { Controller } from '../ports.ts';
import { createCertificateSigner } from './certificate-signer.ts';
import { createDefaultPolicy } from './default-policy.ts';
import { createDisruptionController } from './disruption.ts';
import { createGarbageCollector } from './garbage-collector.ts';
import { createNamespaceDefaults } from './namespace-defaults.ts';
import { createNamespaceEmptier } from './namespace-emptier.ts';
import { createTokenSecrets } from './token-secrets.ts';

export interface ControllersOptions {
  authority: CertificateAuthority;
  signer: TokenSigner;
  log?: Log;
}

/** Built-in controllers in start order. */
export function createControllers({ authority, signer, log }: ControllersOptions): Controller[] {
  return [
    createDefaultPolicy(),
    createNamespaceDefaults(authority.certificate, log),
    createNamespaceEmptier(log),
    createGarbageCollector(log),
    createTokenSecrets(signer, authority.certificate, log),
    createCertificateSigner(authority, log),
    createDisruptionController(log),
  ];
}
