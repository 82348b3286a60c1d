import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { fileText, fixedText } from './text-source.ts';

async function fileWith(text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'text-source-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'token');
  await writeFile(path, text);
  const clock = manualClock();
  return { path, clock, source: fileText(path, 'token', 60_000, clock) };
}

test('a fixed text stays', async () => {
  const source = fixedText('abc');
  expect([await source.read(), await source.reread()]).toEqual(['abc', 'abc']);
});

test('reads a file once and again only after its time', async () => {
  const { path, clock, source } = await fileWith('one');
  expect(await source.read()).toBe('one');
  await writeFile(path, 'two');
  await clock.advance(59_999);
  expect(await source.read()).toBe('one');
  await clock.advance(1);
  expect(await source.read()).toBe('two');
});

test('reread bypasses the cache', async () => {
  const { path, source } = await fileWith('one');
  expect(await source.read()).toBe('one');
  await writeFile(path, 'two');
  expect(await source.reread()).toBe('two');
  expect(await source.read()).toBe('two');
});

test('reads once for all who ask at the same time', async () => {
  const { source } = await fileWith('one');
  const readings = [source.read(), source.read(), source.reread()];
  expect(new Set(readings).size).toBe(1);
  expect(await Promise.all(readings)).toEqual(['one', 'one', 'one']);
});

test('follows a file that is replaced by renaming, as the kubelet does', async () => {
  const { path, source } = await fileWith('one');
  await source.read();
  await writeFile(`${path}.new`, 'two');
  await rename(`${path}.new`, path);
  expect(await source.reread()).toBe('two');
});

test('keeps the last text while the file is missing or empty', async () => {
  const { path, clock, source } = await fileWith('one');
  await source.read();
  await rm(path);
  expect(await source.reread()).toBe('one');
  await writeFile(path, '');
  expect(await source.reread()).toBe('one');
  await writeFile(path, ' \n');
  expect(await source.reread()).toBe('one');
  await writeFile(path, 'two');
  expect(await source.read()).toBe('one');
  await clock.advance(60_000);
  expect(await source.read()).toBe('two');
});

test('tries again after a first reading that failed', async () => {
  const { path, source } = await fileWith('');
  await expect(source.read()).rejects.toMatchObject({ code: 'CREDENTIAL_UNREADABLE' });
  await writeFile(path, 'one');
  expect(await source.read()).toBe('one');
});

const unusable: [string, string | undefined, string][] = [
  ['is missing', undefined, 'cannot be read'],
  ['is empty', '', 'is empty or too long'],
  ['is blank', ' \n\t', 'is blank'],
  ['is longer than any credential', 'x'.repeat(1_048_577), 'is empty or too long'],
];
for (const [name, text, words] of unusable) {
  test(`says that a file ${name}, with its path and without its content`, async () => {
    const { path, source } = await fileWith(text ?? 'x');
    if (text === undefined) await rm(path);
    const error = await source.read().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CREDENTIAL_UNREADABLE', remedy: expect.stringContaining('permissions') });
    expect((error as Error).message).toBe(`token: "${path}" ${words}`);
  });
}
