import { AppError } from '#base/errors.ts';
import { sameBytes } from '#base/bytes.ts';
import { readKeyWord } from '#contract/authorized-keys.ts';
import { type ChangedKeys, changeKeys } from '../authorized-keys/change-keys.ts';
import type { KeyChange } from '../authorized-keys/plan.ts';
import type { FlagValues } from './flags.ts';
import type { Verb } from './verb.ts';

export const authorizeKey: Verb = {
  name: 'authorize-key',
  summary: 'let another SSH key of administrators in, and an old one no more',
  required: [],
  optional: ['add', 'remove'],
  changesHost: true,
  async run(values, deps) {
    const outcome = await changeKeys(changeIn(values), deps.host().files);
    const { converted, file } = outcome;
    if (converted !== undefined) deps.log.warn('Converted to UTF-8', { file, from: converted });
    return { text: textOf(outcome), data: outcome };
  },
};

function changeIn(values: FlagValues): KeyChange {
  const [add, remove] = [readKeyWord(values.add), readKeyWord(values.remove)];
  if (add === undefined && remove === undefined) throw usage('authorize-key needs --add, --remove or both');
  if (add !== undefined && remove !== undefined && sameBytes(add.blob, remove.blob))
    throw usage('--add and --remove have the same key');
  return { add, remove };
}

function textOf({ added, removed, file, converted }: ChangedKeys): string {
  return [
    added ? `Added the key to ${file}.` : `Added no line to ${file}.`,
    ...(removed > 0 ? [`Removed ${removed} ${removed === 1 ? 'line' : 'lines'}.`] : []),
    ...(converted === undefined ? [] : [`The file was ${converted}, which sshd cannot read, and is UTF-8 now.`]),
  ].join('\n');
}

function usage(problem: string): AppError {
  return new AppError('USAGE', problem, {
    remedy: 'Name the new key with --add and the old one with --remove; see authorize-key --help.',
  });
}
