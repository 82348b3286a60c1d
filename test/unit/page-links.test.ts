import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, linksOf } from '../kit/page-links.ts';
import { repositoryRoot as root } from '../kit/run-wmco.ts';

const markdownIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => join(folder, name));

const topPages = readdirSync(root).filter(name => name.endsWith('.md'));
const docs = markdownIn('docs');
const pages = [...topPages, ...docs, ...['examples', 'deploy', 'bench', 'image', 'payload'].flatMap(markdownIn)];
const read = (page: string) => readFileSync(join(root, page), 'utf8');

const anchorCases: [markdown: string, want: string[]][] = [
  ['# One thing', ['one-thing']],
  ['## `wmco status`: the hosts & their Nodes', ['wmco-status-the-hosts--their-nodes']],
  ['## A\n## A', ['a', 'a-1']],
  ['```\n# not a title\n```\n### [Link](x.md) at_end', ['link-at_end']],
  ['<a id="own"></a>', ['own']],
];

for (const [markdown, want] of anchorCases) {
  test(`the anchors of ${JSON.stringify(markdown)} are known`, () => expect([...anchorsOf(markdown)]).toEqual(want));
}

test('links are found in text, tables and titles, but not in code', () => {
  const text =
    '[a](b.md#c) `[no](x.md)` ![p](d.svg)\n```\n[no](y.md)\n```\n| [e](../f) | [g](https://h.io) | [i]: j.md';
  expect(linksOf(text)).toEqual(['b.md#c', 'd.svg', '../f', 'https://h.io']);
});

/** A problem of a relative link, or nothing. */
function problemOf(page: string, link: string): string[] {
  const [path = '', anchor] = link.split('#', 2);
  const target = path === '' ? page : normalize(join(dirname(page), path));
  const full = join(root, target);
  if (relative(root, full).startsWith('..')) return [`${page}: ${link} leaves the repository`];
  if (!existsSync(full)) return [`${page}: ${link} does not exist`];
  if (anchor === undefined || statSync(full).isDirectory()) return [];
  return anchorsOf(read(target)).has(anchor) ? [] : [`${page}: ${link}: no such title`];
}

test.each(pages)('every relative link and anchor of %s resolves', page => {
  const links = linksOf(read(page)).filter(link => !/^[a-z]+:/.test(link));
  expect(links.flatMap(link => problemOf(page, link))).toEqual([]);
});

/** Pages that a reader finds by links, beginning with one. */
function reachableFrom(start: string): Set<string> {
  const found = new Set([start]);
  for (const page of found) {
    const links = linksOf(read(page)).map(link => normalize(join(dirname(page), link.replace(/#.*/, ''))));
    for (const link of links.filter(each => each.endsWith('.md') && existsSync(join(root, each)))) found.add(link);
  }
  return found;
}

test('every page of docs can be reached from README.md', () => {
  const reachable = reachableFrom('README.md');
  const isDecision = (page: string) => page.startsWith('docs/decisions/');
  expect(docs.filter(page => !reachable.has(page) && !isDecision(page))).toEqual([]);
});
