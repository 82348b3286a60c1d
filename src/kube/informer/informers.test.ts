import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { refusal, ScriptedApi, things } from '../../../test/kit/scripted-api.ts';
import { Informers } from './informers.ts';
import type { Resource } from '../resource.ts';

const others: Resource = { ...things, plural: 'others' };

function informersOf(api = new ScriptedApi()) {
  api.put('a');
  const clock = manualClock();
  return { api, clock, informers: new Informers({ client: api, clock, random: () => 0 }) };
}

test('gives the same informer for the same resource and scope', () => {
  const { informers } = informersOf();
  expect(informers.get(things)).toBe(informers.get({ ...things }));
  expect(informers.get(things, {})).toBe(informers.get(things));
  expect(informers.get(things, { namespace: '' })).toBe(informers.get(things));
  expect(informers.get(things, { namespace: 'a', labelSelector: 'x' })).toBe(
    informers.get(things, { labelSelector: 'x', namespace: 'a' }),
  );
});

const different: [name: string, resource: Resource, scope: object][] = [
  ['plural', others, {}],
  ['group', { ...things, group: '' }, {}],
  ['version', { ...things, version: 'v2' }, {}],
  ['namespace', things, { namespace: 'a' }],
  ['label selector', things, { labelSelector: 'a' }],
  ['field selector', things, { fieldSelector: 'a' }],
];
test.each(different)('gives another informer for another %s', (_, resource, scope) => {
  const { informers } = informersOf();
  expect(informers.get(resource, scope)).not.toBe(informers.get(things));
});

test('reports a namespace from a selector of the same text', () => {
  const { informers } = informersOf();
  const all = [{ namespace: 'a' }, { labelSelector: 'a' }, { fieldSelector: 'a' }].map(scope =>
    informers.get(things, scope),
  );
  expect(new Set(all).size).toBe(3);
});

test('starts all, also those that come later, and none before', async () => {
  const { api, informers } = informersOf();
  const early = informers.get(things);
  await settle();
  expect(api.calls).toEqual([]);
  informers.start();
  const late = informers.get(others);
  await informers.synced();
  expect([early.hasSynced, late.hasSynced]).toEqual([true, true]);
  await informers.stop();
  expect(api.openStreams).toBe(0);
});

test('stays with one stream when it is started twice', async () => {
  const { api, informers } = informersOf();
  informers.get(things);
  informers.start();
  informers.start();
  await informers.synced();
  await settle();
  expect(api.openStreams).toBe(1);
  await informers.stop();
});

test('has synced when all have', async () => {
  const { api, clock, informers } = informersOf();
  api.fail('list', refusal(403));
  informers.get(things);
  informers.get(others);
  informers.start();
  let isSynced = false;
  const waiting = informers.synced().then(() => (isSynced = true));
  await settle();
  expect(isSynced).toBe(false);
  expect(informers.troubles()).toEqual([
    { informer: 'things.v1.example.com', hasSynced: false, trouble: 'GET /things: refused with 403' },
  ]);
  await clock.advance(1000);
  await waiting;
  expect(informers.troubles()).toEqual([]);
  await informers.stop();
});

test('names an informer in trouble with its scope', async () => {
  const { api, informers } = informersOf();
  api.fail('list', refusal(404));
  informers.get(things, { namespace: 'ns', labelSelector: 'a=b' });
  informers.start();
  await settle();
  expect(informers.troubles()).toMatchObject([{ informer: 'things.v1.example.com namespace=ns labelSelector=a=b' }]);
  await informers.stop();
});

test('synced rejects when the signal is aborted', async () => {
  const { api, informers } = informersOf();
  api.fail('list', refusal(403));
  informers.get(things);
  informers.start();
  const giveUp = new AbortController();
  const waiting = informers.synced(giveUp.signal);
  giveUp.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(informers.synced(giveUp.signal)).rejects.toThrow('enough');
  await informers.stop();
});

test('synced resolves without informers', async () => {
  const { informers } = informersOf();
  informers.start();
  await expect(informers.synced(AbortSignal.timeout(60_000))).resolves.toBeUndefined();
  await informers.stop();
});

test('rejects new informers after the stop', async () => {
  const { api, informers } = informersOf();
  informers.get(things);
  await informers.stop();
  informers.start();
  await settle();
  expect(api.calls).toEqual([]);
  expect(() => informers.get(others)).toThrow('the informers are stopped; cannot add others');
});

test('under a manager it is ready when all have synced and ends when it is reported to', async () => {
  const { api, informers } = informersOf();
  informers.get(things);
  const stopping = new AbortController();
  let isReady = false;
  const running = informers.run(stopping.signal, () => (isReady = true));
  await settle();
  expect([isReady, api.openStreams]).toEqual([true, 1]);
  stopping.abort();
  await running;
  expect(api.openStreams).toBe(0);
});

test('under a manager it ends without complaint when it is stopped before it is ready', async () => {
  const { api, informers, clock } = informersOf();
  api.fail('list', refusal(403));
  informers.get(things);
  const stopping = new AbortController();
  const running = informers.run(stopping.signal, () => expect.unreachable());
  await settle();
  stopping.abort();
  await running;
  expect([api.openStreams, clock.sleepers()]).toEqual([0, 0]);
});

test('reports what each informer has done and holds', async () => {
  const { informers } = informersOf();
  informers.get(things, { namespace: 'ns' });
  expect(informers.figures()).toMatchObject([{ objects: 0, counts: { lists: 0, watches: 0, handlerErrors: 0 } }]);
  informers.start();
  await settle();
  expect(informers.figures()).toMatchObject([
    { informer: expect.stringContaining('namespace=ns'), objects: 1, counts: { failures: 0 } },
  ]);
  await informers.stop();
});
