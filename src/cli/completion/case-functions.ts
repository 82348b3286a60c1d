import type { CompletedCommand, CompletedFlag } from './tree.ts';
import { shellQuote } from '../shell-quote.ts';

/** Spellings of a flag as they are typed. */
export function spellings({ name, short }: CompletedFlag): string[] {
  return [...(short === undefined ? [] : [`-${short}`]), `--${name}`];
}

/** A function of bash and zsh. */
export function caseFunction(name: string, subject: string, cases: readonly string[]): string[] {
  return [`${name}() {`, `  case ${subject} in`, ...cases, '  esac', '}', ''];
}

/** It prints how the value of a flag is completed: `words text json`, `files`, or `files...` for a list. */
export function valueFunction(commands: readonly CompletedCommand[]): string[] {
  const cases = commands.flatMap(({ path, flags }) =>
    flags.flatMap(flag => {
      if (flag.value === undefined) return [];
      const patterns = spellings(flag).map(spelling => shellQuote(`${path} ${spelling}`));
      const words = flag.value.is === 'words' ? ` ${flag.value.words.join(' ')}` : '';
      const kind = `${flag.value.is}${flag.isList ? '...' : ''}${words}`;
      return [`    ${patterns.join(' | ')}) echo ${shellQuote(kind)} ;;`];
    }),
  );
  return ['# How the value of a flag is completed.', ...caseFunction('_wmco_value', '"$1 $2"', cases)];
}

export function argumentFunction(commands: readonly CompletedCommand[]): string[] {
  const cases = commands.flatMap(({ path, argument }) =>
    argument === undefined ? [] : [`    ${shellQuote(path)}) echo ${argument.is} ;;`],
  );
  return caseFunction('_wmco_argument', '$1', cases);
}
