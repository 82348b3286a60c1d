import { expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from './windows-instance-resource.ts';
import { manualClock } from '../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../test/kit/memory-api.ts';
import { getFresh, patchConditions } from './patch-instance.ts';

const other = { type: 'Ready', status: 'False', reason: 'X', message: '', lastTransitionTime: 'then' } as const;
const news = { type: 'Accepted', status: 'False', reason: 'INSTANCE_DUPLICATE', message: 'twice' } as const;

function bench() {
  const api = new MemoryApi();
  const clock = manualClock();
  const instance: WindowsInstance = api.put(windowsInstances, {
    metadata: { name: 'win1', namespace: 'wmco', generation: 3 },
    spec: { address: '10.0.0.1', username: 'Administrator' },
    status: { phase: 'Configuring', conditions: [other] },
  });
  const means = { client: api, clock, signal: new AbortController().signal };
  const status = () => api.peek(windowsInstances, 'win1', 'wmco')?.status;
  return { api, clock, instance, means, status };
}

test('sets its condition beside those of others, for the generation it has seen', async () => {
  const { api, instance, means, status } = bench();
  await patchConditions(instance, [news], means);
  const mine = { ...news, lastTransitionTime: '2026-03-01T12:00:00Z', observedGeneration: 3 };
  expect(status()).toEqual({ phase: 'Configuring', conditions: [other, mine] });
  expect(api.calls.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
    'get windowsinstances',
    'patch windowsinstances/status',
  ]);
});

test('writes nothing when that is said already', async () => {
  const { api, instance, means } = bench();
  await patchConditions(instance, [news], means);
  api.calls.length = 0;
  await patchConditions(instance, [news], means);
  expect(api.calls.map(({ verb }) => verb)).toEqual(['get']);
});

test('continues top of concurrent writes of another client', async () => {
  const { api, instance, means, status } = bench();
  let left = 3;
  api.before = ({ verb }) => {
    if (verb !== 'patch' || left === 0) return;
    left -= 1;
    const present = api.peek(windowsInstances, 'win1', 'wmco') as WindowsInstance;
    api.put(windowsInstances, { ...present, status: { ...present.status, step: `step ${left}` } });
  };
  await patchConditions(instance, [news], means);
  expect(status()).toMatchObject({ step: 'step 0', conditions: [other, news] });
});

test('leaves another one of the same name alone', async () => {
  const { api, instance, means, status } = bench();
  api.remove(windowsInstances, 'win1', 'wmco');
  api.put(windowsInstances, {
    metadata: { name: 'win1', namespace: 'wmco' },
    spec: { address: '10.0.0.2', username: 'Administrator' },
  });
  await patchConditions(instance, [news], means);
  expect(status()).toBeUndefined();
});

test('one that is gone is fine, any other failure is one', async () => {
  const { api, instance, means } = bench();
  api.remove(windowsInstances, 'win1', 'wmco');
  await patchConditions(instance, [news], means);
  api.before = () => {
    throw refused(403, 'Forbidden');
  };
  await expect(patchConditions(instance, [news], means)).rejects.toThrow('Forbidden');
});

test('reports a phase where none is set', async () => {
  const { api, instance, means, status } = bench();
  await patchConditions(instance, [news], means, 'Failed');
  expect(status()?.phase).toBe('Configuring');
  const fresh = api.put(windowsInstances, {
    metadata: { name: 'win1', namespace: 'wmco' },
    spec: { address: 'x', username: 'Administrator' },
  });
  await patchConditions(fresh, [news], means, 'Failed');
  expect(status()).toMatchObject({ phase: 'Failed', conditions: [news] });
});

test('reads the instance past the cache, and none that was created again under its name', async () => {
  const { api, instance, means } = bench();
  const fresh = (each: WindowsInstance) => getFresh(each, api, { signal: means.signal });
  expect(await fresh(instance)).toMatchObject({ status: { phase: 'Configuring' } });
  expect(await fresh({ ...instance, metadata: { ...instance.metadata, uid: 'earlier' } })).toBeUndefined();
  api.remove(windowsInstances, 'win1', 'wmco');
  expect(await fresh(instance)).toBeUndefined();
});
