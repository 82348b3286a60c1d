import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { AppError } from '#base/errors.ts';
import { errorData, errorText, parseOutputForm, printOutput, table, unwritableError } from './output.ts';
import { printable, yamlText } from './safe-text.ts';
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
  test(`-o ${word} is an output format`, () => {
    expect(parseOutputForm(word)).toEqual(form);
  });
}

const output = {
  text: 'hello',
  data: { a: [1, 'x: y'] },
  files: { 'C:\\k\\kubelet.conf': 'k', 'C:\\k\\a\\b.txt': 'b' },
};

test('text ends with one line break', async () => {
  const { terminal, text } = caught();
  await printOutput('thing', output, { is: 'text' }, terminal);
  expect(text()).toBe('hello\n');
});

test('json and yaml hold the same data', async () => {
  const [json, yaml] = [caught(), caught()];
  await printOutput('thing', output, { is: 'json' }, json.terminal);
  await printOutput('thing', output, { is: 'yaml' }, yaml.terminal);
  expect(JSON.parse(json.text())).toEqual(output.data);
  expect(parse(yaml.text())).toEqual(output.data);
});

test('dir writes Windows paths below the folder, readable by the owner only, and prints them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-output-'));
  const { terminal, text } = caught();
  await printOutput('thing', output, { is: 'dir', path: folder }, terminal);
  expect(await readFile(join(folder, 'C', 'k', 'kubelet.conf'), 'utf8')).toBe('k');
  expect(await readFile(join(folder, 'C', 'k', 'a', 'b.txt'), 'utf8')).toBe('b');
  expect((await stat(join(folder, 'C', 'k', 'kubelet.conf'))).mode & 0o777).toBe(0o600);
  expect(text()).toContain(join(folder, 'C', 'k', 'a', 'b.txt'));
  await rm(folder, { recursive: true });
});

test('no path leaves the folder', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'wmco-output-'));
  const files = { '..\\..\\evil': 'x', '/etc/passwd': 'x', 'a\\..\\..\\b': 'x' };
  await printOutput(
    'thing',
    { text: '', data: null, files },
    { is: 'dir', path: join(parent, 'in') },
    caught().terminal,
  );
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
  expect(yamlText({ one: same, two: same })).toBe(`one:\n  a: ${same.a}\ntwo:\n  a: ${same.a}\n`);
});

test('an error is printed with code, message and remedy', () => {
  const error = new AppError('USAGE', 'it is so', { remedy: 'Do this.' });
  expect(errorText(error)).toBe('error: it is so\n  -> Do this.');
  expect(errorData(error)).toEqual({ code: 'USAGE', message: 'it is so', remedy: 'Do this.' });
});

test('dir writes the data as one file when there are no files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-output-'));
  await printOutput('thing', { text: 'hello', data: { a: 1 } }, { is: 'dir', path: folder }, caught().terminal);
  expect(await readFile(join(folder, 'thing.yaml'), 'utf8')).toBe('a: 1\n');
  await rm(folder, { recursive: true });
});

test('dir never writes through a link or into a file that others can read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-output-'));
  const [open, link, victim] = [join(folder, 'open'), join(folder, 'link'), join(folder, 'victim')];
  await writeFile(open, 'old');
  await chmod(open, 0o644);
  await writeFile(victim, 'old');
  await symlink(victim, link);
  await printOutput(
    'x',
    { text: '', data: null, files: { open: 'new', link: 'new' } },
    { is: 'dir', path: folder },
    caught().terminal,
  );
  expect((await stat(open)).mode & 0o777).toBe(0o600);
  expect([await readFile(open, 'utf8'), await readFile(link, 'utf8'), await readFile(victim, 'utf8')]).toEqual([
    'new',
    'new',
    'old',
  ]);
  await rm(folder, { recursive: true });
});

test('a path that cannot be written is an error with path, reason and remedy', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-output-'));
  await writeFile(join(folder, 'file'), '');
  await mkdir(join(folder, 'taken', 'a'), { recursive: true });
  const places: [path: string, reason: string][] = [
    [join(folder, 'file'), 'EEXIST, expected a folder, found a file'],
    [join(folder, 'file', 'below'), 'EEXIST, expected a folder, found a file'],
    [join(folder, 'taken'), 'ERR_FS_EISDIR, expected a file, found a folder'],
    ['/proc/nothing', 'ENOENT, no such file or folder'],
  ];
  for (const [path, reason] of places) {
    const writing = printOutput(
      'x',
      { text: '', data: null, files: { a: 'x' } },
      { is: 'dir', path },
      caught().terminal,
    );
    await expect(writing).rejects.toMatchObject({
      code: 'OUTPUT_UNWRITABLE',
      message: `${join(path, 'a')}: cannot be written (${reason})`,
    });
  }
  await rm(folder, { recursive: true });
});

test('a system error without a code is reported as unknown', () => {
  expect(unwritableError('x', new Error('no')).message).toBe('x: cannot be written (unknown error)');
  expect(unwritableError('x', Object.assign(new Error('no'), { code: 'EIO' })).message).toContain('(EIO)');
});

const controls: [string, string, string][] = [
  ['leaves lines, tabs and line ends of Windows', 'a\tb\nc\r\nd', 'a\tb\nc\r\nd'],
  ['shows what steers a terminal', 'a\u001b[2Jb\u0007\u009b1m\u007f', String.raw`a\u001b[2Jb\u0007\u009b1m\u007f`],
  ['shows a carriage return that would overwrite the line', 'bad\rgood', String.raw`bad\u000dgood`],
  ['leaves letters of all languages', 'Jürgen 日本 😀', 'Jürgen 日本 😀'],
];
for (const [name, text, want] of controls) test(`printable ${name}`, () => expect(printable(text)).toBe(want));

test('neither output nor errors pass control characters to the terminal', async () => {
  const { terminal, text } = caught();
  await printOutput('x', { text: 'a\u001b[2J', data: null }, { is: 'text' }, terminal);
  expect(text()).not.toContain('\u001b');
  expect(errorText(new AppError('USAGE', 'x\u001b[2J', { remedy: 'y\u001b[2J' }))).not.toContain('\u001b');
});
