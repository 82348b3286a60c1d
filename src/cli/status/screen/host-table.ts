import { normalHostName } from '#base/dns-name.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { joinText, oneLine, type SafeText, safe } from '../../safe-text.ts';
import { countText, durationText, shareText } from '../view/amounts.ts';
import { type HostProblem, type HostView, configureMs } from '../view/host-view.ts';
import { type Paint, type PaintTone, plain } from './paint.ts';
import { cutTo, padTo, widthOf, wrapTo } from './text-width.ts';

export interface Layout {
  nowMs: number;
  /** Width of the terminal; unlimited when not set. */
  columns?: number;
  paint?: Paint;
}

/** One line for each host, never wider than the terminal. */
export function hostTable(hosts: readonly HostView[], layout: Layout): SafeText[] {
  const rows = hosts.map(host => ({ ...cellsOf(host, layout.nowMs), tone: host.tone }));
  return printTable(columnsFor(hosts), rows, layout);
}

/** A text for each column; the tone colors the column `phase`. */
export type Row = Readonly<Record<string, string>> & { tone?: PaintTone };

export interface Column {
  name: string;
  title: string;
  /** Hidden on narrow terminals, the highest first; never when not set. */
  hideOrder?: number;
}

const gap = '  ';
/** Columns are hidden before the last one gets narrower than this. */
const minLastWidth = 12;

export function printTable(
  columns: readonly Column[],
  rows: readonly Row[],
  layout: Omit<Layout, 'nowMs'>,
): SafeText[] {
  const { columns: limit = Infinity, paint = plain } = layout;
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
  return [
    line(
      ({ title }) => oneLine(title),
      text => paint(text, 'faint'),
    ),
    ...rows.map(row =>
      line(
        ({ name }) => oneLine(row[name] ?? ''),
        (text, { name }) => (name === 'phase' && row.tone !== undefined ? paint(text, row.tone) : text),
      ),
    ),
  ];
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

const hostColumns: readonly Column[] = [
  { name: 'host', title: 'HOST' },
  { name: 'address', title: 'ADDRESS', hideOrder: 4 },
  { name: 'node', title: 'NODE', hideOrder: 3 },
  { name: 'phase', title: 'PHASE' },
  { name: 'step', title: 'STEP', hideOrder: 1 },
  { name: 'time', title: 'TIME', hideOrder: 2 },
  { name: 'detail', title: 'DETAIL' },
];

/** Hides the address when it is the name of every host. */
function columnsFor(hosts: readonly HostView[]): readonly Column[] {
  return hosts.some(host => host.address !== '' && !isNamedByAddress(host))
    ? hostColumns
    : hostColumns.filter(({ name }) => name !== 'address');
}

function isNamedByAddress({ name, address }: HostView): boolean {
  return normalHostName(name) === normalHostName(address);
}

function cellsOf(host: HostView, nowMs: number): Record<string, string> {
  const ms = configureMs(host, nowMs);
  return {
    host: host.name,
    address: isNamedByAddress(host) ? '' : host.address,
    node: host.nodeName ?? '',
    phase: host.phase,
    step: host.step ?? '',
    time: ms === undefined ? '' : durationText(ms),
    detail: detailOf(host),
  };
}

/** The most important detail now. */
export function detailOf({ problem, tone, attempts, progress, note }: HostView): string {
  if (problem !== undefined && tone === 'bad') {
    return attempts > 1 ? `${problem.code}, ${countText(attempts, 'attempt')}` : problem.code;
  }
  if (progress !== undefined) return shareText(progress.bytes, progress.totalBytes);
  return problem === undefined ? (note ?? '') : `may need more time (${problem.code})`;
}

/** `8 hosts: 5 Ready, 2 in progress, 1 with a problem`. */
export function countsLine(hosts: readonly HostView[], paint: Paint = plain): SafeText {
  const words: [HostView['tone'], string][] = [
    ['good', 'Ready'],
    ['busy', 'in progress'],
    ['bad', 'with a problem'],
    ['paused', 'paused'],
  ];
  const parts = words.flatMap(([tone, word]) => {
    const count = hosts.filter(host => host.tone === tone).length;
    return count === 0 ? [] : [paint(oneLine(`${count} ${word}`), tone)];
  });
  const count = oneLine(countText(hosts.length, 'host'));
  return parts.length === 0 ? count : safe`${count}: ${joinText(parts, ', ')}`;
}

/** The problems of all hosts with their remedies. */
export function problemLines(hosts: readonly HostView[], layout: Omit<Layout, 'nowMs'>): SafeText[] {
  return hosts.flatMap(({ name, problem, tone }) =>
    problem === undefined || tone !== 'bad' ? [] : problemText(name, problem, layout),
  );
}

export function problemText(name: string, problem: HostProblem, layout: Omit<Layout, 'nowMs'>): SafeText[] {
  const { columns = 120, paint = plain } = layout;
  const { code, message, remedy } = problem;
  const wrapped = (text: string) => wrapTo(oneLine(text), Math.max(20, Math.min(columns, 120) - 5));
  return [
    safe`${oneLine(name)}: ${paint(oneLine(code), 'bad')}`,
    ...wrapped(message).map(line => safe`  ${line}`),
    ...wrapped(remedy).map((line, index) => (index === 0 ? safe`  -> ${line}` : safe`     ${line}`)),
  ];
}

/** Version of a Node, and the desired one if it differs. */
export function versionText({ annotations }: { annotations: Readonly<Record<string, string>> }): string {
  const [version, desired] = [annotations[nodeAnnotation.version], annotations[nodeAnnotation.desiredVersion]];
  if (version === undefined) return desired === undefined ? 'none yet' : `none yet, desired ${desired}`;
  return desired === undefined || desired === version ? version : `${version}, desired ${desired}`;
}
