import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { AppError } from '#base/errors.ts';
import { asYaml, errorData, errorText, parseOutputForm, show, table } from './output.ts';
import type { Terminal } from './terminal.ts';

function caught(): { terminal: Terminal; text: () => string } {
  let out = '';
  const terminal = {
    out: (text: string) => void (out += text),
    err: () => {},
    stdin: () => Promise.resolve(''),
    version: () => '',
    runtime: '',
  };
  return { terminal, text: () => out };
}

const forms: [string, object][] = [
  ['text', { is: 'text' }],
  ['json', { is: 'json' }],
  ['yaml', { is: 'yaml' }],
  ['dir=out', { is: 'dir', path: 'out' }],
  ['dir=a=b', { is: 'dir', path: 'a=b' }],
];
for (const [word, form] of forms) {
  test(`-o ${word} is an output form`, () => {
    expect(parseOutputForm(word)).toEqual(form);
  });
}

for (const word of ['', 'xml', 'dir', 'dir=', 'JSON']) {
  test(`-o "${word}" is wrong use`, () => {
    expect(() => parseOutputForm(word)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
}

const shown = {
  text: 'hello',
  data: { a: [1, 'x: y'] },
  files: { 'C:\\k\\kubelet.conf': 'k', 'C:\\k\\a\\b.txt': 'b' },
};

test('text ends with one line end', async () => {
  const { terminal, text } = caught();
  await show(shown, { is: 'text' }, terminal);
  expect(text()).toBe('hello\n');
});

test('json and yaml hold the same data', async () => {
  const [json, yaml] = [caught(), caught()];
  await show(shown, { is: 'json' }, json.terminal);
  await show(shown, { is: 'yaml' }, yaml.terminal);
  expect(JSON.parse(json.text())).toEqual(shown.data);
  expect(parse(yaml.text())).toEqual(shown.data);
});

test('dir writes Windows paths below the folder, readable by the owner only, and says where', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-output-'));
  const { terminal, text } = caught();
  await show(shown, { is: 'dir', path: folder }, terminal);
  expect(await readFile(join(folder, 'C', 'k', 'kubelet.conf'), 'utf8')).toBe('k');
  expect(await readFile(join(folder, 'C', 'k', 'a', 'b.txt'), 'utf8')).toBe('b');
  expect((await stat(join(folder, 'C', 'k', 'kubelet.conf'))).mode & 0o777).toBe(0o600);
  expect(text()).toContain(join(folder, 'C', 'k', 'a', 'b.txt'));
  await rm(folder, { recursive: true });
});

test('no path climbs out of the folder', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'wmco-output-'));
  const files = { '..\\..\\evil': 'x', '/etc/passwd': 'x', 'a\\..\\..\\b': 'x' };
  await show({ text: '', data: null, files }, { is: 'dir', path: join(parent, 'in') }, caught().terminal);
  expect(await readdir(parent)).toEqual(['in']);
  expect((await readdir(join(parent, 'in'))).sort()).toEqual(['a', 'etc', 'evil']);
  await rm(parent, { recursive: true });
});

test('a table pads all columns but the last', () => {
  expect(table([['a', 'bb', 'c'], ['aaa', 'b', 'cccc'], ['x']])).toBe('a    bb  c\naaa  b   cccc\nx');
  expect(table([])).toBe('');
});

test('yaml never folds long lines and never uses aliases', () => {
  const same = { a: 'word '.repeat(60).trim() };
  expect(asYaml({ one: same, two: same })).toBe(`one:\n  a: ${same.a}\ntwo:\n  a: ${same.a}\n`);
});

test('an error reads: code, what, and what to do now', () => {
  const error = new AppError('USAGE', 'it is so', { remedy: 'Do this.' });
  expect(errorText(error)).toBe('USAGE: it is so\n  -> Do this.');
  expect(errorData(error)).toEqual({ code: 'USAGE', message: 'it is so', remedy: 'Do this.' });
});
