import { computerNamePattern } from './crd.ts';

const pattern = new RegExp(computerNamePattern);
/** NetBIOS. */
export const maxComputerName = 15;

/** Whether Windows takes it as a computer name, and no shell takes it for anything else. */
export function isComputerName(name: string): boolean {
  return name.length <= maxComputerName && pattern.test(name);
}
