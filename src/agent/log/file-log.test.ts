import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { createFileLog, createLineLog, type FileLogOptions } from './file-log.ts';

function fileLog(over: Partial<FileLogOptions> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'agent-log-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const clock = manualClock();
  const errors: string[] = [];
  const options = {
    directory,
    maxBytes: 0,
    build: 'agent 11.0.0',
    stderr: (text: string) => void errors.push(text),
    clock,
    ...over,
  };
  const names = () => readdirSync(directory).toSorted();
  const messages = (severity: string) =>
    readFileSync(join(directory, `windows-instance-config-daemon.exe.${severity}`), 'utf8')
      .split('\n')
      .flatMap(line => /^[IWE]\d{4} .*?\] (.*)$/.exec(line)?.slice(1) ?? []);
  return { directory, clock, errors, options, log: createFileLog(options), names, messages };
}

test('creates the file of a severity, and of all lower ones, on first use', () => {
  const { log, names } = fileLog();
  expect(names()).toEqual([]);
  log.info('one');
  expect(names()).toEqual(['windows-instance-config-daemon.exe.INFO']);
  log.error('two');
  expect(names().map(name => name.split('.').at(-1))).toEqual(['ERROR', 'INFO', 'WARNING']);
});

test('writes a message into the file of its severity and of all below', () => {
  const { log, messages } = fileLog();
  log.info('one');
  log.warn('two');
  log.error('three');
  log.debug('never');
  expect([messages('INFO'), messages('WARNING'), messages('ERROR')]).toEqual([
    ['one', 'two', 'three'],
    ['two', 'three'],
    ['three'],
  ]);
});

test('heads each file with program and machine', () => {
  const { log, directory } = fileLog();
  log.info('one');
  const text = readFileSync(join(directory, 'windows-instance-config-daemon.exe.INFO'), 'utf8');
  expect(text).toMatch(
    /^Log file created at: .*\nRunning on machine: .+\nBinary: agent 11\.0\.0\nLog line format: .*\nI/,
  );
});

test('reports errors, and nothing else, on standard error as well', () => {
  const { log, errors } = fileLog();
  log.info('one');
  log.warn('two');
  log.error('three', { error: new Error('it broke') });
  expect(errors).toEqual([expect.stringMatching(/^E.*\] three error="it broke"\n$/)]);
});

test('continues in the same files after a restart', () => {
  const { log, options, messages, names } = fileLog();
  log.info('one');
  createFileLog(options).info('two');
  expect([messages('INFO'), names().length]).toEqual([['one', 'two'], 1]);
});

test('keeps the size it was given, and so many files of each severity', async () => {
  const { log, clock, names, messages } = fileLog({ maxBytes: 1000, keep: 3 });
  for (let count = 0; count < 100; count += 1) {
    log.warn(`line ${count} ${'x'.repeat(80)}`);
    await clock.advance(1000);
  }
  expect(names().length).toBe(8);
  expect(messages('INFO').at(-1)).toContain('line 99');
});

test('carries the fields it was given to every line, those of the line last', () => {
  const { log, messages } = fileLog();
  log.with({ node: 'win-1', attempt: 1 }).with({ attempt: 2 }).info('one', { attempt: 3 });
  expect(messages('INFO')).toEqual(['one node=win-1 attempt=3']);
});

test('does not fail when nothing can be written', () => {
  const { log, directory, errors, options } = fileLog();
  writeFileSync(join(directory, 'file'), '');
  const lost = createFileLog({ ...options, directory: join(directory, 'file', 'below') });
  lost.error('told on standard error at least');
  log.info('works');
  expect(errors.length).toBe(1);
});

test('writes the same lines to any output, with their severity', () => {
  const told: [string, string][] = [];
  const log = createLineLog((severity, line) => void told.push([severity, line]), manualClock());
  log.info('one');
  log.warn('two');
  log.error('three');
  log.debug('never');
  expect(told.map(([severity, line]) => [severity, line.split('] ')[1]])).toEqual([
    ['INFO', 'one'],
    ['WARNING', 'two'],
    ['ERROR', 'three'],
  ]);
  expect(told[0]?.[1]).toContain(` ${String(process.pid).padStart(7)} agent]`);
});
