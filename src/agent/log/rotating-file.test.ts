import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { openFilesAt } from '../../../test/kit/open-files.ts';
import { RotatingFile, type RotatingFileOptions } from './rotating-file.ts';

/** A log file in a folder of its own, with a head of one line of two bytes. */
function logFile(over: Partial<RotatingFileOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-log-'));
  onTestFinished(() => {
    if (existsSync(folder)) chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true, force: true });
  });
  const path = join(folder, 'logs', 'agent.INFO');
  const clock = manualClock();
  const options = { path, maxBytes: 20, keep: 2, header: () => ['#'], clock, ...over };
  const file = new RotatingFile(options);
  onTestFinished(() => file.close());
  const read = (name = 'agent.INFO') => readFileSync(join(folder, 'logs', name), 'utf8');
  const names = () => readdirSync(join(folder, 'logs')).toSorted();
  return { folder, path, clock, options, file, read, names };
}

test('creates its directory, writes the header and appends lines at once', () => {
  const { file, read } = logFile();
  file.write('one');
  expect(read()).toBe('#\none\n');
  file.write('two');
  expect(read()).toBe('#\none\ntwo\n');
});

test('continues with the file of an earlier process', () => {
  const { file, options, read, names } = logFile();
  file.write('one');
  file.close();
  new RotatingFile(options).write('two');
  expect([read(), names()]).toEqual(['#\none\ntwo\n', ['agent.INFO']]);
});

test('rotates a full file', async () => {
  const { file, clock, read, names } = logFile();
  file.write('a line of 18 bytes'.slice(0, 17));
  expect(names()).toEqual(['agent.INFO']);
  await clock.advance(2000);
  file.write('next');
  const [, aside = ''] = names();
  expect(read()).toBe('#\nnext\n');
  expect(read(aside)).toBe('#\na line of 18 byte\n');
  expect(aside).toMatch(/^agent\.INFO\.\d{8}-\d{6}\.\d{3}$/);
});

test('fills a file to the last byte it may have', () => {
  const { file, names } = logFile();
  file.write('x'.repeat(17));
  expect(names()).toEqual(['agent.INFO']);
});

test('writes a line that is longer than a file may be', async () => {
  const { file, clock, read, names } = logFile();
  file.write('x'.repeat(50));
  await clock.advance(2000);
  file.write('short');
  expect([read(), names().length]).toEqual(['#\nshort\n', 2]);
});

test('never rotates without a limit', async () => {
  const { file, clock, names } = logFile({ maxBytes: 0 });
  for (let round = 0; round < 50; round += 1) {
    file.write('x'.repeat(30));
    await clock.advance(2000);
  }
  expect(names()).toEqual(['agent.INFO']);
});

test('keeps so many old files, the newest, also over restarts', async () => {
  const { options, clock, names, read } = logFile();
  for (let round = 0; round < 6; round += 1) {
    const file = new RotatingFile(options);
    file.write(`round ${round} xxxxxxx`);
    file.close();
    await clock.advance(2000);
  }
  expect(names().length).toBe(3);
  expect(names().map(name => /round \d/.exec(read(name))?.[0])).toEqual(['round 5', 'round 3', 'round 4']);
});

test('deletes only files with its time stamp', async () => {
  const { file, clock, names, folder } = logFile({ keep: 0 });
  const others = ['agent.INFO.old', 'agent.INFO.20260101', 'agent.INFORMATION.20260101-000000.000', 'kubelet.log'];
  mkdirSync(join(folder, 'logs'));
  for (const name of others) writeFileSync(join(folder, 'logs', name), '');
  for (let round = 0; round < 4; round += 1) {
    file.write('x'.repeat(18));
    await clock.advance(2000);
  }
  expect(names()).toEqual(['agent.INFO', ...others].toSorted());
});

test('rotates at most once a second, however fast it is written to', () => {
  const { file, names } = logFile();
  for (let count = 0; count < 100; count += 1) file.write('x'.repeat(18));
  expect(names().length).toBe(2);
});

test('replaces a link and keeps its target', () => {
  const { file, path, folder, read } = logFile();
  mkdirSync(join(folder, 'logs'));
  writeFileSync(join(folder, 'of-go'), 'old');
  symlinkSync(join(folder, 'of-go'), path);
  file.write('ours');
  expect([read(), lstatSync(path).isFile()]).toEqual(['#\nours\n', true]);
  expect(readFileSync(join(folder, 'of-go'), 'utf8')).toBe('old');
});

test('opens a new file within a second when a user deletes it', async () => {
  const { file, path, clock, read } = logFile();
  file.write('one');
  unlinkSync(path);
  await clock.advance(1000);
  file.write('two');
  expect(read()).toBe('#\ntwo\n');
});

test('opens a new file when another process has rotated it', async () => {
  const { file, path, clock, read } = logFile();
  file.write('one');
  renameSync(path, `${path}.aside`);
  writeFileSync(path, 'of the other\n');
  await clock.advance(1000);
  file.write('two');
  expect(read()).toBe('of the other\ntwo\n');
});

test('survives a place that cannot be written to, and reports how much was lost', async () => {
  const { file, folder, clock, read } = logFile({ maxBytes: 0 });
  writeFileSync(join(folder, 'logs'), 'a file in the place of the directory');
  file.write('one');
  file.write('two');
  await clock.advance(1000);
  file.write('three');
  rmSync(join(folder, 'logs'));
  file.write('four');
  await clock.advance(1000);
  file.write('five');
  expect(read()).toBe('#\n4 lines could not be written here\nfive\n');
  file.write('six');
  expect(read()).toMatch(/five\nsix\n$/);
});

test('survives a full disk', () => {
  const { clock } = logFile();
  const file = new RotatingFile({ path: '/dev/full', maxBytes: 0, keep: 1, header: () => ['#'], clock });
  const writeAll = () => {
    for (let count = 0; count < 10; count += 1) file.write('lost');
    file.close();
  };
  expect(writeAll).not.toThrow();
});

test('leaves no handle open after a failure', async () => {
  const { clock } = logFile();
  const file = new RotatingFile({ path: '/dev/full', maxBytes: 0, keep: 1, header: () => ['#'], clock });
  for (let count = 0; count < 20; count += 1) {
    file.write('lost');
    await clock.advance(1000);
  }
  expect(openFilesAt('/dev/full')).toBe(0);
});

test('can be closed twice, and opens again for the next line', () => {
  const { file, read } = logFile();
  file.write('one');
  file.close();
  file.close();
  file.write('two');
  expect(read()).toBe('#\none\ntwo\n');
});
