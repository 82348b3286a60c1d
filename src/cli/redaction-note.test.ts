import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot, runWmco } from '../../test/kit/run-wmco.ts';

const example = (name: string) => join(repositoryRoot, 'examples', name);

const renderFiles = (...words: string[]) =>
  runWmco(['render', 'files', '-f', example('cluster.yaml'), example('secrets.yaml'), ...words]);

const notes: [words: string[], note: string][] = [
  [[], 'note: 4 values are redacted; use --show-secrets to print them\n'],
  [['-o', 'json'], 'note: 4 values are redacted; use --show-secrets to print them\n'],
  [['-o', 'yaml'], 'note: 4 values are redacted; use --show-secrets to print them\n'],
  [['--show-secrets'], ''],
];
for (const [words, note] of notes) {
  test(`files ${words.join(' ')}: ${note === '' ? 'prints no note' : 'says how many values are redacted'}`, async () => {
    const { err } = await renderFiles(...words);
    expect(err).toBe(note);
  });
}

test('files -o dir=PATH: says how many values are redacted in the files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-redacted-'));
  const { err } = await renderFiles('-o', `dir=${folder}`);
  await rm(folder, { recursive: true });
  expect(err).toBe('note: 4 values are redacted; use --show-secrets to print them\n');
});

test('registries: says that one value is redacted', async () => {
  const { err } = await runWmco(['render', 'registries', '-f', example('mirrors.yaml'), example('secrets.yaml')]);
  expect(err).toMatch(/^note: (1 value is|\d+ values are) redacted; use --show-secrets to print (it|them)\n$/);
});

test('a check prints no note, because no flag would show the values', async () => {
  const { err } = await runWmco(['check', 'mirrors', '-f', example('mirrors.yaml'), example('secrets.yaml')]);
  expect(err).not.toContain('note:');
});
