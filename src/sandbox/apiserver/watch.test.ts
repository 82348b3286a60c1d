import { expect, test } from 'vitest';
import { type ManualClock, manualClock, settle } from '../../../test/kit/manual-clock.ts';
import type { Core } from './core.ts';
import { Kinds } from './kinds.ts';
import { configMap } from './kinds/config.ts';
import { readListOptions } from './list-options.ts';
import type { StoredObject } from './ports.ts';
import { Store } from './store.ts';
import { startWatch, type WatchMessage } from './watch.ts';

interface Watching {
  core: Core;
  clock: ManualClock;
  messages: WatchMessage[];
  ended: () => boolean;
  stop: () => void;
}

function newCore(historyLimit = 100): { core: Core; clock: ManualClock } {
  const clock = manualClock();
  const store = new Store({ historyLimit });
  const kinds = new Kinds();
  return { clock, core: { clock, store, kinds, identity: {} } };
}

function watch(query: string, { core, clock } = newCore(), namespace = ''): Watching {
  const messages: WatchMessage[] = [];
  let ended = false;
  const options = readListOptions(new URLSearchParams(`watch=true&${query}`), configMap);
  const stop = startWatch(core, { kind: configMap, namespace }, options, {
    send: message => messages.push(message),
    end: () => {
      ended = true;
    },
  });
  return { core, clock, messages, ended: () => ended, stop };
}

const object = (name: string, labels: Record<string, string> = {}, namespace = 'n'): StoredObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels },
});
const seen = ({ messages }: Watching): string[] =>
  messages.map(({ type, object: { metadata } }) => {
    const { name = '', resourceVersion = '' } = metadata as { name?: string; resourceVersion?: string };
    return `${type} ${name}@${resourceVersion}`;
  });

test('sends what there is and then what happens', () => {
  const server = newCore();
  server.core.store.write('configmaps', object('b'));
  server.core.store.write('configmaps', object('a'));
  const watching = watch('', server);
  server.core.store.write('configmaps', object('a', { x: '1' }));
  server.core.store.write('configmaps', object('c'));
  server.core.store.remove('configmaps', { namespace: 'n', name: 'b' });
  expect(seen(watching)).toEqual(['ADDED a@3', 'ADDED b@2', 'MODIFIED a@4', 'ADDED c@5', 'DELETED b@6']);
  watching.stop();
});

test('sends the same for version 0', () => {
  const server = newCore();
  server.core.store.write('configmaps', object('a'));
  const watching = watch('resourceVersion=0', server);
  expect(seen(watching)).toEqual(['ADDED a@2']);
  watching.stop();
});

test('continues after a resourceVersion', () => {
  const server = newCore();
  for (const name of ['a', 'b', 'c']) server.core.store.write('configmaps', object(name));
  const watching = watch('resourceVersion=3', server);
  server.core.store.write('configmaps', object('d'));
  expect(seen(watching)).toEqual(['ADDED c@4', 'ADDED d@5']);
  watching.stop();
});

test('reports an expired resourceVersion', () => {
  const server = newCore(2);
  for (let count = 0; count < 9; count += 1) server.core.store.write('configmaps', object('a', { n: String(count) }));
  const watching = watch('resourceVersion=2', server);
  expect(watching.messages).toEqual([
    {
      type: 'ERROR',
      object: expect.objectContaining({
        kind: 'Status',
        code: 410,
        reason: 'Expired',
        message: expect.stringMatching(/^too old resource version: 2 \(\d+\)$/),
      }),
    },
  ]);
  expect(watching.ended()).toBe(true);
  expect(server.clock.sleepers()).toBe(0);
});

test('sends nothing until the server has reached the resourceVersion', () => {
  const watching = watch('resourceVersion=3');
  for (const name of ['a', 'b', 'c', 'd']) watching.core.store.write('configmaps', object(name));
  expect(seen(watching)).toEqual(['ADDED c@4', 'ADDED d@5']);
  watching.stop();
});

test('looks at one namespace', () => {
  const server = newCore();
  server.core.store.write('configmaps', object('a', {}, 'n'));
  server.core.store.write('configmaps', object('a', {}, 'm'));
  const watching = watch('', server, 'm');
  server.core.store.write('configmaps', object('b', {}, 'n'));
  server.core.store.write('configmaps', object('b', {}, 'm'));
  expect(seen(watching)).toEqual(['ADDED a@3', 'ADDED b@5']);
  watching.stop();
});

