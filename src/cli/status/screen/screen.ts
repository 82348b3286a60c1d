import { stripVTControlCharacters } from 'node:util';
import { control, joinText, printable, type SafeText, safe } from '../../safe-text.ts';
import type { LiveTerminal } from '../../terminal.ts';
import { cutTo, widthOf } from './text-width.ts';

const [hideCursor, showCursor, clearLine, clearBelow] = [
  control('?25l'),
  control('?25h'),
  control('2K'),
  control('J'),
] as const;

/** The lines of a terminal that are redrawn in place. */
export class Screen {
  readonly #terminal: Pick<LiveTerminal, 'out' | 'size'>;
  #lines: readonly SafeText[] = [];
  #isOpen = false;

  constructor(terminal: Pick<LiveTerminal, 'out' | 'size'>) {
    this.#terminal = terminal;
  }

  /** Replaces the last frame. Lines that do not fit are cut, because they could not be redrawn. */
  draw(lines: readonly SafeText[]): void {
    const { columns, rows } = this.#terminal.size() ?? { columns: 80, rows: 24 };
    const next = lines.slice(0, Math.max(1, rows - 1)).map(line => fitToWidth(line, columns));
    if (this.#isOpen && next.length === this.#lines.length && next.every((line, index) => line === this.#lines[index]))
      return;
    const begin = this.#isOpen ? this.#moveToTop(columns) : hideCursor;
    const drawn = next.map(line => safe`${clearLine}${line}\n`);
    this.#terminal.out(safe`${begin}${joinText(drawn, '')}${clearBelow}`);
    [this.#lines, this.#isOpen] = [next, true];
  }

  /** Replaces the last frame with these lines, which may be more than fit, and restores the cursor. */
  close(lines: readonly SafeText[]): void {
    const { columns } = this.#terminal.size() ?? { columns: 80 };
    const begin = this.#isOpen ? safe`${this.#moveToTop(columns)}${clearBelow}${showCursor}` : safe``;
    this.#terminal.out(
      safe`${begin}${joinText(
        lines.map(line => safe`${line}\n`),
        '',
      )}`,
    );
    [this.#lines, this.#isOpen] = [[], false];
  }

  /** Counts wrapped lines, because the terminal may be narrower now. */
  #moveToTop(columns: number): SafeText {
    const height = this.#lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    return height === 0 ? safe`\r` : safe`\r${control(`${height}A`)}`;
  }
}

/** Removes colors from a line that is cut: the reset sequence could be lost. */
function fitToWidth(line: SafeText, columns: number): SafeText {
  return widthOf(line) > columns ? cutTo(printable(stripVTControlCharacters(line)), columns) : line;
}
