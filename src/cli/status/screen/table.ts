import { joinText, oneLine, type SafeText } from '../../safe-text.ts';
import { type Paint, type PaintTone, plain } from './paint.ts';
import { cutTo, padTo, widthOf } from './text-width.ts';

export interface TableLayout {
  /** Width of the terminal; unlimited when not set. */
  columns?: number;
  paint?: Paint;
  /** Without headings when false. */
  hasHeaders?: boolean;
}

/** A text for each column; the tone colors the column `phase`. */
export type Row = Readonly<Record<string, string>> & { tone?: PaintTone };

export interface Column {
  name: string;
  title: string;
  /** Hidden on narrow terminals, the highest first; never when not set. */
  hideOrder?: number;
  /** Long names are cut on a terminal, so that they do not push other columns away. */
  isName?: true;
}

const gap = '  ';
/** Columns are hidden before the last one gets narrower than this. */
const minLastWidth = 12;

export function printTable(columns: readonly Column[], allRows: readonly Row[], layout: TableLayout): SafeText[] {
  const { columns: limit = Infinity, paint = plain, hasHeaders = true } = layout;
  const rows = allRows.map(row => withShortNames(row, columns, limit));
  const visible = fittingColumns(columns, rows, limit);
  const widths = widthsOf(visible, rows);
  const line = (cellOf: (column: Column) => SafeText, paintCell: (text: SafeText, column: Column) => SafeText) => {
    let left = limit;
    const cells = visible.map((column, index) => {
      const isLast = index === visible.length - 1;
      const text = cutTo(cellOf(column), Math.max(0, left));
      const padded = isLast ? text : padTo(text, Math.min(widths[index] ?? 0, left));
      left -= widthOf(padded) + gap.length;
      return paintCell(padded, column);
    });
    return joinText(cells, gap).trimEnd() as SafeText;
  };
  const heading = line(
    ({ title }) => oneLine(title),
    text => paint(text, 'faint'),
  );
  return [
    ...(hasHeaders ? [heading] : []),
    ...rows.map(row =>
      line(
        ({ name }) => oneLine(row[name] ?? ''),
        (text, { name }) => (name === 'phase' && row.tone !== undefined ? paint(text, row.tone) : text),
      ),
    ),
  ];
}

/** A name takes at most a third of a terminal. */
function withShortNames(row: Row, columns: readonly Column[], limit: number): Row {
  const names = columns.filter(({ isName, name }) => isName === true && row[name] !== undefined);
  const width = Math.max(12, Math.floor(limit / 3));
  const short = names.map(({ name }) => [name, cutTo(oneLine(row[name] ?? ''), width)]);
  return { ...row, ...(Object.fromEntries(short) as Record<string, string>) };
}

function widthsOf(columns: readonly Column[], rows: readonly Row[]): number[] {
  return columns.map(({ name, title }) =>
    Math.max(title.length, ...rows.map(row => widthOf(oneLine(row[name] ?? '')))),
  );
}

function fittingColumns(columns: readonly Column[], rows: readonly Row[], limit: number): readonly Column[] {
  const widths = widthsOf(columns, rows);
  const needed = widths.reduce((sum, width, index) => {
    const isLast = index === columns.length - 1;
    return sum + (isLast ? Math.min(width, minLastWidth) : width + gap.length);
  }, 0);
  const rank = Math.max(0, ...columns.map(({ hideOrder = 0 }) => hideOrder));
  if (needed <= limit || rank === 0) return columns;
  return fittingColumns(
    columns.filter(({ hideOrder = 0 }) => hideOrder < rank),
    rows,
    limit,
  );
}
