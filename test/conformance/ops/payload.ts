import { parseChecksums } from '../../../src/payload/checksums.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  parseChecksums: (input: Input) => ({ checksums: parseChecksums(input.text) }),
};
