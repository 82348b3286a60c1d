import { inspect, isDeepStrictEqual } from 'node:util';
import { AppError } from '../../src/base/errors.ts';
import type { Area, Row } from './row.ts';

export interface Verdict {
  row: Row;
  passed: boolean;
  why: string;
  /** The error is right, but its wording differs from the hint of the row, which is allowed. */
  otherWords: boolean;
}

/** Runs one row against the product and compares all members of the row. */
export async function judge(row: Row, area: Area): Promise<Verdict> {
  const run = area.ops[row.op];
  if (run === undefined) return verdict(row, `operation ${row.op} is not mapped`);
  let expected = row.expected;
  let actual: unknown;
  try {
    expected = area.expected?.(row) ?? expected;
    actual = await run(row.input);
  } catch (error) {
    actual = { error };
  }
  const { error } = actual as { error?: unknown };
  if (error !== undefined && !(error instanceof AppError)) return verdict(row, `not a typed error: ${inspect(error)}`);
  if (expected['error'] === true) return judgeError(row, expected, error, actual as Record<string, unknown>);
  if (error !== undefined) return verdict(row, `unexpected error: ${error.message}`);
  return verdict(row, compareMembers(expected, actual as Record<string, unknown>, row.match === 'set').join('; '));
}

function verdict(row: Row, why: string, otherWords = false): Verdict {
  return { row, passed: why === '', why, otherWords };
}

function judgeError(
  row: Row,
  expected: Row['expected'],
  error: AppError | undefined,
  actual: Row['expected'],
): Verdict {
  if (error === undefined) return verdict(row, `expected an error, got ${JSON.stringify(actual)}`);
  if (error.remedy === '') return verdict(row, 'the error has no remedy');
  const {
    error: _,
    errorContains,
    errorContainsAll,
    errorEquals,
    errorStartsWith,
    operatorExits: _exits,
    ...rest
  } = expected;
  const differences = compareMembers(rest, actual, row.match === 'set');
  const hints = [errorContains, errorEquals, errorStartsWith, ...((errorContainsAll as unknown[] | undefined) ?? [])];
  const missing = hints.filter(hint => typeof hint === 'string' && !error.message.includes(hint));
  return verdict(row, differences.join('; '), missing.length > 0);
}

type Matcher = (actual: Row['expected'], wanted: never) => boolean;

const text = (actual: Row['expected']) => (actual['text'] ?? actual['value'] ?? command(actual)) as string;
const command = (actual: Row['expected']) => (actual['command'] ?? '') as string;

/** Members of a row that describe a text instead of equaling it. */
const matchers: Record<string, Matcher> = {
  oneOf: (actual, wanted: unknown[]) => wanted.includes(actual['value']),
  exactText: (actual, wanted: string) => text(actual) === wanted,
  contains: (actual, wanted: string[]) => wanted.every(part => text(actual).includes(part)),
  mustContain: (actual, wanted: string[]) => wanted.every(part => text(actual).includes(part)),
  notContains: (actual, wanted: string[]) => !wanted.some(part => text(actual).includes(part)),
  mustNotContain: (actual, wanted: string[]) => !wanted.some(part => text(actual).includes(part)),
  startsWith: (actual, wanted: string) => text(actual).startsWith(wanted),
  endsWith: (actual, wanted: string) => text(actual).endsWith(wanted),
  matches: (actual, wanted: string) => new RegExp(wanted).test(text(actual)),
  commandContains: (actual, wanted: string[]) => wanted.every(part => command(actual).includes(part)),
  commandNotContains: (actual, wanted: string[]) => !wanted.some(part => command(actual).includes(part)),
};

function compareMembers(expected: Row['expected'], actual: Row['expected'], asSets: boolean): string[] {
  return Object.entries(expected).flatMap(([member, wanted]) => {
    const matcher = matchers[member];
    const fits =
      matcher === undefined
        ? isDeepStrictEqual(plain(actual[member], asSets), plain(wanted, asSets))
        : matcher(actual, wanted as never);
    return fits
      ? []
      : [`${member}: got ${JSON.stringify(matcher ? text(actual) : actual[member])}, want ${JSON.stringify(wanted)}`];
  });
}

/** Plain data without undefined members; lists are sorted where the order does not matter. */
function plain(value: unknown, asSets: boolean): unknown {
  if (value === undefined || value === null) return null;
  const data = JSON.parse(JSON.stringify(value)) as unknown;
  return asSets ? sorted(data) : data;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sorted(member)]));
}
