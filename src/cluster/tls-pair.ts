import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { secretKey } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { secretData, secretMember } from '#contract/secret-data.ts';
import type { SecretObject } from '#kube/resources.ts';

/** A certificate with its key in a Secret, without the key. */
export interface TlsPair {
  notBeforeMs: number;
  notAfterMs: number;
  /** Whether a client that connects to this DNS name accepts the certificate. */
  isFor: (dnsName: string) => boolean;
}

/** Fails for a Secret whose certificate or key is missing or malformed, or whose key belongs to another certificate. */
export function readTlsPair(secret: SecretObject): TlsPair {
  const object = readObject(secret);
  const data = secretData(object);
  const certificate = readCertificate(
    secretMember(data, secretKey.tlsCertificate, object.label).reveal(),
    object.label,
  );
  const key = readKey(secretMember(data, secretKey.tlsKey, object.label).reveal(), object.label);
  if (!certificate.checkPrivateKey(key)) {
    throw invalid(object.label, `${secretKey.tlsKey} is not the key of the certificate in ${secretKey.tlsCertificate}`);
  }
  return {
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
    isFor: dnsName => certificate.checkHost(dnsName) !== undefined,
  };
}

/** Fails for a certificate that clients reject at this time. */
export function checkValidity({ notBeforeMs, notAfterMs }: TlsPair, label: string, nowMs: number): void {
  if (nowMs >= notBeforeMs && nowMs <= notAfterMs) return;
  const what =
    nowMs > notAfterMs ? `expired at ${timestamp(notAfterMs)}` : `is not valid before ${timestamp(notBeforeMs)}`;
  throw new AppError('TLS_PAIR_EXPIRED', `${label}: the certificate in ${secretKey.tlsCertificate} ${what}`, {
    remedy: remedyFor(label),
  });
}

function readCertificate(pem: string, label: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw invalid(label, `${secretKey.tlsCertificate} is not a PEM certificate`);
  }
}

function readKey(pem: string, label: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // No cause: it could quote the key.
    throw invalid(label, `${secretKey.tlsKey} is not a PEM private key without passphrase`);
  }
}

function invalid(label: string, problem: string): AppError {
  return new AppError('TLS_PAIR_INVALID', `${label}: ${problem}`, {
    remedy: remedyFor(label),
  });
}

function remedyFor(label: string): string {
  return `Store a valid certificate and its key in ${label}, or delete it to have a new pair issued.`;
}
