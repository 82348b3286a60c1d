/** Gives whole numbers from 0 to one below the bound. The same seed gives the same numbers on every machine. */
export type Dice = (below: number) => number;

/** A xorshift generator: not random enough for secrets, but for tests, and it repeats itself exactly. */
export function dice(seed: number): Dice {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1;
  return below => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state % below;
  };
}

/** Longer inputs only show how long a parser takes. */
export const maxInputLength = 100_000;

/** Valid inputs and then damaged ones, without end. */
export function* mutations(seeds: readonly string[], seed: number, maxLength = maxInputLength): Generator<string> {
  yield* seeds;
  const roll = dice(seed);
  for (;;) yield mutate(pick(seeds, roll), seeds, roll).slice(0, maxLength);
}

function mutate(text: string, seeds: readonly string[], roll: Dice): string {
  let mutated = text;
  for (let times = 1 + roll(3); times > 0; times -= 1) {
    mutated = pick(mutators, roll)(mutated, roll, seeds).slice(0, maxInputLength);
  }
  return mutated;
}

type Mutator = (text: string, roll: Dice, seeds: readonly string[]) => string;

const flipBit: Mutator = (text, roll) => {
  const at = roll(text.length + 1);
  return text.slice(0, at) + String.fromCharCode((text.charCodeAt(at) || 0) ^ (1 << roll(8))) + text.slice(at + 1);
};
const truncate: Mutator = (text, roll) =>
  roll(2) === 0 ? text.slice(0, roll(text.length + 1)) : text.slice(roll(text.length + 1));
const cutOut: Mutator = (text, roll) => {
  const [from, to] = span(text, roll);
  return text.slice(0, from) + text.slice(to);
};
const duplicate: Mutator = (text, roll) => {
  const [from, to] = span(text, roll);
  return text.slice(0, to) + text.slice(from, to).repeat(1 + roll(roll(20) === 0 ? 500 : 3)) + text.slice(to);
};
const splice: Mutator = (text, roll, seeds) => {
  const [from, to] = span(text, roll);
  const other = pick(seeds, roll);
  const [start, stop] = span(other, roll);
  return text.slice(0, from) + other.slice(start, stop) + text.slice(to);
};
const insert: Mutator = (text, roll) => {
  const at = roll(text.length + 1);
  return text.slice(0, at) + pick(specials, roll) + text.slice(at + roll(2));
};
const replaceNumber: Mutator = (text, roll) => {
  const numbers = [...text.matchAll(/-?\d+(\.\d+)?/g)];
  const found = numbers[roll(numbers.length || 1)];
  if (found === undefined) return insert(text, roll, []);
  return text.slice(0, found.index) + pick(numberTexts, roll) + text.slice(found.index + found[0].length);
};
const nest: Mutator = (text, roll) => {
  const [open, close] = pick(brackets, roll);
  const [from, to] = span(text, roll);
  const depth = 1 + roll(roll(10) === 0 ? 20_000 : 40);
  return text.slice(0, from) + open.repeat(depth) + text.slice(from, to) + close.repeat(depth) + text.slice(to);
};
/** Random letters seldom get past a JSON parser, so JSON is also changed value by value, JSON in its texts included. */
const changeJson: Mutator = (text, roll, seeds) => {
  try {
    return JSON.stringify(changeValue(JSON.parse(text), roll, seeds));
  } catch {
    return flipBit(text, roll, seeds);
  }
};

const mutators: readonly Mutator[] = [
  flipBit,
  truncate,
  cutOut,
  duplicate,
  splice,
  insert,
  replaceNumber,
  nest,
  changeJson,
  changeJson,
  changeJson,
];

const numberTexts = [
  '0',
  '-0',
  '-1',
  '1.5',
  '1e999',
  '-1e999',
  '4294967296',
  '9007199254740993',
  '9'.repeat(400),
  '0x10',
  'NaN',
];
const brackets: readonly (readonly [string, string])[] = [
  ['[', ']'],
  ['{', '}'],
  ['(', ')'],
  ['{"a":', '}'],
  ['[?(@.a', ')]'],
  ['- ', ''],
  ['? ', ''],
];
const words =
  'null true undefined __proto__ constructor toString .. ../ ::1 10.0.0.256 {end} %00 <<: &a *a {{ \\u0000 =cut --- data: {range';
const specials = [
  ...Array.from('"\'\\/=:,;.*%&<>|@#$!-+ {}[]()\0\n\r\t\u001b\u007f\u0080\u00ff\ufeff\u2028\u212a😀'),
  ...words.split(' '),
  '\ud800',
  '-----BEGIN X-----\n',
  '\n-----END X-----',
  'A'.repeat(5000),
  '.'.repeat(5000),
  ...numberTexts,
];
const values: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  '',
  ' ',
  'x',
  [],
  {},
  [null],
  [[]],
  { '': null },
  ...specials,
];

function changeValue(value: unknown, roll: Dice, seeds: readonly string[]): unknown {
  if (roll(6) === 0) return pick(values, roll);
  if (typeof value === 'string') return mutate(value, seeds, roll);
  if (typeof value === 'number') return Number(pick(numberTexts, roll));
  if (Array.isArray(value)) return changeItem(value, roll, seeds);
  return typeof value === 'object' && value !== null ? changeMember(value, roll, seeds) : pick(values, roll);
}

function changeItem(list: readonly unknown[], roll: Dice, seeds: readonly string[]): unknown[] {
  const at = roll(list.length || 1);
  const item = list[at] ?? pick(values, roll);
  const change = roll(4);
  if (change === 0) return list.toSpliced(at, 1);
  if (change === 1) return list.toSpliced(at, 0, ...Array.from({ length: 1 + roll(50) }, () => item));
  return list.toSpliced(at, 1, changeValue(item, roll, seeds));
}

function changeMember(object: object, roll: Dice, seeds: readonly string[]): object {
  const entries: [string, unknown][] = Object.entries(object);
  const at = roll(entries.length || 1);
  const [name, value] = entries[at] ?? ['', null];
  const change = roll(5);
  if (change === 0) entries.splice(at, 1);
  else if (change === 1) entries.push([mutate(name, [name], roll), value]);
  else entries.splice(at, 1, [name, changeValue(value, roll, seeds)]);
  return Object.fromEntries(entries);
}

/** Two places in a text, the first not behind the second, mostly near each other. */
function span(text: string, roll: Dice): [number, number] {
  const from = roll(text.length + 1);
  const room = text.length - from;
  return [from, from + roll(Math.min(room, roll(4) === 0 ? room : 20) + 1)];
}

function pick<T>(list: readonly T[], roll: Dice): T {
  return list[roll(list.length)] as T;
}
