import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusal } from '../../../../test/kit/sandbox.ts';
import type { Core } from '../core.ts';
import { configMap } from '../kinds/config.ts';
import { Kinds } from '../kinds.ts';
import { readListOptions } from '../list-options.ts';
import { Store } from '../store.ts';
import { listObjects, type Page } from './list.ts';
import { systemClock } from '#base/clock.ts';

function newCore(objects: readonly string[], historyLimit = 1000): Core {
  const store = new Store({ historyLimit });
  for (const path of objects) write(store, path);
  return { clock: systemClock, store, kinds: new Kinds(), identity: {} };
}

function write(store: Store, path: string, labels: Record<string, string> = {}): void {
  const [namespace = '', name = ''] = path.split('/');
  store.write('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels } });
}

const list = (core: Core, query = '', namespace = ''): Page =>
  listObjects(core, { kind: configMap, namespace }, readListOptions(new URLSearchParams(query), configMap));
const names = ({ items }: Page): string[] => items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

const many = ['b/2', 'a/1', 'a-b/1', 'a/2', 'b/1'];

test('lists all, in order, at the newest version', () => {
  const page = list(newCore(many));
  expect(names(page)).toEqual(['a-b/1', 'a/1', 'a/2', 'b/1', 'b/2']);
  expect(page).toMatchObject({ resourceVersion: '6', continue: '', remaining: undefined });
  expect(names(list(newCore(many), '', 'a'))).toEqual(['a/1', 'a/2']);
});

test('continues a list at the same revision despite later writes', () => {
  const core = newCore(many);
  const first = list(core, 'limit=2');
  expect(names(first)).toEqual(['a-b/1', 'a/1']);
  expect(first.remaining).toBe(3);
  write(core.store, 'a/1b');
  core.store.remove('configmaps', { namespace: 'b', name: '1' });
  const second = list(core, `limit=2&continue=${first.continue}`);
  expect(names(second)).toEqual(['a/2', 'b/1']);
  const third = list(core, `limit=2&continue=${second.continue}`);
  expect(names(third)).toEqual(['b/2']);
  expect([second.resourceVersion, third.resourceVersion]).toEqual(['6', '6']);
  expect(third.continue).toBe('');
});

test('continues to the end without a limit', () => {
  const core = newCore(many);
  const { continue: token } = list(core, 'limit=1');
  expect(names(list(core, `continue=${token}`))).toEqual(['a/1', 'a/2', 'b/1', 'b/2']);
});

test('writes tokens as the API server does', () => {
  const { continue: token } = list(newCore(many), 'limit=1', 'a');
  expect(JSON.parse(Buffer.from(token, 'base64url').toString())).toEqual({
    v: 'meta.k8s.io/v1',
    rv: 6,
    start: '1\u0000',
  });
  const all = list(newCore(many), 'limit=1').continue;
  expect(JSON.parse(Buffer.from(all, 'base64url').toString())).toMatchObject({ start: 'a-b/1\u0000' });
});

test('does not count what a selector would have to choose', () => {
  const core = newCore([]);
  for (const name of ['a', 'b', 'c']) write(core.store, `n/${name}`, { x: name });
  const page = list(core, 'limit=1&labelSelector=x');
  expect(page.remaining).toBeUndefined();
  expect(page.continue).not.toBe('');
  expect(names(list(core, `limit=5&labelSelector=x&continue=${page.continue}`))).toEqual(['n/b', 'n/c']);
});

test('rejects a continue token that is too old', () => {
  const core = newCore(many, 1);
  const { continue: token } = list(core, 'limit=2');
  for (const name of ['x', 'y', 'z']) write(core.store, `a/${name}`);
  expect(refusal(() => list(core, `limit=9&continue=${token}`))?.[0]).toBe(410);
});

const versions: [string, string[]][] = [
  ['resourceVersion=0', ['n/a', 'n/b']],
  ['resourceVersion=2', ['n/a', 'n/b']],
  ['resourceVersion=2&resourceVersionMatch=NotOlderThan', ['n/a', 'n/b']],
  ['resourceVersion=2&resourceVersionMatch=Exact', ['n/a']],
  ['resourceVersion=2&limit=5', ['n/a']],
  ['resourceVersion=0&limit=5', ['n/a', 'n/b']],
  ['resourceVersion=2&limit=5&resourceVersionMatch=NotOlderThan', ['n/a', 'n/b']],
];
test.each(versions)('lists by %s', (query, wanted) =>
  expect(names(list(newCore(['n/a', 'n/b']), query))).toEqual(wanted),
);

test('reports the listed revision', () => {
  const core = newCore(['n/a', 'n/b']);
  expect(list(core, 'resourceVersion=2&resourceVersionMatch=Exact').resourceVersion).toBe('2');
  expect(list(core, 'resourceVersion=2').resourceVersion).toBe('3');
});

const refused: [string, number, RegExp][] = [
  ['resourceVersion=99', 504, /^Timeout: Too large resource version: 99, current: 3$/],
  ['continue=abc', 400, /^invalid continue token/],
  ['continue=%%%', 400, /^invalid continue token/],
  [`continue=${Buffer.from('{"v":"x","rv":1,"start":"a"}').toString('base64url')}`, 400, /^invalid continue token/],
  [`continue=${Buffer.from('[1]').toString('base64url')}`, 400, /^invalid continue token/],
  [`continue=${Buffer.from('null').toString('base64url')}`, 400, /^invalid continue token/],
  ['continue=abc&resourceVersion=2', 400, /^specifying resource version is not allowed when using continue$/],
];
test.each(refused)('rejects %s', (query, code, message) => {
  expect(refusal(() => list(newCore(['n/a', 'n/b']), query))).toEqual([code, expect.stringMatching(message)]);
});

test('rejects an exact version it has forgotten, without an offer', () => {
  const core = newCore(many, 1);
  for (const name of ['x', 'y', 'z']) write(core.store, `a/${name}`);
  expect(refusal(() => list(core, 'resourceVersion=2&resourceVersionMatch=Exact'))).toEqual([
    410,
    'The resourceVersion for the provided list is too old.',
  ]);
});

test('shows in pages of any size what it shows at once', () => {
  const name = fc.stringMatching(/^[a-c]{1,2}\/[a-d1-3]{1,3}$/);
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 25 }), fc.integer({ min: 1, max: 7 }), (paths, limit) => {
      const core = newCore(paths);
      const whole = names(list(core));
      const pages: string[] = [];
      let token = '';
      do {
        const page = list(core, `limit=${limit}&continue=${token}`);
        expect(page.items.length).toBeLessThanOrEqual(limit);
        pages.push(...names(page));
        token = page.continue;
      } while (token !== '');
      expect(pages).toEqual(whole);
    }),
    { numRuns: 300 },
  );
});
