import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../../test/kit/manual-clock.ts';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { AppError } from '../../../base/errors.ts';
import { type Log, silentLog } from '../../../base/log.ts';
import { type Key, keyOf, keyText } from '../../../kube/resource.ts';
import { configMaps } from '../../../kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import { badRequest } from '../status.ts';
import { createController, type Work } from './worker.ts';

/** Work that writes down the keys it is given; fails as long as there are failures left. */
function recorder(failures: unknown[] = []): { seen: string[]; work: Work; again: Map<string, number> } {
  const seen: string[] = [];
  const again = new Map<string, number>();
  const work: Work = {
    name: 'recorder',
    begin: api => api.list(configMaps).map(keyOf),
    affected: ({ resource, object }) => (isKind(resource, configMaps) ? [keyOf(object)] : []),
    reconcile: (key: Key) => {
      seen.push(keyText(key));
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const ms = again.get(key.name);
      again.delete(key.name);
      return ms;
    },
  };
  return { seen, work, again };
}
const map = (name: string) => ({ metadata: { namespace: 'default', name } });

test('reconciles existing objects at the start, and changes', async () => {
  await using api = await startLocalApi([]);
  api.create(configMaps, map('old'));
  const { seen, work } = recorder();
  const controller = createController(work);
  controller.start(api);
  api.create(configMaps, map('new'));
  await quiet(api);
  expect(seen.toSorted()).toEqual(['default/new', 'default/old']);
  api.delete(configMaps, { namespace: 'default', name: 'old' });
  await quiet(api);
  expect(seen).toHaveLength(3);
  controller.stop();
});

test('merges changes before a reconcile', async () => {
  await using api = await startLocalApi([]);
  const { seen, work } = recorder();
  const controller = createController(work);
  controller.start(api);
  const created = api.create(configMaps, map('a'));
  for (const value of ['b', 'c', 'd']) {
    api.replace(configMaps, { ...created, metadata: map('a').metadata, data: { a: value } } as never);
  }
  await quiet(api);
  expect(seen).toEqual(['default/a', 'default/a']);
  controller.stop();
});

test('does nothing once it is stopped, also by a second stop', async () => {
  await using api = await startLocalApi([]);
  const { seen, work } = recorder();
  const controller = createController(work);
  controller.stop();
  controller.start(api);
  api.create(configMaps, map('a'));
  controller.stop();
  controller.stop();
  api.create(configMaps, map('b'));
  await quiet(api);
  expect(seen).toEqual([]);
});

test('can be restarted', async () => {
  await using api = await startLocalApi([]);
  const { seen, work } = recorder();
  const controller = createController(work);
  controller.start(api);
  controller.stop();
  controller.start(api);
  api.create(configMaps, map('a'));
  await quiet(api);
  controller.stop();
  expect(seen).toEqual(['default/a']);
});

const kinds: [string, unknown, keyof Log][] = [
  ['a refusal', badRequest('no'), 'debug'],
  ['an object that makes no sense', new AppError('CSR_MALFORMED', 'odd', { remedy: 'fix it' }), 'debug'],
  ['a defect', new TypeError('oops'), 'error'],
];
test.each(kinds)('retries after %s and logs it', async (_, failure, level) => {
  const clock = manualClock();
  await using api = await startLocalApi([], clock);
  const { seen, work } = recorder([failure, failure]);
  const lines: [string, unknown][] = [];
  const write = (at: string) => (_message: string, fields?: object) => lines.push([at, fields]);
  const log = { ...silentLog, debug: write('debug'), error: write('error') } as Log;
  const controller = createController(work, log);
  controller.start(api);
  api.create(configMaps, map('a'));
  await clock.advance(60_000);
  expect(seen).toEqual(['default/a', 'default/a', 'default/a']);
  expect(lines).toEqual([failure, failure].map(error => [level, { controller: 'recorder', key: 'default/a', error }]));
  controller.stop();
});

test('a failing key does not hold up another', async () => {
  const clock = manualClock();
  await using api = await startLocalApi([], clock);
  const { seen, work } = recorder([badRequest('no')]);
  const controller = createController(work);
  controller.start(api);
  api.create(configMaps, map('a'));
  api.create(configMaps, map('b'));
  await settle();
  expect(seen).toEqual(['default/a', 'default/b']);
  controller.stop();
  expect(clock.sleepers()).toBe(0);
});

test('reconciles again after the returned delay', async () => {
  const clock = manualClock();
  await using api = await startLocalApi([], clock);
  const { seen, work, again } = recorder();
  again.set('a', 10_000);
  const controller = createController(work);
  controller.start(api);
  api.create(configMaps, map('a'));
  await clock.advance(9000);
  expect(seen).toHaveLength(1);
  await clock.advance(1000);
  expect(seen).toHaveLength(2);
  await clock.advance(100_000);
  expect(seen).toHaveLength(2);
  controller.stop();
});
