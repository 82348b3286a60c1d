import type { Column } from '../kind.ts';
import { listAt, recordAt, textAt, textsAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';

export const none = '<none>';

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  cell: object => object.metadata.name ?? '',
};

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  cell: (object, now) => ageOf(object.metadata.creationTimestamp, now),
};

export const createdColumn: Column = {
  name: 'Created At',
  type: 'date',
  cell: object => object.metadata.creationTimestamp ?? '',
};

export function textColumn(name: string, cell: (object: StoredObject, now: number) => unknown): Column {
  return { name, type: 'string', cell };
}

export function countColumn(name: string, cell: (object: StoredObject) => number): Column {
  return { name, type: 'integer', cell };
}

export function wide(column: Column): Column {
  return { ...column, priority: 1 };
}

/** Columns of workloads with a pod template. */
export const workloadColumns: readonly Column[] = [
  wide(textColumn('Containers', object => templateTexts(object, 'name'))),
  wide(textColumn('Images', object => templateTexts(object, 'image'))),
  wide(textColumn('Selector', object => labelsText(textsAt(object, 'spec.selector.matchLabels')))),
];

function templateTexts(object: StoredObject, member: string): string {
  return listAt(object, 'spec.template.spec.containers')
    .map(container => textAt(container, member))
    .join(',');
}

export function labelsText(labels: Record<string, string>): string {
  const texts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return texts.length === 0 ? none : texts.sort().join(',');
}

export function countOf(object: StoredObject, ...members: string[]): number {
  return members.reduce((sum, member) => sum + Object.keys(recordAt(object, member)).length, 0);
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** An age in the short form of kubectl. */
export function ageOf(time: string | undefined, now: number): string {
  const then = Date.parse(time ?? '');
  return Number.isNaN(then) ? '<unknown>' : durationText(Math.floor((now - then) / 1000));
}

export function durationText(seconds: number): string {
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return pair(seconds, [minute, 'm'], [1, 's']);
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return pair(seconds, [hour, 'h'], [minute, 'm']);
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return pair(seconds, [day, 'd'], [hour, 'h']);
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return pair(seconds, [year, 'y'], [day, 'd']);
  return `${Math.floor(seconds / year)}y`;
}

type Unit = readonly [seconds: number, letter: string];

function pair(seconds: number, large: Unit, small: Unit): string {
  const rest = Math.floor((seconds % large[0]) / small[0]);
  return `${Math.floor(seconds / large[0])}${large[1]}${rest === 0 ? '' : `${rest}${small[1]}`}`;
}
