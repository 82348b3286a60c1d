import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  ['broken YAML', 'a: [1, 2\n', /standard input, document 1: not valid YAML or JSON/],
  ['a key given twice', 'a: 1\na: 2\n', /DUPLICATE_KEY/],
  ['a plain text', 'hello\n', /a text of 5 characters is not a Kubernetes object/],
  ['an object without kind', 'apiVersion: v1\nmetadata: {name: x}\n', /kind is nothing, not a text/],
  [
    'a label that is no text',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: {a: true}}\n',
    /metadata\.labels\.a is true, not a text/,
  ],
  ['metadata that is a list', 'apiVersion: v1\nkind: Pod\nmetadata: []\n', /metadata/],
];
for (const [name, text, message] of bad) {
  test(`reports ${name} with its place, and goes on`, async () => {
    const input = await read(`${text}---\n${pod('good')}`);
    expect(input.problems.map(problem => problem.message).join('\n')).toMatch(message);
    expect(input.problems[0]?.message).toContain('standard input, document 1');
    expect(input.problems[0]?.remedy).not.toBe('');
    expect(input.objects.map(object => object.meta.name)).toEqual(['good']);
  });
}

test('a bad item of a list does not hide the others', async () => {
  const input = await read('{"kind":"List","items":[5,{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}]}');
  expect(input.objects.map(object => object.meta.name)).toEqual(['x']);
  expect(input.problems[0]?.message).toContain('document 1, item 1');
});

test('reads a folder with everything below it, in the order of names', async () => {
  const input = await readInput([folder], terminal(''));
  expect(input.objects.map(object => object.meta.name)).toEqual(['a', 'b', 'c']);
});

test('reads several names in the order given', async () => {
  const input = await readInput([join(folder, 'b.yaml'), '-', join(folder, 'a.json')], terminal(pod('in')));
  expect(input.objects.map(object => object.meta.name)).toEqual(['b', 'in', 'a']);
});

test('a file that is not there is a problem, not the end', async () => {
  const input = await readInput([join(folder, 'missing.yaml'), join(folder, 'b.yaml')], terminal(''));
  expect(input.problems).toHaveLength(1);
  expect(input.problems[0]).toMatchObject({ code: 'INPUT_UNREADABLE' });
  expect(input.problems[0]?.message).toContain('missing.yaml: cannot be read (ENOENT)');
  expect(input.objects).toHaveLength(1);
});

test('a broken document never shows its content, which may be a key', async () => {
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

test('aliases that grow beyond measure are refused', async () => {
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

test('keys that are collections, which no object has, are refused before they cost time', async () => {
  const input = await read(`${'? '.repeat(1000)}a\n---\n${pod('good')}`);
  expect(input.problems).toHaveLength(1);
  expect(input.objects.map(object => object.meta.name)).toEqual(['good']);
});

test('any text gives objects or problems, never a crash', async () => {
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
