import { stripVTControlCharacters } from 'node:util';
import { control, joined, printable, type SafeText, safe } from '../../safe-text.ts';
import type { LiveTerminal } from '../../terminal.ts';
import { cutTo, widthOf } from './text-width.ts';

const [hideCursor, showCursor, clearLine, clearBelow] = [
  control('?25l'),
  control('?25h'),
  control('2K'),
  control('J'),
] as const;

/** A part of a terminal that is drawn again and again in the same place. */
export class Screen {
  readonly #terminal: Pick<LiveTerminal, 'out' | 'size'>;
  #lines: readonly SafeText[] = [];
  #isOpen = false;

  constructor(terminal: Pick<LiveTerminal, 'out' | 'size'>) {
    this.#terminal = terminal;
  }

  /** Replaces what was drawn before. What does not fit on the terminal is left out: it could not be drawn over. */
  draw(lines: readonly SafeText[]): void {
    const { columns, rows } = this.#terminal.size() ?? { columns: 80, rows: 24 };
    const next = lines.slice(0, Math.max(1, rows - 1)).map(line => fitted(line, columns));
    if (this.#isOpen && next.length === this.#lines.length && next.every((line, index) => line === this.#lines[index]))
      return;
    const begin = this.#isOpen ? this.#back(columns) : hideCursor;
    const drawn = next.map(line => safe`${clearLine}${line}\n`);
    this.#terminal.out(safe`${begin}${joined(drawn, '')}${clearBelow}`);
    [this.#lines, this.#isOpen] = [next, true];
  }

  /** Leaves what was drawn last, and the terminal as it was. */
  close(): void {
    if (this.#isOpen) this.#terminal.out(showCursor);
    [this.#lines, this.#isOpen] = [[], false];
  }

  /** To the first line; on a terminal that has become narrower a line takes several. */
  #back(columns: number): SafeText {
    const height = this.#lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    return height === 0 ? safe`\r` : safe`\r${control(`${height}A`)}`;
  }
}

/** What is cut loses its colours, which might not come to an end otherwise. */
function fitted(line: SafeText, columns: number): SafeText {
  return widthOf(line) > columns ? cutTo(printable(stripVTControlCharacters(line)), columns) : line;
}
