/** One command of a shell line. */
export interface ShellCommand {
  words: string[];
  /** The comment at the end of its line. */
  comment: string;
}

/** Reads lines of a POSIX shell as far as documents use it: quotes, escapes, continued lines, pipes, lists, substitutions. */
export function shellCommands(text: string): ShellCommand[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap(line => commandsOfLine(line));
}

/** Separators end a command; what follows a redirection is a file. */
const token =
  /\s+|&&|\|\||[|;&]|\$\(|<\(|\)|\d?[<>]{1,2}(?!\()&?\s*[^\s|;&]+|(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\|;&)])+/gy;

function commandsOfLine(line: string): ShellCommand[] {
  const [code, comment] = splitComment(line);
  const commands: string[][] = [[]];
  for (const [part] of code.matchAll(token)) {
    if (/^\s/.test(part) || /^\d?[<>]{1,2}[^(]/.test(part)) continue;
    if (/^(&&|\|\||[|;&]|\$\(|<\(|\))$/.test(part)) commands.push([]);
    else commands.at(-1)?.push(unquoted(part));
  }
  return commands.filter(words => words.length > 0).map(words => ({ words, comment }));
}

/** A comment starts with # at the start of a word outside quotes. */
function splitComment(line: string): [code: string, comment: string] {
  const [code = ''] = /^(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|(?<!(?:^|\s))#|[^#'"\\])*/.exec(line) ?? [];
  return [code, line.slice(code.length).replace(/^#\s*/, '').trim()];
}

function unquoted(part: string): string {
  return part.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g,
    (_, single?: string, double?: string, one?: string) =>
      single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? one ?? '',
  );
}
