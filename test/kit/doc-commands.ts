import { shellCommands } from './shell-commands.ts';

/** A `wmco` command that a page shows. */
export interface DocCommand {
  /** File and line, for messages. */
  place: string;
  /** Without `wmco`. */
  words: readonly string[];
  /** The exit code that a comment beside it announces. */
  exitCode: number;
  /** In a fence, where the reader copies it; else in a sentence. */
  isFenced: boolean;
  /** The comment before its fence: `needs: cloud`, `run by: FILE`. */
  mark: string | undefined;
}

interface Fence {
  line: number;
  text: string;
  mark: string | undefined;
}

/** Every `wmco` command of a Markdown page, in fences and in inline code. */
export function docCommands(page: string, markdown: string): DocCommand[] {
  const { fences, prose } = partsOf(markdown);
  const fenced = fences.flatMap(fence =>
    shellCommands(typedLines(fence.text)).flatMap(({ words, comment }) =>
      commandFrom(words).map(own => ({
        place: `${page}:${fence.line}`,
        words: own,
        exitCode: Number(/exit code (\d)/.exec(comment)?.[1] ?? 0),
        isFenced: true,
        mark: fence.mark,
      })),
    ),
  );
  const inline = prose.flatMap(({ line, text }) =>
    [...text.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].flatMap(([, code = '']) =>
      isTemplate(code)
        ? []
        : shellCommands(code.replaceAll(String.raw`\|`, '|')).flatMap(({ words }) =>
            commandFrom(words).map(own => ({
              place: `${page}:${line}`,
              words: own,
              exitCode: 0,
              isFenced: false,
              mark: undefined,
            })),
          ),
    ),
  );
  return [...fenced, ...inline];
}

/** With an omission, or output and not a command. */
function isTemplate(code: string): boolean {
  return /…|\[|version:|\bhelp COMMAND\b|\bcompletion SHELL\b/.test(code);
}

/** The words after `wmco`, `./wmco`, `kubectl wmco` or `oc wmco`; none for another command. */
function commandFrom(words: readonly string[]): string[][] {
  const start = words.findIndex(word => !/^[A-Z_]+=/.test(word));
  const [first = '', ...rest] = words.slice(Math.max(0, start));
  if (/^(\.\/)?wmco$/.test(first)) return [rest];
  return /^(kubectl|oc)$/.test(first) && rest[0] === 'wmco' ? [rest.slice(1)] : [];
}

/** In a session, only lines after a prompt were typed; with continued lines. */
function typedLines(text: string): string {
  if (!/^\$ /m.test(text)) return text;
  return [...text.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, typed = '']) => typed).join('\n');
}

/** Splits a page; a comment on the line before a fence is its mark. */
export function partsOf(markdown: string): { fences: Fence[]; prose: { line: number; text: string }[] } {
  const fences: Fence[] = [];
  const prose: { line: number; text: string }[] = [];
  let open: (Fence & { lines: string[]; ticks: string }) | undefined;
  let mark: string | undefined;
  for (const [index, text] of markdown.split('\n').entries()) {
    const line = index + 1;
    const ticks = /^\s*(`{3,})/.exec(text)?.[1];
    if (open !== undefined && ticks !== undefined && ticks.length >= open.ticks.length) {
      fences.push({ line: open.line, text: open.lines.join('\n'), mark: open.mark });
      open = undefined;
    } else if (open !== undefined) open.lines.push(text);
    else if (ticks !== undefined) open = { line, text: '', mark, lines: [], ticks };
    else prose.push({ line, text });
    mark = /^\s*<!-- (.+) -->$/.exec(text)?.[1] ?? (text.trim() === '' ? mark : undefined);
  }
  return { fences, prose };
}
