import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allCalls } from '../src/agent/win32/all-calls.ts';
import { programs } from '../src/agent/win32/process/programs.ts';
import { windowsApiPage } from './windows-api-page.ts';

const folder = join(import.meta.dirname, '../src/agent/win32');
const page = windowsApiPage();
const calls = Object.entries(allCalls).flatMap(([about, table]) =>
  Object.entries(table).map(([name, call]) => ({ about, name, ...call })),
);

test.each(calls)('the page tells of $name ($about)', ({ name, dll, why }) => {
  expect(page).toContain(`| \`${name}\` | ${dll} | ${why} |`);
});

test.each(calls)(
  'the binding of $name ($about) is that of a function of 64-bit Windows',
  ({ name, dll, prototype }) => {
    expect(dll).toMatch(/^[a-z0-9]+\.dll$/);
    expect(prototype).toMatch(new RegExp(`^[a-z0-9_]+(?: \\*)? ?__stdcall ${name}\\([^()]*\\)$`));
    expect(prototype).not.toMatch(/\b(long|int64|DWORD|HANDLE|LPWSTR)\b/);
  },
);

test.each(calls)('why $name is called ($about) fits into a table', ({ why }) => {
  expect(why).toMatch(/^[A-Z][^|\n]*[^.\n]$/);
});

test.each(Object.entries(programs))('the page tells of the program %s', (_, { program, arguments: words, why }) => {
  expect(page).toContain(`| \`${program}\` | \`${words.join(' ')}\` | ${why} |`);
});

test('the list contains every table of calls', async () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    /(^|[/-])calls\.ts$/.test(name),
  );
  const modules = await Promise.all(files.map(name => import(join(folder, name)) as Promise<object>));
  const bound = modules.flatMap(module => Object.values(module).flatMap((table: object) => Object.values(table)));
  const prototypes = bound.flatMap((call: { prototype?: string }) => call.prototype ?? []);
  expect(prototypes.filter(prototype => !calls.some(call => call.prototype === prototype))).toEqual([]);
  expect(prototypes.length).toBeGreaterThan(50);
});

test('there are no bindings outside of the tables', () => {
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  const binding = sources.filter(name => /\.func\(/.test(readFileSync(join(folder, name), 'utf8')));
  expect(binding).toEqual(['native.ts']);
});

test('only the folder of the bindings loads native code', () => {
  const files = readdirSync(join(folder, '../..'), { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && !name.startsWith(join('agent', 'win32')),
  );
  const users = files.filter(name =>
    /\bdlopen\(|\.func\(|node:ffi/.test(readFileSync(join(folder, '../..', name), 'utf8')),
  );
  expect(users).toEqual([]);
});
