import { expect, test } from 'vitest';
import { things } from '../../../test/kit/scripted-api.ts';
import type { ListOptions } from '../client.ts';
import { listPages } from './reflector-list.ts';
import type { KubeList, KubeResource } from '../resource.ts';

type Page = KubeList<KubeResource>;

const page = (names: string[], metadata: Page['metadata'] = {}): Page => ({
  metadata: { resourceVersion: '5', ...metadata },
  items: names.map(name => ({ metadata: { name } })),
});

async function list(pages: Page[], options: ListOptions = {}) {
  const asked: ListOptions[] = [];
  const next = (_: unknown, given: ListOptions = {}) => {
    asked.push(given);
    return Promise.resolve(pages[asked.length - 1] ?? pages.at(-1));
  };
  const listed = await listPages({ list: next as never }, things as never, options);
  return { asked, listed, names: listed.objects.map(object => object.metadata.name) };
}

test('puts all pages together', async () => {
  const { names, listed } = await list([
    page(['a', 'b'], { continue: 'x' }),
    page(['c'], { continue: 'y' }),
    page(['d']),
  ]);
  expect(names).toEqual(['a', 'b', 'c', 'd']);
  expect(listed).toMatchObject({ resourceVersion: '5', ignored: 0 });
});

test('asks for later pages by token alone, with the same selectors and the same limit', async () => {
  const options: ListOptions = {
    namespace: 'ns',
    labelSelector: 'a=b',
    limit: 2,
    resourceVersion: '0',
    resourceVersionMatch: 'NotOlderThan',
  };
  const { asked } = await list([page(['a'], { continue: 'x' }), page(['b'])], options);
  expect(asked).toEqual([options, { namespace: 'ns', labelSelector: 'a=b', limit: 2, continue: 'x' }]);
});

test('goes on from the moment of the first page', async () => {
  const { listed } = await list([page(['a'], { continue: 'x' }), page(['b'], { resourceVersion: '9' })]);
  expect(listed.resourceVersion).toBe('5');
});

test('takes an empty continue token as the end', async () => {
  expect((await list([page(['a'], { continue: '' })])).asked).toHaveLength(1);
});

test('reads a list without items as empty', async () => {
  const { listed } = await list([{ metadata: { resourceVersion: '1' } } as Page]);
  expect(listed.objects).toEqual([]);
});

test('leaves out what has no name and counts it', async () => {
  const { listed, names } = await list([page(['a', '', 'b', ''])]);
  expect(names).toEqual(['a', 'b']);
  expect(listed.ignored).toBe(2);
});

test('freezes each object', async () => {
  const { listed } = await list([page(['a'])]);
  expect(Object.isFrozen(listed.objects[0]?.metadata)).toBe(true);
});

test('rejects a list that does not say which moment it shows', async () => {
  await expect(list([page(['a'], { resourceVersion: '' })])).rejects.toThrow(
    'the list of things has no resourceVersion',
  );
});

test('ends a list that never ends', async () => {
  await expect(list([page([], { continue: 'again' })])).rejects.toThrow('the list of things does not end');
});
