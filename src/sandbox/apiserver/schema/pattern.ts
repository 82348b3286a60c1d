/** POSIX classes that Go's regular expressions know. */
const classes: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
};

/** Go has neither looking around nor back references. */
const unknownToGo = /\(\?<?[=!]|\\[1-9]/;

/** A regular expression in Go's syntax, made for JavaScript; undefined when it is none. */
export function compilePattern(pattern: string): RegExp | undefined {
  const [, flags = '', body = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(pattern) ?? [];
  if (unknownToGo.test(body.replaceAll('\\\\', ''))) return undefined;
  const translated = body
    .replaceAll(/\[:(\w+):\]/g, (text, name: string) => classes[name] ?? text)
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\\\\|\\[Az]|\\[pP](?:\{\w+\}|[A-Z])/g, escapeOf);
  // With the flag u characters outside the basic plane count as one, as in Go; but then JavaScript knows fewer escapes.
  return compiled(translated, `${flags}u`) ?? compiled(translated, flags);
}

/** Go's escapes that JavaScript writes differently: ends of the text, and classes of Unicode. */
function escapeOf(escape: string): string {
  if (escape === '\\A') return '^';
  if (escape === '\\z') return '$';
  const [, letter, name = ''] = /^\\([pP])\{?(\w+)\}?$/.exec(escape) ?? [];
  if (letter === undefined) return escape;
  return name.length <= 2 ? `\\${letter}{${name}}` : `\\${letter}{Script=${name}}`;
}

function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