test('adds and deletes objects as they start and stop matching', () => {
  const server = newCore();
  server.core.store.write('configmaps', object('a', { x: '1' }));
  const watching = watch('labelSelector=x%3D2', server);
  for (const x of ['1', '2', '2', '3', '2']) server.core.store.write('configmaps', object('a', { x }));
  server.core.store.remove('configmaps', { namespace: 'n', name: 'a' });
  expect(seen(watching)).toEqual(['ADDED a@4', 'MODIFIED a@5', 'DELETED a@6', 'ADDED a@7', 'DELETED a@8']);
  expect(watching.messages.every(({ object: last }) => (last as StoredObject).metadata.labels?.['x'] === '2')).toBe(
    true,
  );
  watching.stop();
});

test('does not mind other kinds', () => {
  const watching = watch('');
  watching.core.store.write('secrets', object('a'));
  expect(watching.messages).toEqual([]);
  watching.stop();
});

test('ends when its time is up', async () => {
  const watching = watch('timeoutSeconds=5');
  await watching.clock.advance(4999);
  expect(watching.ended()).toBe(false);
  await watching.clock.advance(1);
  expect(watching.ended()).toBe(true);
  watching.core.store.write('configmaps', object('late'));
  expect(watching.messages).toEqual([]);
  expect(watching.clock.sleepers()).toBe(0);
});

test('ends after half an hour by default', async () => {
  const watching = watch('');
  await watching.clock.advance(1_799_999);
  expect(watching.ended()).toBe(false);
  await watching.clock.advance(1);
  expect(watching.ended()).toBe(true);
});

test('ends at once when it has no time at all', async () => {
  const watching = watch('timeoutSeconds=0');
  await watching.clock.advance(0);
  expect(watching.ended()).toBe(true);
});

test('sends bookmarks every minute and shortly before the end', async () => {
  const watching = watch('allowWatchBookmarks=true&timeoutSeconds=150&resourceVersion=1');
  watching.core.store.write('secrets', object('other'));
  await watching.clock.advance(60_000);
  expect(watching.messages).toEqual([
    { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '2' } } },
  ]);
  watching.core.store.write('configmaps', object('a'));
  await watching.clock.advance(90_000);
  expect(seen(watching)).toEqual(['BOOKMARK @2', 'ADDED a@3', 'BOOKMARK @3', 'BOOKMARK @3']);
  expect(watching.ended()).toBe(true);
});

test('sends no bookmarks unless requested, or for short watches', async () => {
  const [quiet, short] = [watch('timeoutSeconds=150'), watch('allowWatchBookmarks=true&timeoutSeconds=2')];
  await quiet.clock.advance(150_000);
  await short.clock.advance(2000);
  expect([quiet.messages, short.messages]).toEqual([[], []]);
});

test('marks the end of what there was for those who want it so', () => {
  const server = newCore();
  server.core.store.write('configmaps', object('a'));
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const watching = watch(`${query}&allowWatchBookmarks=true&resourceVersion=1`, server);
  server.core.store.write('configmaps', object('b'));
  expect(seen(watching)).toEqual(['ADDED a@2', 'BOOKMARK @2', 'ADDED b@3']);
  expect(watching.messages[1]?.object.metadata).toEqual({
    resourceVersion: '2',
    annotations: { 'k8s.io/initial-events-end': 'true' },
  });
  watching.stop();
  const without = watch(query, server);
  expect(seen(without)).toEqual(['ADDED a@2', 'ADDED b@3']);
  without.stop();
});

test('leaves no listener when it is stopped', async () => {
  const watching = watch('allowWatchBookmarks=true');
  await settle();
  expect(watching.clock.sleepers()).toBe(2);
  watching.stop();
  await settle();
  expect(watching.clock.sleepers()).toBe(0);
  watching.core.store.write('configmaps', object('a'));
  expect(watching.messages).toEqual([]);
  expect(watching.ended()).toBe(false);
});

test('serves many at once, each by its own selectors', () => {
  const server = newCore();
  const watchers = ['', 'labelSelector=x', 'fieldSelector=metadata.name%3Db'].map(query => watch(query, server));
  server.core.store.write('configmaps', object('a', { x: '' }));
  server.core.store.write('configmaps', object('b'));
  expect(watchers.map(seen)).toEqual([['ADDED a@2', 'ADDED b@3'], ['ADDED a@2'], ['ADDED b@3']]);
  for (const { stop } of watchers) stop();
});
