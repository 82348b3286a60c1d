import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readInput } from './input.ts';
import type { Terminal } from './terminal.ts';

const terminal = (stdin: string): Terminal => ({
  out: () => {},
  err: () => {},
  stdin: () => Promise.resolve(stdin),
  version: () => '',
  runtime: '',
});
const read = (stdin: string) => readInput(['-'], terminal(stdin));
const pod = (name: string) => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n`;
const names = async (stdin: string) => (await read(stdin)).objects.map(object => object.meta.name);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wmco-input-'));
  await mkdir(join(folder, 'deep'));
  await writeFile(join(folder, 'b.yaml'), pod('b'));
  await writeFile(join(folder, 'a.json'), JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }));
  await writeFile(join(folder, 'deep', 'c.yml'), pod('c'));
  await writeFile(join(folder, 'notes.txt'), 'not an object');
});
afterAll(() => rm(folder, { recursive: true }));

const documents: [string, string, string[]][] = [
  ['one document', pod('a'), ['a']],
  ['several documents', `${pod('a')}---\n${pod('b')}`, ['a', 'b']],
  ['empty documents between others', `---\n---\n${pod('a')}---\n# only a comment\n`, ['a']],
  [
    'a list',
    `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: x}}\n- {apiVersion: v1, kind: Pod, metadata: {name: y}}\n`,
    ['x', 'y'],
  ],
  [
    'a typed list',
    '{"apiVersion":"v1","kind":"PodList","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}]}',
    ['x'],
  ],
  ['an empty list', '{"apiVersion":"v1","kind":"List","items":[]}', []],
  ['nothing', '', []],
];
for (const [name, text, wanted] of documents) {
  test(`reads ${name}`, async () => {
    expect(await names(text)).toEqual(wanted);
    expect((await read(text)).problems).toEqual([]);
  });
}

const bad: [string, string, RegExp][] = [
  ['broken YAML', 'a: [1, 2\n', /standard input, document 1: not valid YAML or JSON: \w+ at line 2, column 1/],
  ['a key given twice', 'a: 1\na: 2\n', /DUPLICATE_KEY/],
  ['a plain text', 'hello\n', /a string of 5 characters is not a Kubernetes object/],
  ['an object without kind', 'apiVersion: v1\nmetadata: {name: x}\n', /kind is missing; expected a string/],
  [
    'a label that is no text',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: {a: true}}\n',
    /metadata\.labels\.a is true, not a string/,
  ],
  ['metadata that is a list', 'apiVersion: v1\nkind: Pod\nmetadata: []\n', /metadata/],
];
for (const [name, text, message] of bad) {
  test(`reports ${name} with its place and continues`, async () => {
    const input = await read(`${text}---\n${pod('good')}`);
    expect(input.problems.map(problem => problem.message).join('\n')).toMatch(message);
    expect(input.problems[0]?.message).toContain('standard input, document 1');
    expect(input.problems[0]?.remedy).not.toBe('');
    expect(input.objects.map(object => object.meta.name)).toEqual(['good']);
  });
}

test('an invalid list item does not hide the others', async () => {
  const input = await read('{"kind":"List","items":[5,{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}]}');
  expect(input.objects.map(object => object.meta.name)).toEqual(['x']);
  expect(input.problems[0]?.message).toContain('document 1, item 1');
});

test('reads a folder recursively in the order of names', async () => {
  const input = await readInput([folder], terminal(''));
  expect(input.objects.map(object => object.meta.name)).toEqual(['a', 'b', 'c']);
});

test('reads several names in the order given', async () => {
  const input = await readInput([join(folder, 'b.yaml'), '-', join(folder, 'a.json')], terminal(pod('in')));
  expect(input.objects.map(object => object.meta.name)).toEqual(['b', 'in', 'a']);
});

test('reports a missing file and reads the others', async () => {
  const input = await readInput([join(folder, 'missing.yaml'), join(folder, 'b.yaml')], terminal(''));
  expect(input.problems).toHaveLength(1);
  expect(input.problems[0]).toMatchObject({ code: 'INPUT_UNREADABLE' });
  expect(input.problems[0]?.message).toContain('missing.yaml: cannot be read (ENOENT, no such file or folder)');
  expect(input.objects).toHaveLength(1);
});

test('does not print the content of a broken document, which may be a key', async () => {
  const secret = 'c2VzYW1lLW9wZW4=';
  for (const text of [
    `data: {token: ${secret}\n`,
    `data: "${secret}\nx: [`,
    `token: ${secret}: x: ]`,
    `? [${secret}\n: *${secret}`,
  ]) {
    const input = await read(text);
    expect(JSON.stringify(input.problems.map(({ message, remedy }) => [message, remedy]))).not.toContain(secret);
  }
});

