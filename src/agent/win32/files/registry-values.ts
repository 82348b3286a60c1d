import { decodeText } from '../memory.ts';

/** Types of values that the agent reads or writes; there are others. */
export const registryType = { text: 1, expandableText: 2, number: 4, list: 7 } as const;

/** A value as the registry stores it. */
export interface RegistryValue {
  type: number;
  data: Buffer;
}

/** Undefined for a value that is not text. References to variables are not expanded. */
export function textOf({ type, data }: RegistryValue): string | undefined {
  // The NUL at the end may be missing, or there may be several.
  return type === registryType.text || type === registryType.expandableText ? decodeText(data) : undefined;
}

/** Undefined for a value that is not a 32-bit number. */
export function numberOf({ type, data }: RegistryValue): number | undefined {
  return type === registryType.number && data.length === 4 ? data.readUInt32LE() : undefined;
}

/** Undefined for a value that is not a list of texts. */
export function listOf({ type, data }: RegistryValue): string[] | undefined {
  if (type !== registryType.list) return undefined;
  // The list ends with an empty text, but either NUL may be missing.
  const texts = data.toString('utf16le', 0, data.length - (data.length % 2)).split('\0');
  const end = texts.indexOf('');
  return end === -1 ? texts : texts.slice(0, end);
}

/** An empty text would end the list. */
export function encodeList(texts: readonly string[]): Buffer {
  return Buffer.from(`${texts.map(text => `${text}\0`).join('')}\0`, 'utf16le');
}
