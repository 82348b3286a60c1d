import { normalHostName } from '#base/dns-name.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { joined, oneLine, type SafeText, safe } from '../../safe-text.ts';
import { countText, durationText, shareText } from '../view/amounts.ts';
import { type HostProblem, type HostView, travelMs } from '../view/host-view.ts';
import { type Paint, plain, type Tone } from './paint.ts';
import { cutTo, padTo, widthOf, wrapTo } from './text-width.ts';

/** How something is shown. */
export interface Look {
  nowMs: number;
  /** Of the terminal; unlimited when absent. */
  columns?: number;
  paint?: Paint;
}

/** A table for people: one line for each host under a heading, never wider than the terminal. */
export function hostTable(hosts: readonly HostView[], look: Look): SafeText[] {
  const rows = hosts.map(host => ({ ...cellsOf(host, look.nowMs), tone: host.tone }));
  return printTable(columnsFor(hosts), rows, look);
}

/** One line of a table: a text for each column, and what the column `phase` means. */
export type Row = Readonly<Record<string, string>> & { tone?: Tone };

export interface Column {
  name: string;
  title: string;
  /** Left out on narrow terminals, the highest first. */
  dispensable?: number;
}

const gap = '  ';
/** The last column is cut, but not to less than this before others are left out. */
const leastLastWidth = 12;

export function printTable(columns: readonly Column[], rows: readonly Row[], look: Omit<Look, 'nowMs'>): SafeText[] {
  const { columns: limit = Infinity, paint = plain } = look;
  const shown = fitting(columns, rows, limit);
  const widths = widthsOf(shown, rows);
  const line = (cellOf: (column: Column) => SafeText, paintCell: (text: SafeText, column: Column) => SafeText) => {
    let left = limit;
    const cells = shown.map((column, index) => {
      const isLast = index === shown.length - 1;
      const text = cutTo(cellOf(column), Math.max(0, left));
      const padded = isLast ? text : padTo(text, Math.min(widths[index] ?? 0, left));
      left -= widthOf(padded) + gap.length;
      return paintCell(padded, column);
    });
    return joined(cells, gap).trimEnd() as SafeText;
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

/** The columns for which there is room. */
function fitting(columns: readonly Column[], rows: readonly Row[], limit: number): readonly Column[] {
  const widths = widthsOf(columns, rows);
  const needed = widths.reduce((sum, width, index) => {
    const isLast = index === columns.length - 1;
    return sum + (isLast ? Math.min(width, leastLastWidth) : width + gap.length);
  }, 0);
  const rank = Math.max(0, ...columns.map(({ dispensable = 0 }) => dispensable));
  if (needed <= limit || rank === 0) return columns;
  return fitting(
    columns.filter(({ dispensable = 0 }) => dispensable < rank),
    rows,
    limit,
  );
}

const all: readonly Column[] = [
  { name: 'host', title: 'HOST' },
  { name: 'address', title: 'ADDRESS', dispensable: 4 },
  { name: 'node', title: 'NODE', dispensable: 3 },
  { name: 'phase', title: 'PHASE' },
  { name: 'step', title: 'STEP', dispensable: 1 },
  { name: 'time', title: 'TIME', dispensable: 2 },
  { name: 'detail', title: 'DETAIL' },
];

/** Nobody needs to read the same thing twice in every line. */
function columnsFor(hosts: readonly HostView[]): readonly Column[] {
  return hosts.some(host => host.address !== '' && !isSame(host)) ? all : all.filter(({ name }) => name !== 'address');
}

function isSame({ name, address }: HostView): boolean {
  return normalHostName(name) === normalHostName(address);
}

function cellsOf(host: HostView, nowMs: number): Record<string, string> {
  const ms = travelMs(host, nowMs);
  return {
    host: host.name,
    address: isSame(host) ? '' : host.address,
    node: host.nodeName ?? '',
    phase: host.phase,
    step: host.step ?? '',
    time: ms === undefined ? '' : durationText(ms),
    detail: detailOf(host),
  };
}

/** The one thing that matters most now. */
export function detailOf({ problem, tone, attempts, progress, note }: HostView): string {
  if (problem !== undefined && tone === 'bad') {
    return attempts > 1 ? `${problem.code}, ${countText(attempts, 'attempt')}` : problem.code;
  }
  if (progress !== undefined) return shareText(progress.bytes, progress.totalBytes);
  return problem === undefined ? (note ?? '') : `may need more time (${problem.code})`;
}

/** `8 hosts: 5 Ready, 2 on the way, 1 failed`. */
export function countsLine(hosts: readonly HostView[], paint: Paint = plain): SafeText {
  const words: [HostView['tone'], string][] = [
    ['good', 'Ready'],
    ['busy', 'on the way'],
    ['bad', 'with a problem'],
    ['still', 'paused'],
  ];
  const parts = words.flatMap(([tone, word]) => {
    const count = hosts.filter(host => host.tone === tone).length;
    return count === 0 ? [] : [paint(oneLine(`${count} ${word}`), tone)];
  });
  const count = oneLine(countText(hosts.length, 'host'));
  return parts.length === 0 ? count : safe`${count}: ${joined(parts, ', ')}`;
}

/** What is wrong with which host, and what to do. */
export function problemLines(hosts: readonly HostView[], look: Omit<Look, 'nowMs'>): SafeText[] {
  return hosts.flatMap(({ name, problem, tone }) =>
    problem === undefined || tone !== 'bad' ? [] : problemText(name, problem, look),
  );
}

/** Code, message and remedy of one problem. */
export function problemText(name: string, problem: HostProblem, look: Omit<Look, 'nowMs'>): SafeText[] {
  const { columns = 120, paint = plain } = look;
  const { code, message, remedy } = problem;
  const wrapped = (text: string) => wrapTo(oneLine(text), Math.max(20, Math.min(columns, 120) - 5));
  return [
    safe`${oneLine(name)}: ${paint(oneLine(code), 'bad')}`,
    ...wrapped(message).map(line => safe`  ${line}`),
    ...wrapped(remedy).map((line, index) => (index === 0 ? safe`  -> ${line}` : safe`     ${line}`)),
  ];
}

/** What a Node runs, and what it is to run where that differs. */
export function versionText({ annotations }: { annotations: Readonly<Record<string, string>> }): string {
  const [version, desired] = [annotations[nodeAnnotation.version], annotations[nodeAnnotation.desiredVersion]];
  if (version === undefined) return desired === undefined ? 'none yet' : `none yet, on its way to ${desired}`;
  return desired === undefined || desired === version ? version : `${version}, on its way to ${desired}`;
}
