import { expect, test } from 'vitest';
import { MemoryInformer } from '../../../test/kit/memory-informer.ts';
import { key } from '../../../test/kit/queue-bench.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import type { Informer } from '../informer/informer.ts';
import { matching } from './predicate.ts';
import type { KubeResource, Metadata } from '../resource.ts';
import { type WatchSource, type WatchSpec, watching } from './watches.ts';

const object = (name: string, metadata: Metadata = {}): KubeResource => ({ metadata: { name, ...metadata } });
const owned = (name: string, owner: string) => object(name, { labels: { owner } });
const byOwner = ({ metadata }: KubeResource) => [key(metadata.labels?.['owner'] ?? 'nobody')];

function bench(spec: Omit<WatchSpec<KubeResource>, 'source'> = {}) {
  const source = new MemoryInformer();
  const watch = watching({ source, ...spec });
  const { log, lines, messages } = recordedLog();
  const fed: string[] = [];
  const start = () => watch.start(({ name }, how) => fed.push(how === 'always' ? `${name}!` : name), log);
  return { source, watch, fed, start, log, lines, messages };
}

test('feeds the key of each object that is there, and of each that comes', () => {
  const { source, fed, start } = bench();
  source.put(object('a'));
  start();
  source.put(object('b'));
  expect(fed).toEqual(['a', 'b']);
});

test('feeds the key of what changes, once', () => {
  const { source, fed, start } = bench();
  start();
  source.put(object('a'));
  source.put(object('a', { labels: { x: '1' } }));
  expect(fed).toEqual(['a', 'a']);
});

test('the key of a deleted object is never refused', () => {
  const { source, fed, start } = bench();
  source.put(object('a'));
  start();
  source.remove(key('a'));
  expect(fed).toEqual(['a', 'a!']);
});

test('enqueues no key after the end', () => {
  const { source, fed, start } = bench();
  start()();
  source.put(object('a'));
  expect([fed, source.handlerCount]).toEqual([[], 0]);
});

test('enqueues a key once per change, however often the object and its old version map to it', () => {
  const { source, fed, start } = bench({ keys: () => [key('x'), key('x')] });
  start();
  source.put(object('a'));
  source.put(object('a', { labels: { x: '1' } }));
  source.remove(key('a'));
  expect(fed).toEqual(['x', 'x', 'x!']);
});

test('feeds the keys that a change concerns', () => {
  const { source, fed, start } = bench({
    keys: ({ metadata }) => [key(`${metadata.name}-1`), key(`${metadata.name}-2`)],
  });
  start();
  source.put(object('a'));
  expect(fed).toEqual(['a-1', 'a-2']);
});

test('an object that changes hands concerns the old owner too, whom no relist would find', () => {
  const { source, fed, start } = bench({ keys: byOwner });
  source.put(owned('a', 'x'));
  start();
  source.put(owned('a', 'y'));
  expect(fed).toEqual(['x', 'y', 'x!']);
});

test('an object without keys enqueues none', () => {
  const { source, fed, start } = bench({ keys: () => [] });
  start();
  source.put(object('a'));
  source.remove(key('a'));
  expect(fed).toEqual([]);
});

test('asks the predicate about each kind of change', () => {
  const asked: string[] = [];
  const ask = (what: string) => (one: KubeResource, other?: KubeResource) => {
    asked.push([what, one.metadata.generation, other?.metadata.generation].join(' ').trim());
    return false;
  };
  const predicate = {
    added: ask('added'),
    updated: ask('updated'),
    deleted: ask('deleted'),
    relisted: ask('relisted'),
  };
  const { source, watch, fed, start, log } = bench({ predicate });
  start();
  source.put(object('a', { generation: 1 }));
  source.put(object('a', { generation: 2 }));
  expect([...watch.relist(log)]).toEqual([]);
  source.remove(key('a'));
  expect(asked).toEqual(['added 1', 'updated 1 2', 'relisted 2', 'deleted 2']);
  expect(fed).toEqual([]);
});

const failing = () => {
  throw new TypeError('x is undefined');
};

test('does not drop a change when the predicate fails', () => {
  const predicate = { added: failing, updated: failing, deleted: failing, relisted: failing };
  const { source, watch, fed, start, log, messages } = bench({ predicate });
  start();
  source.put(object('a'));
  source.put(object('a', { generation: 2 }));
  expect([...watch.relist(log)]).toEqual([key('a')]);
  source.remove(key('a'));
  expect(fed).toEqual(['a', 'a', 'a!']);
  expect(messages('error')).toEqual(Array.from({ length: 4 }, () => 'Predicate failed; not dropping the change'));
});

test('logs an object that cannot be mapped and continues', () => {
  const keys = (each: KubeResource) => (each.metadata.name === 'bad' ? failing() : [key(each.metadata.name ?? '')]);
  const { source, watch, fed, start, log, lines } = bench({ keys });
  start();
  for (const name of ['bad', 'good']) source.put(object(name));
  expect(fed).toEqual(['good']);
  expect(lines).toMatchObject([{ level: 'error', fields: { object: 'bad', error: { message: 'x is undefined' } } }]);
  expect([...watch.relist(log)]).toEqual([key('good')]);
});

test('a mapping that fails enqueues no key of that object', () => {
  const keys = function* () {
    yield key('a');
    failing();
  };
  const { source, fed, start } = bench({ keys });
  start();
  source.put(object('a'));
  expect(fed).toEqual([]);
});

test('relists the keys of all selected objects', () => {
  const isWanted = matching<KubeResource>(({ metadata }) => metadata.name !== 'b');
  const { source, watch, log } = bench({ predicate: isWanted, keys: byOwner });
  source.put(owned('a', 'x'));
  source.put(owned('b', 'y'));
  source.put(owned('c', 'z'));
  expect([...watch.relist(log)]).toEqual([key('x'), key('z')]);
});

test('relist ignores predicates for single changes', () => {
  const { source, watch, log } = bench({ predicate: { added: () => false, updated: () => false } });
  source.put(object('a'));
  expect([...watch.relist(log)]).toEqual([key('a')]);
});

test('is in step when its source is', async () => {
  const { source, watch } = bench();
  let isSynced = false;
  void watch.synced.then(() => (isSynced = true));
  await Promise.resolve();
  expect(isSynced).toBe(false);
  source.sync();
  await watch.synced;
  expect(isSynced).toBe(true);
});

test('a shared informer is a source', () => {
  const isSource = (informer: Informer<KubeResource>): WatchSource<KubeResource> => informer;
  expect(typeof isSource).toBe('function');
});
