/* oxlint-disable no-control-regex -- escapes are what is looked for */
/** What a terminal shows after this output; long lines wrap. */
export function seen(text: string, columns: number, rows: number): string[] {
  const cells: string[][] = [[]];
  let [row, column] = [0, 0];
  const lineAt = (index: number): string[] => (cells[index] ??= []);
  for (const part of text.match(/\u001b\[[?\d;]*[A-Za-z]|[^]/gu) ?? []) {
    const up = /^\u001b\[(\d+)A$/.exec(part)?.[1];
    // A terminal does not scroll back.
    if (up !== undefined) row = Math.max(Math.max(0, cells.length - rows), row - Number(up));
    else if (part === '\u001b[2K') lineAt(row).length = 0;
    else if (part === '\u001b[J') {
      lineAt(row).length = column;
      cells.length = row + 1;
    } else if (part === '\r') column = 0;
    else if (part === '\n') [row, column] = [row + 1, 0];
    else if (!part.startsWith('\u001b')) {
      if (column >= columns) [row, column] = [row + 1, 0];
      lineAt(row)[column] = part;
      column += 1;
    }
    lineAt(row);
  }
  return cells.map(line => Array.from(line, cell => cell ?? ' ').join(''));
}
