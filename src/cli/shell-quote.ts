/** One word of bash or zsh, whatever it contains. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quoted only when needed, for commands that people read. */
export function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : shellQuote(text);
}

/** One word of fish. */
export function fishQuote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
