/** A part of a PowerShell script, as far as quoting and nesting are concerned. */
export interface PowershellToken {
  is: 'string' | 'expandable' | 'comment' | 'bracket' | 'code';
  /** Of a string its value. */
  text: string;
}

/** PowerShell takes typographic quotes for plain ones. */
const single = "'\u2018\u2019\u201A\u201B";
const double = '"\u201C\u201D\u201E';
const quoted = (quotes: string) => `[${quotes}](?:[^${quotes}\`]|\`[^]|[${quotes}]{2})*[${quotes}]`;

const pattern = new RegExp(
  [
    `(?<string>[${single}](?:[^${single}]|[${single}]{2})*[${single}])`,
    `(?<expandable>${quoted(double)})`,
    '(?<comment>#[^\\n]*)',
    '(?<bracket>[@$]?[({\\[]|[)}\\]])',
    `(?<code>[^${single}${double}#(){}\\[\\]]+|[@$])`,
  ].join('|'),
  'gy',
);

/** Splits a script; throws where no token begins, such as at a quote that is not closed. */
export function powershellTokens(script: string): PowershellToken[] {
  pattern.lastIndex = 0;
  const tokens: PowershellToken[] = [];
  while (pattern.lastIndex < script.length) {
    const start = pattern.lastIndex;
    const groups = pattern.exec(script)?.groups;
    const [is, text] = Object.entries(groups ?? {}).find(([, each]) => each !== undefined) ?? [];
    if (is === undefined || text === undefined)
      throw new Error(`no token at ${JSON.stringify(script.slice(start, start + 40))}`);
    tokens.push({ is: is as PowershellToken['is'], text: is === 'string' ? unquoted(text) : text });
  }
  return tokens;
}

function unquoted(text: string): string {
  return text.slice(1, -1).replaceAll(new RegExp(`([${single}])[${single}]`, 'g'), '$1');
}

const closing: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' };

/** Brackets that are still open at the end, or the first wrong one. */
export function openBrackets(tokens: readonly PowershellToken[]): string[] {
  const open: string[] = [];
  for (const { is, text } of tokens) {
    if (is !== 'bracket') continue;
    const closes = closing[text.slice(-1)];
    if (closes !== undefined) open.push(closes);
    else if (open.pop() !== text) return [text, ...open];
  }
  return open;
}