test('rejects aliases that expand too far', async () => {
  const levels = Array.from(
    { length: 12 },
    (_, level) =>
      `l${level}: &l${level} [${Array(10)
        .fill(level === 0 ? 'x' : `*l${level - 1}`)
        .join(',')}]`,
  );
  const input = await read(`${levels.join('\n')}\n`);
  expect(input.objects).toEqual([]);
  expect(input.problems[0]?.message).toContain('aliases');
});

test('rejects maps with collections as keys before resolving them', async () => {
  const input = await read(`${'? '.repeat(1000)}a\n---\n${pod('good')}`);
  expect(input.problems).toHaveLength(1);
  expect(input.objects.map(object => object.meta.name)).toEqual(['good']);
});

test('any text becomes objects or problems, never a crash', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({
        maxLength: 200,
        unit: fc.constantFrom(...'a b : - { } [ ] & * ? | > " \n # ! % @ ,'.split(' '), ' '),
      }),
      async text => {
        const input = await read(text);
        expect(input.objects).toBeInstanceOf(Array);
      },
    ),
    { numRuns: 2000 },
  );
});

test('messages about an object name its file', async () => {
  const path = join(folder, 'b.yaml');
  const input = await readInput([path, '-'], terminal(pod('in')));
  expect(input.objects.map(object => object.label)).toEqual([`Pod b (${path})`, 'Pod in (standard input)']);
  expect(() => input.objects[0]?.fields.requiredString('spec')).toThrow(`Pod b (${path}): spec is missing`);
});

test('reads a folder with a file extension, and reports a broken link', async () => {
  const place = await mkdtemp(join(tmpdir(), 'wmco-input-'));
  await mkdir(join(place, 'x.yaml'));
  await writeFile(join(place, 'x.yaml', 'y.yaml'), pod('y'));
  await symlink('nowhere', join(place, 'z.yaml'));
  const input = await readInput([place], terminal(''));
  expect(input.objects.map(object => object.meta.name)).toEqual(['y']);
  expect(input.problems.map(problem => problem.message)).toEqual([
    `${join(place, 'z.yaml')}: cannot be read (ENOENT, no such file or folder)`,
  ]);
  await rm(place, { recursive: true });
});

test('rejects a file that is too large before reading it', async () => {
  const path = join(folder, 'large.txt');
  await writeFile(path, '');
  await truncate(path, 256 * 2 ** 20 + 1);
  const input = await readInput([path], terminal(''));
  expect(input.problems[0]?.message).toBe(`${path}: has more than 256 MiB`);
  expect(input.problems[0]?.remedy).toContain('--help');
});

test('reports that a folder has too many files', async () => {
  const input = await readInput([folder], terminal(''), 2);
  expect(input.objects.map(object => object.meta.name)).toEqual(['a', 'b']);
  expect(input.problems.map(problem => problem.message)).toEqual([
    `${folder}: has more than 2 files; the others were not read`,
  ]);
});

test('reports an error of standard input and continues', async () => {
  const broken: Terminal = { ...terminal(''), stdin: () => Promise.reject(new Error('gone')) };
  const input = await readInput(['-', join(folder, 'b.yaml')], broken);
  expect(input.problems[0]?.message).toBe('standard input: cannot be read (unknown error)');
  expect(input.objects).toHaveLength(1);
});

test('rejects nesting that is too deep', async () => {
  for (const text of ['['.repeat(20_000), `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`]) {
    const input = await read(text);
    expect(input.objects).toEqual([]);
    expect(input.problems[0]).toMatchObject({ code: 'INPUT_MALFORMED' });
  }
});

const encodings: [string, (text: string) => Uint8Array][] = [
  ['UTF-8 with a byte order mark', text => Buffer.from(`\ufeff${text}`)],
  ['UTF-16 as PowerShell writes it', text => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16 of the other byte order', text => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
];
for (const [name, encode] of encodings) {
  test(`reads a file in ${name}`, async () => {
    const path = join(folder, 'encoded.txt');
    await writeFile(path, encode(pod('jürgen')));
    const { objects, problems } = await readInput([path], terminal(''));
    expect([objects.map(object => object.meta.name), problems]).toEqual([['jürgen'], []]);
  });
}

test('resolves anchors, aliases and merge keys, as kubectl does', async () => {
  const input = await read(
    'apiVersion: v1\nkind: Pod\nmetadata:\n  labels: &base {a: x, b: y}\n  name: &name n\n  annotations: {<<: *base, b: *name}\n',
  );
  expect(input.objects.map(({ meta }) => [meta.name, meta.labels, meta.annotations])).toEqual([
    ['n', { a: 'x', b: 'y' }, { a: 'x', b: 'n' }],
  ]);
});
