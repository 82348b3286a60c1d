import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { distinguishedName, writeCertificate } from '../../src/base/certificate-write.ts';
import { alternativeNames, der, extension, oid, sequence } from './csr.ts';

export interface KeyPair {
  /** Certificate in PEM form. */
  cert: string;
  /** Private key in PEM form (SEC1, which every Kubernetes reads). */
  key: string;
}

export interface LeafContent {
  commonName: string;
  organizations?: readonly string[];
  /** DNS names and IPv4 addresses; a certificate with names is one for servers too. */
  names?: readonly string[];
  /** Both in milliseconds since 1970; an hour ago and a day from now when absent. */
  notBefore?: number;
  notAfter?: number;
}

const hourMs = 3_600_000;

/** A certificate authority for one test: P-256 keys, made in a few milliseconds. */
export class TestCa {
  readonly cert: string;
  readonly key: string;
  readonly #name: string;
  /** Distinguishes CAs of the same name, such as the old and the new one of a cluster. */
  readonly #keyId: Uint8Array;

  constructor(name = 'test-ca') {
    this.#name = name;
    const pair = generateKey();
    this.key = pair.key;
    this.#keyId = createHash('sha1').update(pair.publicKey).digest();
    const extensions = [
      extension('2.5.29.19', sequence(der(0x01, [0xff])), true),
      extension('2.5.29.15', der(0x03, [1, 0x06]), true),
      extension('2.5.29.14', der(0x04, this.#keyId)),
    ];
    const content = { subject: { commonName: name }, issuer: name, publicKey: pair.publicKey, extensions };
    this.cert = makeCertificate(content, this.key);
  }

  issue(content: LeafContent): KeyPair {
    const { key, publicKey } = generateKey();
    return { key, cert: this.certify(content, publicKey) };
  }

  /** A certificate for a public key from outside. */
  certify(content: LeafContent, publicKey: Uint8Array): string {
    const usages = sequence(oid('1.3.6.1.5.5.7.3.2'), ...(content.names ? [oid('1.3.6.1.5.5.7.3.1')] : []));
    const names = alternativeNames({
      dnsNames: (content.names ?? []).filter(name => !isIPv4(name)),
      ips: (content.names ?? []).filter(name => isIPv4(name)).map(name => name.split('.').map(Number)),
    });
    const extensions = [
      extension('2.5.29.15', der(0x03, [5, 0xa0]), true),
      extension('2.5.29.37', usages),
      extension('2.5.29.35', sequence(der(0x80, this.#keyId))),
      ...(names === undefined ? [] : [extension('2.5.29.17', names)]),
    ];
    return makeCertificate({ subject: content, issuer: this.#name, publicKey, extensions }, this.key);
  }
}

/** A new P-256 key in PEM form, and its public half as it stands in certificates. */
export function generateKey(): { key: string; publicKey: Uint8Array } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    key: pair.privateKey.export({ type: 'sec1', format: 'pem' }),
    publicKey: pair.publicKey.export({ type: 'spki', format: 'der' }),
  };
}

/** The public half of a private key, in PEM form. */
export function publicKeyOf(key: string): string {
  return createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'pem' });
}

interface CertificateContent {
  subject: LeafContent;
  issuer: string;
  publicKey: Uint8Array;
  extensions: Uint8Array[];
}

function makeCertificate({ subject, issuer, publicKey, extensions }: CertificateContent, key: string): string {
  const now = Date.now();
  const fields = {
    issuer: distinguishedName({ commonName: issuer }),
    subject: distinguishedName(subject),
    publicKey,
    notBefore: subject.notBefore ?? now - hourMs,
    notAfter: subject.notAfter ?? now + 24 * hourMs,
    extensions,
  };
  return writeCertificate(fields, createPrivateKey(key));
}
