/** The types of values that we read or write; there are others. */
export const registryType = { text: 1, expandableText: 2, number: 4 } as const;

/** A value as the registry keeps it. */
export interface RegistryValue {
  type: number;
  data: Buffer;
}

/** Undefined for what is no text. References to variables stay as they are. */
export function textOf({ type, data }: RegistryValue): string | undefined {
  if (type !== registryType.text && type !== registryType.expandableText) return undefined;
  // Whoever wrote it may have left out the NUL at the end, added some, or given an odd number of bytes.
  const text = data.toString('utf16le', 0, data.length - (data.length % 2));
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}

/** Undefined for what is no 32-bit number. */
export function numberOf({ type, data }: RegistryValue): number | undefined {
  return type === registryType.number && data.length === 4 ? data.readUInt32LE() : undefined;
}

/** With the NUL at the end that readers rely on. */
export function encodeText(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf16le');
}
