import { createHash, generateKeyPairSync } from 'node:crypto';
import { certificateExtension as extension, distinguishedName, writeCertificate } from './certificate-write.ts';
import { boolean, element, integer, namedBits, octetString, oid, sequence } from './der-write.ts';
import { Secret } from './secret.ts';

export interface ServingPair {
  /** PEM. */
  certificate: string;
  /** PKCS #8 in PEM form, which Go reads as well. */
  key: Secret;
  /** PEM of the CA that signed the certificate and nothing else. */
  authority: string;
}

export interface ServingPairOptions {
  /** Common names of certificate and CA. */
  commonName: string;
  authorityName: string;
  dnsNames: readonly string[];
  nowMs: number;
  lifetimeMs: number;
}

const usage = { digitalSignature: 0, certificateSign: 5, serverAuth: '1.3.6.1.5.5.7.3.1' } as const;

/** Tolerates clocks that are slow. */
const backdateMs = 86_400_000;

/**
 * Issues a serving certificate by a new CA whose key is discarded. Clients trust the CA, because not all of them accept a serving
 * certificate as its own CA.
 */
export function issueServingPair(options: ServingPairOptions): ServingPair {
  const { commonName, authorityName, dnsNames, nowMs, lifetimeMs } = options;
  const [ca, leaf] = [newKey(), newKey()];
  const issuer = distinguishedName({ commonName: authorityName });
  const period = { notBefore: nowMs - backdateMs, notAfter: nowMs + lifetimeMs };
  const authority = {
    issuer,
    subject: issuer,
    publicKey: ca.publicKey,
    ...period,
    extensions: authorityExtensions(ca),
  };
  const serving = {
    issuer,
    subject: distinguishedName({ commonName }),
    publicKey: leaf.publicKey,
    ...period,
    extensions: [...servingExtensions(dnsNames), extension('2.5.29.35', sequence(element(0x80, ca.keyId)))],
  };
  return {
    certificate: writeCertificate(serving, ca.privateKey),
    key: new Secret(leaf.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    authority: writeCertificate(authority, ca.privateKey),
  };
}

/** Extensions of a certificate with which a server of these names identifies itself. */
export function servingExtensions(dnsNames: readonly string[]): Uint8Array[] {
  const names = dnsNames.map(name => element(0x82, new TextEncoder().encode(name)));
  return [
    extension('2.5.29.19', sequence(), true),
    extension('2.5.29.15', namedBits([usage.digitalSignature]), true),
    extension('2.5.29.37', sequence(oid(usage.serverAuth))),
    extension('2.5.29.17', sequence(...names)),
  ];
}

function authorityExtensions({ keyId }: { keyId: Uint8Array }): Uint8Array[] {
  // It signs no other CA.
  const pathLength = integer([0]);
  return [
    extension('2.5.29.19', sequence(boolean(true), pathLength), true),
    extension('2.5.29.15', namedBits([usage.certificateSign]), true),
    extension('2.5.29.14', octetString(keyId)),
  ];
}

function newKey() {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = new Uint8Array(pair.publicKey.export({ type: 'spki', format: 'der' }));
  return {
    publicKey,
    privateKey: pair.privateKey,
    keyId: createHash('sha256').update(publicKey).digest().subarray(0, 20),
  };
}
