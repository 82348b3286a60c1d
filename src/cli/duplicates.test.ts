import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runWmco } from '../../test/kit/run-wmco.ts';

const entries = (user: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'windows-instances', namespace: 'ns' },
  data: { '10.0.0.1': `username=${user}` },
});
const list = (...items: unknown[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

let folder = '';
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wmco-duplicates-'));
  await writeFile(at('one.json'), JSON.stringify(entries('one')));
  await writeFile(at('same.json'), list(entries('one')));
  await writeFile(at('other.json'), JSON.stringify(entries('other')));
  await writeFile(at('twice.json'), list(entries('one'), entries('other')));
});
afterAll(() => rm(folder, { recursive: true }));

const check = (...files: string[]) =>
  runWmco(['check', 'instances', '-o', 'json', ...files.flatMap(file => ['-f', at(file)])]);

test('the same object in two files counts once', async () => {
  const { code, out, err } = await check('one.json', 'same.json', 'one.json');
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toEqual([{ address: '10.0.0.1', username: 'one', ok: true }]);
});

const different: [name: string, files: string[], places: [string, string]][] = [
  ['in two files', ['one.json', 'other.json'], ['one.json, document 1', 'other.json, document 1']],
  ['in one list', ['twice.json'], ['twice.json, document 1, item 1', 'twice.json, document 1, item 2']],
];
for (const [name, files, [first, second]] of different) {
  test(`an object with different content ${name} is an error that names both places`, async () => {
    const { code, out, err } = await check(...files);
    expect(code).toBe(1);
    expect(err).toContain(
      `error: INPUT_DUPLICATE: ConfigMap ns/windows-instances differs in ${at(first)} and ${at(second)}; the first is used\n`,
    );
    expect(err).toContain('  -> Pass only the file with the current content');
    expect(JSON.parse(out)).toEqual([{ address: '10.0.0.1', username: 'one', ok: true }]);
  });
}

const others: [name: string, change: object][] = [
  ['another namespace', { metadata: { name: 'windows-instances', namespace: 'other' } }],
  ['another kind', { kind: 'Secret' }],
  ['another group', { apiVersion: 'example.com/v1' }],
  ['no name', { metadata: {} }],
  ['the group of OLM', { apiVersion: 'operators.coreos.com/v1alpha1' }],
];
for (const [name, change] of others) {
  test(`an object with ${name} is not a duplicate`, async () => {
    const changed = { ...entries('x'), ...change };
    const { err } = await runWmco(['check', 'instances', '-f', '-'], list(entries('one'), changed, changed));
    expect(err).not.toContain('INPUT_DUPLICATE');
  });
}

test('deeply nested duplicates are compared', async () => {
  const depth = 500;
  const nested = (leaf: number) => `${'{"a":'.repeat(depth)}${leaf}${'}'.repeat(depth)}`;
  const item = (leaf: number) => `{"apiVersion":"v1","kind":"X","metadata":{"name":"x"},"spec":${nested(leaf)}}`;
  const { err } = await runWmco(['check', 'instances', '-f', '-'], `{"items":[${item(1)},${item(2)}]}`);
  expect(err).toContain('error: INPUT_DUPLICATE: X x differs');
});
