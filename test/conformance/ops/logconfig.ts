import {
  daemonLogMegabytes,
  durationVariable,
  logRunnerCommand,
  quantityVariable,
  readLogRotation,
} from '../../../src/node/desired/log-rotation.ts';
import type { LogRotation } from '../../../src/cluster/facts.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  durationVariable: (input: Input) => ({ value: durationVariable(input.env, input.variable) }),
  quantityVariable: (input: Input) => ({ value: quantityVariable(input.env, input.variable) }),
  logRunnerCommand: (input: Input) => ({
    value: logRunnerCommand(input.command, input.logFile, rotationOf(input), input.runner),
  }),
  daemonLogMegabytes: (input: Input) => ({ value: daemonLogMegabytes(input.logFileSize) }),
  validateEnvironment: (input: Input) => ({ ok: true, ...readLogRotation(input.env) }),
};

function rotationOf({ fileSize, fileAge, flushInterval }: Input): LogRotation {
  return { fileSize: fileSize ?? '', fileAge: fileAge ?? '', flushInterval: flushInterval ?? '' };
}
