import { computerNamePattern } from './spec-schema.ts';

const pattern = new RegExp(computerNamePattern);
/** NetBIOS. */
export const maxComputerName = 15;

/** Valid on Windows, and without characters that are special in a shell. */
export function isComputerName(name: string): boolean {
  return name.length <= maxComputerName && pattern.test(name);
}
