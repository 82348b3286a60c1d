import { isUpToDate, needsUpgrade } from '../../../src/contract/node-marks.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  upToDate: (input: Input) => ({ value: isUpToDate(nodeOf(input), input.operatorVersion) }),
  upgradeRequired: (input: Input) => ({ value: needsUpgrade(nodeOf(input), input.operatorVersion) }),
};

function nodeOf({ node }: Input): { annotations: Record<string, string> } | undefined {
  return node ? { annotations: node.annotations ?? {} } : undefined;
}
