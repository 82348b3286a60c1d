/** A DER element: tag octet, content and whole encoding. */
export interface DerElement {
  tag: number;
  content: Uint8Array;
  whole: Uint8Array;
}

export const derTag = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Reads all elements; undefined unless the bytes are complete definite-length elements only. */
export function readDer(bytes: Uint8Array): DerElement[] | undefined {
  const elements: DerElement[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const element = readElement(bytes, offset);
    if (element === undefined) return undefined;
    elements.push(element);
    offset += element.whole.length;
  }
  return elements;
}

function readElement(bytes: Uint8Array, start: number): DerElement | undefined {
  const [tag, first] = [bytes[start], bytes[start + 1]];
  // Tags over 30 and indefinite lengths do not occur in keys and requests.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f || first === 0x80) return undefined;
  const lengthOctets = first < 0x80 ? 0 : first & 0x7f;
  if (lengthOctets > 4) return undefined;
  let length = lengthOctets === 0 ? first : 0;
  for (let index = 0; index < lengthOctets; index += 1) {
    const octet = bytes[start + 2 + index];
    if (octet === undefined) return undefined;
    length = length * 256 + octet;
  }
  // Only the shortest encoding of a length is valid, so that no value has two encodings.
  if (lengthOctets > 0 && length < Math.max(0x80, 256 ** (lengthOctets - 1))) return undefined;
  const from = start + 2 + lengthOctets;
  if (from + length > bytes.length) return undefined;
  return { tag, content: bytes.subarray(from, from + length), whole: bytes.subarray(start, from + length) };
}

/** Dotted form of an object identifier; undefined when invalid. */
export function readOid(content: Uint8Array): string | undefined {
  const arcs: number[] = [];
  let value = 0;
  let pending = false;
  for (const octet of content) {
    if (!pending && octet === 0x80) return undefined;
    value = value * 128 + (octet & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER) return undefined;
    pending = (octet & 0x80) !== 0;
    if (!pending) {
      arcs.push(value);
      value = 0;
    }
  }
  const [head] = arcs;
  if (head === undefined || pending) return undefined;
  const top = Math.min(Math.floor(head / 40), 2);
  return [top, head - top * 40, ...arcs.slice(1)].join('.');
}
