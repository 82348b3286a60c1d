import { expect, test } from 'vitest';
import { manualClock } from '../../test/kit/manual-clock.ts';
import { AppError } from './errors.ts';
import { createLog, type Log, type LogLevel, logLevels, silentLog } from './log.ts';
import { Secret } from './secret.ts';

function lines(use: (log: Log) => void, lowest?: LogLevel): Record<string, unknown>[] {
  const written: string[] = [];
  use(createLog(line => written.push(line), manualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), lowest));
  return written.map(line => {
    expect(line.endsWith('\n')).toBe(true);
    expect(line.slice(0, -1)).not.toContain('\n');
    return JSON.parse(line);
  });
}

test('writes time, level, message and fields on one line', () => {
  expect(lines(log => log.info('Configuring Machine', { Machine: 'a/b', attempt: 2 }))).toEqual([
    { time: '2026-01-02T03:04:05.678Z', level: 'info', message: 'Configuring Machine', Machine: 'a/b', attempt: 2 },
  ]);
});

const levels: [LogLevel | undefined, LogLevel[]][] = [
  [undefined, ['info', 'warn', 'error']],
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
];
for (const [lowest, want] of levels) {
  test(`writes ${want.join(', ')} from ${lowest ?? 'the usual level'} on`, () => {
    const all = lines(log => {
      for (const level of logLevels) log[level](level);
    }, lowest);
    expect(all.map(line => line.level)).toEqual(want);
  });
}

test('carries fields along, the nearer one winning', () => {
  const [line] = lines(log =>
    log.with({ controller: 'csr', key: 'a' }).with({ key: 'b' }).warn('Waiting', { after: 5 }),
  );
  expect(line).toMatchObject({ controller: 'csr', key: 'b', after: 5 });
});

test('prints an error with its code, its remedy and its causes', () => {
  const cause = new TypeError('inner');
  const error = new AppError('USAGE', 'outer', { remedy: 'Do it right.', cause });
  expect(lines(log => log.error('Failed', { error }))[0]).toMatchObject({
    error: { message: 'outer', code: 'USAGE', remedy: 'Do it right.', cause: { message: 'inner', name: 'TypeError' } },
  });
});

test('does not print a secret, however deep', () => {
  const secret = new Secret('correct horse');
  const [line] = lines(log => log.info('Saying', { a: { b: [secret] }, secret }));
  expect(JSON.stringify(line)).not.toContain('horse');
});

const cycle: Record<string, unknown> = {};
cycle.self = cycle;
const unprintable: [string, unknown][] = [
  ['a cycle', cycle],
  ['a bigint', 1n],
  [
    'a member that throws',
    {
      toJSON: () => {
        throw new Error('no');
      },
    },
  ],
];
for (const [name, value] of unprintable) {
  test(`does not lose a line because of ${name}`, () => {
    expect(lines(log => log.info('Saying', { value }))[0]).toMatchObject({ message: 'Saying', unprintable: true });
  });
}

test('a line break in a message or a field stays within the line', () => {
  expect(lines(log => log.info('a\nb', { c: 'd\ne' }))[0]).toMatchObject({ message: 'a\nb', c: 'd\ne' });
});

test('silentLog ignores every line', () => {
  for (const level of logLevels) expect(silentLog.with({ a: 1 })[level]('x', {})).toBeUndefined();
});
