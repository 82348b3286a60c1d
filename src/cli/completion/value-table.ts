import type { CompletedCommand, CompletedFlag } from './tree.ts';
import { shellQuote } from './shell-quote.ts';

/** Spellings of a flag as they are typed. */
export function spellings({ name, short }: CompletedFlag): string[] {
  return [...(short === undefined ? [] : [`-${short}`]), `--${name}`];
}

/** Cases of bash and zsh that print how the value of a flag is completed: `words text json`, `files`, `files...`. */
export function valueCases(commands: readonly CompletedCommand[]): string[] {
  return commands.flatMap(({ path, flags }) =>
    flags.flatMap(flag => {
      if (flag.value === undefined) return [];
      const patterns = spellings(flag).map(spelling => shellQuote(`${path} ${spelling}`));
      const words = flag.value.is === 'words' ? ` ${flag.value.words.join(' ')}` : '';
      const kind = `${flag.value.is}${flag.isList ? '...' : ''}${words}`;
      return [`    ${patterns.join(' | ')}) echo ${shellQuote(kind)} ;;`];
    }),
  );
}
