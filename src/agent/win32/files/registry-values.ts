import { decodeText } from '../memory.ts';

/** Types of values that the agent reads or writes; there are others. */
export const registryType = { text: 1, expandableText: 2, number: 4 } as const;

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
