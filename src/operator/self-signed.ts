import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  bitString,
  boolean,
  element,
  integer,
  namedBits,
  octetString,
  oid,
  sequence,
  set,
  time,
  utf8String,
} from '#base/der-write.ts';
import { printPem } from '#base/pem.ts';
import { Secret } from '#base/secret.ts';

export interface KeyPair {
  /** PEM. */
  certificate: string;
  key: Secret;
}

const dayMs = 86_400_000;
const lifeMs = 3650 * dayMs;
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
const usage = { digitalSignature: 0, serverAuth: '1.3.6.1.5.5.7.3.1' } as const;

/** A certificate for a server that nobody has to trust, made anew at every start and kept in memory only. */
export function selfSigned(name: string, nowMs: number): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(set(sequence(oid('2.5.4.3'), utf8String(name))));
  const info = sequence(
    element(0xa0, integer([2])),
    integer([0x01, ...randomBytes(15)]),
    ecdsaWithSha256,
    subject,
    sequence(time(nowMs - dayMs), time(nowMs + lifeMs)),
    subject,
    new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })),
    element(0xa3, sequence(...extensions(name))),
  );
  const signature = createSign('sha256').update(info).sign(privateKey);
  return {
    certificate: printPem('CERTIFICATE', sequence(info, ecdsaWithSha256, bitString(signature))),
    key: new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

function extensions(name: string): Uint8Array[] {
  const extension = (type: string, value: Uint8Array, critical = false) =>
    sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value));
  return [
    extension('2.5.29.19', sequence(), true),
    extension('2.5.29.15', namedBits([usage.digitalSignature]), true),
    extension('2.5.29.37', sequence(oid(usage.serverAuth))),
    extension('2.5.29.17', sequence(element(0x82, new TextEncoder().encode(name)))),
  ];
}
