import type { SafeText } from '../../src/cli/safe-text.ts';

/** Lines of a test unchanged, with their colors. */
export function safeLines(...lines: readonly string[]): SafeText[] {
  return lines as readonly SafeText[] as SafeText[];
}
