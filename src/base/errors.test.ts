import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorCodes } from './error-codes.ts';
import { AppError, attempt, isAppError, shown } from './errors.ts';
import { Secret } from './secret.ts';

const fail = (cause?: unknown) =>
  new AppError('USAGE', 'wmco: no such command "x"', {
    remedy: 'Run wmco --help.',
    ...(cause !== undefined && { cause }),
  });

test('an AppError carries code, message and remedy, and is an Error with a stack', () => {
  const error = fail();
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: 'AppError',
    code: 'USAGE',
    message: 'wmco: no such command "x"',
    remedy: 'Run wmco --help.',
  });
  expect(error.stack).toContain('errors.test.ts');
  expect(String(error)).toBe('AppError: wmco: no such command "x"');
});

test('an AppError keeps its cause, and has none when none was given', () => {
  const cause = new Error('connection reset');
  expect(fail(cause).cause).toBe(cause);
  expect('cause' in fail()).toBe(false);
});

test('attempt gives back the value of a function that succeeds', () => {
  expect(attempt(() => 42)).toEqual({ ok: true, value: 42 });
  expect(attempt(() => undefined)).toEqual({ ok: true, value: undefined });
});

test('attempt gives back an AppError as a value', () => {
  const error = fail();
  const result = attempt(() => {
    throw error;
  });
  expect(result).toEqual({ ok: false, error });
});

const bugs: [string, unknown][] = [
  ['a TypeError', new TypeError('x is not a function')],
  ['a plain Error', new Error('bug')],
  ['an object that only looks like an AppError', { name: 'AppError', code: 'USAGE', message: 'm', remedy: 'r' }],
  ['a text', 'thrown text'],
  ['nothing at all', undefined],
];
for (const [name, bug] of bugs) {
  test(`attempt lets ${name} go on`, () => {
    let thrown: unknown = 'nothing was thrown';
    try {
      attempt(() => {
        throw bug;
      });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBe(bug);
  });
}

test('isAppError distinguishes AppErrors and their codes', () => {
  expect(isAppError(fail())).toBe(true);
  expect(isAppError(fail(), 'USAGE')).toBe(true);
  expect(isAppError(fail(), 'NODE_NOT_FOUND')).toBe(false);
  expect(isAppError(new Error('x'))).toBe(false);
  expect(isAppError(undefined)).toBe(false);
});

const shownCases: [string, unknown, string][] = [
  ['quotes a text', 'core', '"core"'],
  ['shows an empty text as such', '', '""'],
  ['escapes quotes and line breaks', 'a"b\nc\r\td', String.raw`"a\"b\nc\r\td"`],
  [
    'escapes the control characters of terminals',
    'a\u001b[31m\u009b31m\u007f',
    String.raw`"a\u001b[31m\u009b31m\u007f"`,
  ],
  ['escapes the line breaks that JSON leaves', 'a\u2028b\u2029c\u0085d', String.raw`"a\u2028b\u2029c\u0085d"`],
  ['escapes half a surrogate pair', 'a\ud800', String.raw`"a\ud800"`],
  ['is missing for undefined', undefined, 'missing'],
  ['says null for null', null, 'null'],
  ['shows numbers and booleans', [1, -2.5, true], '[1,-2.5,true]'],
  ['shows an object as JSON', { a: { b: [] } }, '{"a":{"b":[]}}'],
  ['survives a bigint', 5n, '[object BigInt]'],
  ['survives a symbol', Symbol('s'), 'Symbol(s)'],
  ['never shows a Secret', { token: new Secret('hunter2') }, '{"token":"<redacted>"}'],
  ['hides the login of a URL', 'http://user:hunter2@proxy:3128/x', '"http://<redacted>@proxy:3128/x"'],
  ['hides a password with an @, a slash, a blank and a quote', 'http://u:a@b/c "d@proxy', '"http://<redacted>@proxy"'],
  ['hides each login of a list', ['http://a:b@c', '//d:e@f'], '["http://<redacted>@c","//<redacted>@f"]'],
  ['keeps an @ that belongs to no URL', 'bob@corp', '"bob@corp"'],
  ['hides a login far too long to be shown', `http://${'x'.repeat(3000)}:hunter2@p`, '"http://<redacted>@p"'],
  ['keeps a text of 118 characters', 'x'.repeat(118), `"${'x'.repeat(118)}"`],
  ['cuts a longer text', 'x'.repeat(119), `"${'x'.repeat(116)}...`],
];
for (const [name, value, want] of shownCases) test(`shown ${name}`, () => expect(shown(value)).toBe(want));

test('shown survives a cycle and a toJSON that throws', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const hostile = {
    toJSON: () => {
      throw new Error('no');
    },
  };
  expect([shown(cycle), shown(hostile)]).toEqual(['[object Object]', '[object Object]']);
});

test('shown survives data nested deeper than the stack', () => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown;
  expect(shown(deep).length).toBeLessThanOrEqual(120);
});

test('shown returns at most 120 characters on one line for any value', () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
  fc.assert(
    fc.property(fc.oneof(anything, fc.string({ unit: 'binary', maxLength: 300 })), value => {
      const text = shown(value);
      expect(text.length).toBeLessThanOrEqual(120);
      expect(text).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    }),
    { numRuns: 2000 },
  );
});

test('an AppError printed for debugging shows its code and remedy', () => {
  const text = inspect(fail());
  expect(text).toContain("code: 'USAGE'");
  expect(text).toContain("remedy: 'Run wmco --help.'");
});

for (const [code, meaning] of Object.entries(errorCodes)) {
  test(`code ${code} is written as scripts expect and explained in one sentence`, () => {
    expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
    expect(meaning).toMatch(/^\S[^\n]{15,200}\.$/);
  });
}

test('no two codes mean the same', () => {
  const meanings = Object.values(errorCodes);
  expect(new Set(meanings).size).toBe(meanings.length);
});
