import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import { fileTime, headerLines, type Line, printLine } from './line.ts';

const atMs = new Date(2026, 2, 1, 9, 5, 7, 42).getTime();
const line = (over: Partial<Line> = {}) =>
  printLine({ severity: 'INFO', atMs, pid: 1234, message: 'Starting', fields: {}, ...over });
const head = 'I0301 09:05:07.042000    1234 agent] ';
const appError = (over: { message?: string; cause?: unknown } = {}) =>
  new AppError('NODE_NOT_FOUND', over.message ?? 'no Node', { remedy: 'Wait a while.', cause: over.cause });
const circle: Record<string, unknown> = {};
circle['self'] = circle;

const lines: [name: string, over: Partial<Line>, want: string][] = [
  ['a message', {}, `${head}Starting`],
  ['a warning', { severity: 'WARNING' }, `W${head.slice(1)}Starting`],
  ['an error', { severity: 'ERROR' }, `E${head.slice(1)}Starting`],
  ['a long process id', { pid: 12345678 }, 'I0301 09:05:07.042000 12345678 agent] Starting'],
  ['the part it is about', { fields: { part: 'identity' } }, `${head.replace('agent', 'identity')}Starting`],
  ['a plain text', { fields: { node: 'win-1' } }, `${head}Starting node=win-1`],
  ['a path', { fields: { path: 'C:\\k\\kubelet.exe' } }, `${head}Starting path=C:\\k\\kubelet.exe`],
  ['a text with blanks', { fields: { why: 'a b' } }, `${head}Starting why="a b"`],
  ['an empty text', { fields: { why: '' } }, `${head}Starting why=""`],
  ['a number', { fields: { attempt: 3 } }, `${head}Starting attempt=3`],
  ['a list', { fields: { names: ['a', 'b'] } }, `${head}Starting names=["a","b"]`],
  ['nothing for what is not there', { fields: { gone: undefined } }, `${head}Starting`],
  [
    'what cannot be printed',
    { fields: { circle, big: 1n } },
    `${head}Starting circle=[object Object] big=[object BigInt]`,
  ],
  ['a function', { fields: { run: Math.abs } }, `${head}Starting run=${String(Math.abs)}`],
  ['a plain error', { fields: { error: new Error('it broke') } }, `${head}Starting error="it broke"`],
  [
    'an error with code and remedy',
    { fields: { error: appError() } },
    `${head}Starting error="no Node" code=NODE_NOT_FOUND remedy="Wait a while."`,
  ],
  [
    'the causes behind an error',
    { fields: { error: appError({ cause: new Error('503', { cause: 'text' }) }) } },
    `${head}Starting error="no Node <- 503" code=NODE_NOT_FOUND remedy="Wait a while."`,
  ],
  ['a message with a line break as one line', { message: 'a\r\nb' }, `${head}a\\u000d\\u000ab`],
  ['a value with a line break as one line', { fields: { text: 'a\nb' } }, `${head}Starting text="a\\nb"`],
  ['what would steer a terminal', { message: 'a\u001b[2Jb' }, `${head}a\\u001b[2Jb`],
  ['no secret', { fields: { token: new Secret('hush') } }, `${head}Starting token="<redacted>"`],
  [
    'no login of an address',
    { fields: { proxy: 'http://me:pw@proxy:3128', error: new Error('cannot reach http://me:pw@proxy') } },
    `${head}Starting proxy=http://<redacted>@proxy:3128 error="cannot reach http://<redacted>@proxy"`,
  ],
  [
    'no login inside a list',
    { fields: { all: ['https://u@h', 'https://h/a@b'] } },
    `${head}Starting all=["https://<redacted>@h","https://h/a@b"]`,
  ],
];
for (const [name, over, want] of lines) test(`prints ${name}`, () => expect(line(over)).toBe(want));

test('follows causes only so far', () => {
  const endless = new Error('again');
  endless.cause = endless;
  expect(line({ fields: { error: endless } })).toBe(
    `${head}Starting error="again <- again <- again <- again <- again"`,
  );
});

test('cuts what is too long', () => {
  const long = line({ message: 'x'.repeat(100_000) });
  expect([long.length, long.endsWith('x...')]).toEqual([16_387, true]);
});

test('prints one line for any input', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.object(), (message, fields) => {
      expect(line({ message, fields })).toMatch(/^I0301 09:05:07\.042000 {4}1234 .*\] [^\n\r]*$/s);
    }),
    { numRuns: 500 },
  );
});

test('heads a file with when, where, what and how', () => {
  expect(headerLines(atMs, 'win-1', 'agent 11.0.0')).toEqual([
    'Log file created at: 2026/03/01 09:05:07',
    'Running on machine: win-1',
    'Binary: agent 11.0.0',
    'Log line format: [IWE]mmdd hh:mm:ss.uuuuuu processid part] message key=value',
  ]);
});

test('names times so that they sort', () => {
  const times = [
    [2026, 2, 1, 9, 5, 7, 42],
    [2026, 2, 1, 9, 5, 7, 421],
    [2026, 2, 1, 10],
    [2026, 9, 1],
    [2027, 0, 1],
  ] as const;
  const names = times.map(([year, month, ...rest]) => fileTime(new Date(year, month, ...rest).getTime()));
  expect(names[0]).toBe('20260301-090507.042');
  expect(names.toSorted()).toEqual(names);
});
