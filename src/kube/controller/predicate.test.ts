import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allOf, anyOf, changed, matching, type Predicate } from './predicate.ts';
import type { KubeResource, Metadata } from '../resource.ts';

const object = (metadata: Metadata = {}): KubeResource => ({ metadata: { name: 'a', namespace: 'x', ...metadata } });

/** What a predicate says to each kind of change; nothing said is true. */
function said(predicate: Predicate<KubeResource>, old: KubeResource, current: KubeResource): string {
  const answers = {
    added: predicate.added?.(current) ?? true,
    updated: predicate.updated?.(old, current) ?? true,
    deleted: predicate.deleted?.(current) ?? true,
    relisted: predicate.relisted?.(current) ?? true,
  };
  return Object.entries(answers)
    .filter(([, answer]) => answer)
    .map(([name]) => name)
    .join(' ');
}

const all = 'added updated deleted relisted';
const butUpdated = 'added deleted relisted';

const filters: [string, Predicate<KubeResource>, Metadata, string][] = [
  ['nothing at all', {}, {}, all],
  ['a condition that holds', matching(each => each.metadata.name === 'a'), {}, all],
  ['a condition that does not hold', matching(each => each.metadata.name === 'b'), {}, ''],
];
for (const [name, predicate, metadata, want] of filters) {
  test(`${name} lets through: ${want === '' ? 'nothing' : want}`, () => {
    expect(said(predicate, object(metadata), object(metadata))).toBe(want);
  });
}

test('a filter judges an update by the new object', () => {
  const isLabelled = matching<KubeResource>(({ metadata }) => metadata.labels?.['os'] === 'windows');
  const [plain, labelled] = [object(), object({ labels: { os: 'windows' } })];
  expect([isLabelled.updated(plain, labelled), isLabelled.updated(labelled, plain)]).toEqual([true, false]);
});

const labelsOf = changed<KubeResource>(({ metadata }) => metadata.labels);
const changes: [string, Predicate<KubeResource>, Metadata, Metadata, string][] = [
  ['a new label', labelsOf, {}, { labels: { a: '1' } }, all],
  ['another value of a label', labelsOf, { labels: { a: '1' } }, { labels: { a: '2' } }, all],
  ['the same labels', labelsOf, { labels: { a: '1' } }, { labels: { a: '1' } }, butUpdated],
  ['no labels before and after', labelsOf, {}, {}, butUpdated],
  ['something else', labelsOf, { annotations: { a: '1' } }, { annotations: { a: '2' } }, butUpdated],
];
for (const [name, predicate, old, current, want] of changes) {
  test(`${name} lets through: ${want}`, () => expect(said(predicate, object(old), object(current))).toBe(want));
}

const onlyAdded: Predicate<KubeResource> = { updated: () => false, deleted: () => false };
const onlyDeleted: Predicate<KubeResource> = { added: () => false, updated: () => false };
const nothing = matching<KubeResource>(() => false);
const combined: [string, Predicate<KubeResource>, string][] = [
  ['all of nothing', allOf(), all],
  ['any of nothing', anyOf(), ''],
  ['all of one', allOf(onlyAdded), 'added relisted'],
  ['any of one', anyOf(onlyAdded), 'added relisted'],
  ['all of two', allOf(onlyAdded, onlyDeleted), 'relisted'],
  ['any of two', anyOf(onlyAdded, onlyDeleted), butUpdated],
  ['all, one of which wants nothing', allOf(onlyAdded, nothing), ''],
  ['any, one of which wants nothing', anyOf(onlyAdded, nothing), 'added relisted'],
  ['any, one of which wants everything', anyOf(onlyAdded, {}), all],
];
for (const [name, predicate, want] of combined) {
  test(`${name} lets through: ${want === '' ? 'nothing' : want}`, () => {
    expect(said(predicate, object(), object())).toBe(want);
  });
}

test('a filter and a change together are what a controller of outdated nodes needs', () => {
  const mark = (object: KubeResource) => object.metadata.annotations?.['version'];
  const outdated: Predicate<KubeResource> = allOf(
    matching(({ metadata }) => metadata.labels?.['os'] === 'windows'),
    { added: each => mark(each) !== 'v2', updated: (old, each) => mark(each) !== 'v2' || mark(old) !== mark(each) },
  );
  const node = (os: string, version: string) => object({ labels: { os }, annotations: { version } });
  expect(said(outdated, node('windows', 'v1'), node('windows', 'v1'))).toBe(all);
  expect(said(outdated, node('windows', 'v1'), node('windows', 'v2'))).toBe('updated deleted relisted');
  expect(said(outdated, node('windows', 'v2'), node('windows', 'v2'))).toBe('deleted relisted');
  expect(said(outdated, node('linux', 'v1'), node('linux', 'v1'))).toBe('');
});

test('allOf selects at most, anyOf at least, what each predicate selects', () => {
  const answers = fc.record({ added: fc.boolean(), updated: fc.boolean(), deleted: fc.boolean() });
  fc.assert(
    fc.property(fc.array(answers, { minLength: 1, maxLength: 4 }), list => {
      const predicates = list.map(each => ({
        added: () => each.added,
        updated: () => each.updated,
        deleted: () => each.deleted,
      }));
      const [every, some] = [allOf(...predicates), anyOf(...predicates)];
      expect(every.added(object())).toBe(list.every(each => each.added));
      expect(every.updated(object(), object())).toBe(list.every(each => each.updated));
      expect(some.deleted(object())).toBe(list.some(each => each.deleted));
    }),
  );
});
