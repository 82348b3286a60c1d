import { expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '../windows-instance-resource.ts';
import { done } from '#kube/controller/reconcile.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { applyPlan, deleteInstance } from './apply-plan.ts';

const object: WindowsInstance = {
  metadata: { name: 'win1', namespace: 'wmco', labels: { keep: 'me' } },
  spec: { address: '10.0.0.1', username: 'core', paused: true },
};

function bench(...present: WindowsInstance[]) {
  const api = new MemoryApi();
  const { log, messages } = recordedLog();
  const [made] = present.map(one => api.put(windowsInstances, one));
  const means = { client: api, log, signal: new AbortController().signal };
  const get = () => api.peek(windowsInstances, 'win1', 'wmco');
  return { api, means, get, messages, made: made ?? object };
}

test('creates an instance, and logs it before', async () => {
  const { means, get, messages } = bench();
  expect(await applyPlan({ do: 'create', instance: object }, means)).toBe(done);
  expect(get()?.spec).toEqual(object.spec);
  expect(messages('info')).toEqual(['Creating WindowsInstance']);
});

test('writes only the difference', async () => {
  const { api, means, get, made } = bench(object);
  const after = { ...made, spec: { ...made.spec, username: 'admin' } };
  expect(await applyPlan({ do: 'update', before: made, after }, means)).toBe(done);
  expect(get()?.spec).toEqual({ address: '10.0.0.1', username: 'admin', paused: true });
  expect(api.calls).toMatchObject([
    { verb: 'patch', resource: 'windowsinstances', body: { spec: { username: 'admin' } } },
  ]);
});

test('asks for nothing when there is nothing to do', async () => {
  const { api, means } = bench(object);
  expect(await applyPlan({ do: 'keep' }, means)).toBe(done);
  expect(await applyPlan({ do: 'wait' }, means)).toMatchObject({ after: 1000 });
  expect(api.calls).toEqual([]);
});

test('requeues when it finds an object that it has not seen yet', async () => {
  const { means } = bench(object);
  expect(await applyPlan({ do: 'create', instance: object }, means)).toMatchObject({ after: 1000 });
});

test('requeues when the object it wants to change is gone', async () => {
  const { means } = bench();
  const after = { ...object, spec: { ...object.spec, username: 'x' } };
  expect(await applyPlan({ do: 'update', before: object, after }, means)).toMatchObject({ after: 1000 });
});

test('lets every other refusal be a failure', async () => {
  const { api, means } = bench();
  api.before = () => {
    throw refused(422, 'Invalid');
  };
  await expect(applyPlan({ do: 'create', instance: object }, means)).rejects.toThrow('Invalid');
});

test('requeues later while namespace or CRD do not exist', async () => {
  const { api, means } = bench();
  api.before = () => {
    throw refused(404, 'NotFound');
  };
  expect(await applyPlan({ do: 'create', instance: object }, means)).toMatchObject({ after: 30_000 });
});

test('deletes the very object', async () => {
  const { api, means, get, made } = bench(object);
  await deleteInstance(made, 'its entry is gone', means);
  expect(get()).toBeUndefined();
  expect(api.calls).toMatchObject([{ verb: 'delete', name: 'win1', namespace: 'wmco' }]);
});

test('leaves one that was created again under the same name', async () => {
  const { api, means, get, made } = bench(object);
  api.remove(windowsInstances, 'win1', 'wmco');
  api.put(windowsInstances, object);
  await deleteInstance(made, 'gone', means);
  expect(get()).toBeDefined();
});

test('one that is gone, or about to go, is fine', async () => {
  const { api, means } = bench();
  await deleteInstance(object, 'gone', means);
  api.calls.length = 0;
  await deleteInstance({ ...object, metadata: { ...object.metadata, deletionTimestamp: 'x' } }, 'gone', means);
  expect(api.calls).toEqual([]);
});

test('fails when the server does not delete it', async () => {
  const { api, means, made } = bench(object);
  api.before = () => {
    throw refused(403, 'Forbidden');
  };
  await expect(deleteInstance(made, 'gone', means)).rejects.toThrow('Forbidden');
});
