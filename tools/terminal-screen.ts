/* oxlint-disable no-control-regex -- escapes are what is looked for */

/** How a cell is shown; colors are those of SGR 31 to 36. */
export interface Style {
  isBold: boolean;
  isDim: boolean;
  color: 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | undefined;
}

/** Adjacent cells of one style. */
export interface Run extends Style {
  column: number;
  text: string;
}

interface Cell extends Style {
  text: string;
}

const plain: Style = { isBold: false, isDim: false, color: undefined };
const colors = ['red', 'green', 'yellow', 'blue', 'magenta', 'cyan'] as const;
const blank: Cell = { text: ' ', ...plain };

/** The screen of a terminal after this output, line by line; the last rows of it are visible. */
export function screenOf(output: string, size: { columns: number; rows: number }): Run[][] {
  const lines: Cell[][] = [[]];
  let [row, column, style] = [0, 0, plain];
  const lineAt = (index: number): Cell[] => (lines[index] ??= []);
  for (const part of output.match(/\u001b\[[?\d;]*[A-Za-z]|[^]/gu) ?? []) {
    const [, numbers = '', command = ''] = /^\u001b\[([?\d;]*)([A-Za-z])$/.exec(part) ?? [];
    // A terminal does not scroll back.
    if (command === 'A') row = Math.max(Math.max(0, lines.length - size.rows), row - Number(numbers || 1));
    else if (command === 'K') lineAt(row).length = 0;
    else if (command === 'J') {
      lineAt(row).length = column;
      lines.length = row + 1;
    } else if (command === 'm') style = styled(style, numbers);
    else if (part === '\r') column = 0;
    else if (part === '\n') [row, column] = [row + 1, 0];
    else if (command === '') {
      if (column >= size.columns) [row, column] = [row + 1, 0];
      lineAt(row)[column] = { text: part, ...style };
      column += 1;
    }
    lineAt(row);
  }
  return lines.slice(-size.rows).map(runsOf);
}

export function textOf(runs: readonly Run[]): string {
  return runs.map(({ text }) => text).join('');
}

function styled(style: Style, numbers: string): Style {
  return numbers.split(';').reduce<Style>((now, word) => {
    const number = Number(word);
    if (number === 0) return plain;
    if (number === 1) return { ...now, isBold: true };
    if (number === 2) return { ...now, isDim: true };
    return { ...now, color: colors[number - 31] ?? now.color };
  }, style);
}

function runsOf(line: readonly (Cell | undefined)[]): Run[] {
  const runs: Run[] = [];
  for (const [column, cell] of Array.from(line, each => each ?? blank).entries()) {
    const last = runs.at(-1);
    if (last !== undefined && isSameStyle(last, cell)) last.text += cell.text;
    else runs.push({ column, ...cell });
  }
  return runs;
}

function isSameStyle(one: Style, other: Style): boolean {
  return one.isBold === other.isBold && one.isDim === other.isDim && one.color === other.color;
}
