import { isUpToDate, needsUpgrade } from '../../../src/contract/node-marks.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  upToDate: (input: Input) => ({ value: isUpToDate(input.node ?? undefined, input.operatorVersion) }),
  upgradeRequired: (input: Input) => ({ value: needsUpgrade(input.node ?? undefined, input.operatorVersion) }),
};
