import { alternativeNames, type CsrContent, der, extensionRequest, oid, sequence, set, utf8 } from '../csr.ts';
import type { AskedKind } from './asked-kinds.ts';
import { publicKeyOf, signWith } from './signed-keys.ts';

/** A request in DER that is odd in one way, with a signature that fits, unless that is what is odd. */
export type HostileDer = [name: string, bytes: Uint8Array];

export const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  alternativeNames: '2.5.29.17',
  extensionRequest: '1.2.840.113549.1.9.14',
  ecPublicKey: '1.2.840.10045.2.1',
  p256: '1.2.840.10045.3.1.7',
} as const;

export const utf8String = 0x0c;

export function join(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

export function text(value: string, tag: number = utf8String): Uint8Array {
  return der(tag, utf8(value));
}

export function attribute(type: string, value: Uint8Array): Uint8Array {
  return sequence(oid(type), value);
}

/** The four parts of the info, to be put together otherwise. Texts are printable ones, as Go writes them. */
export function infoParts({ good }: AskedKind): [Uint8Array, Uint8Array, Uint8Array, Uint8Array] {
  return [der(0x02, [0]), subjectOf(good), publicKeyOf('P-256'), der(0xa0, extensionRequest(alternativeNames(good)))];
}

function subjectOf({ organizations = [], commonNames = [] }: CsrContent): Uint8Array {
  const parts = [
    ...organizations.map(one => attribute(oids.organization, text(one, 0x13))),
    ...commonNames.map(one => attribute(oids.commonName, text(one, 0x13))),
  ];
  return sequence(...parts.map(part => set(part)));
}

/** An info of these parts, signed. */
export function signed(...parts: Uint8Array[]): Uint8Array {
  return signWith(sequence(...parts), 'P-256', 'ecdsa-sha256');
}

/** An element again, with its length in four octets. */
export function withLongLength(element: Uint8Array): Uint8Array {
  const { length } = contentOf(element);
  return Uint8Array.from([element[0] ?? 0, 0x84, 0, 0, length >> 8, length & 0xff, ...contentOf(element)]);
}

/** An element again, with no length but an end. */
export function withoutLength(element: Uint8Array): Uint8Array {
  return Uint8Array.from([element[0] ?? 0, 0x80, ...contentOf(element), 0, 0]);
}

export function contentOf(element: Uint8Array): Uint8Array {
  const first = element[1] ?? 0;
  return element.subarray(first < 0x80 ? 2 : 2 + (first & 0x7f));
}
