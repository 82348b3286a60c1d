import { parseChecksums } from '../../../src/node/payload.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  parseChecksums: (input: Input) => ({ checksums: parseChecksums(input.text) }),
};
