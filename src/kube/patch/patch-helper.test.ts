import { expect, test } from 'vitest';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { changeObject, type PatchOptions, patchObject } from './patch-helper.ts';
import type { KubeResource, Metadata, Resource } from '../resource.ts';

interface Thing extends KubeResource {
  spec?: { size?: number; tags?: string[] };
  status?: { phase?: string; conditions?: { type: string }[] };
}

const things: Resource<Thing> = {
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
};
const key = { namespace: 'ns', name: 'a' };

/** A server with one object, and that object as it was read. */
function bench(more: Partial<Thing> = {}, metadata: Partial<Metadata> = {}) {
  const api = new MemoryApi();
  const before = api.put(things, { metadata: { name: 'a', namespace: 'ns', ...metadata }, spec: { size: 1 }, ...more });
  const patch = (after: Thing, options?: PatchOptions) => patchObject(api, things, { before, after }, options);
  const sent = () => api.calls.map(({ resource, body }) => [resource, body]);
  const current = () => api.peek(things, 'a', 'ns');
  return { api, before, patch, sent, current };
}

test('sends no request when nothing differs', async () => {
  const { api, before, patch } = bench();
  expect(await patch(structuredClone(before))).toEqual(before);
  expect(api.calls).toEqual([]);
});

const patches: [string, (before: Thing) => Thing, [string, unknown][]][] = [
  ['the spec alone', before => ({ ...before, spec: { size: 2 } }), [['things', { spec: { size: 2 } }]]],
  [
    'the status alone',
    before => ({ ...before, status: { phase: 'x' } }),
    [['things/status', { status: { phase: 'x' } }]],
  ],
  [
    'a label',
    before => ({ ...before, metadata: { ...before.metadata, labels: { a: 'b' } } }),
    [['things', { metadata: { labels: { a: 'b' } } }]],
  ],
  [
    'the status before the rest',
    before => ({ ...before, spec: { size: 2 }, status: { phase: 'x' } }),
    [
      ['things/status', { status: { phase: 'x' } }],
      ['things', { spec: { size: 2 } }],
    ],
  ],
  ['a member that goes', before => ({ ...before, spec: {} }), [['things', { spec: { size: null } }]]],
];
for (const [name, change, want] of patches) {
  test(`writes ${name}`, async () => {
    const { before, patch, sent } = bench();
    await patch(change(before));
    expect(sent()).toEqual(want);
  });
}

const owned: Record<string, unknown> = {
  uid: 'x',
  resourceVersion: '1',
  generation: 7,
  creationTimestamp: 'now',
  managedFields: [],
  selfLink: '/x',
};
for (const [name, value] of Object.entries(owned)) {
  test(`does not write metadata.${name}, which is the server's`, async () => {
    const { before, patch, sent } = bench();
    await patch({ ...before, metadata: { ...before.metadata, [name]: value } });
    expect(sent()).toEqual([]);
  });
}

test('gives back the object as the server has it now', async () => {
  const { before, patch, current } = bench();
  const after = await patch({ ...before, spec: { size: 2 }, status: { phase: 'x' } });
  expect(after).toEqual(current());
  expect(after).toMatchObject({ spec: { size: 2 }, status: { phase: 'x' } });
});

test('keeps concurrent changes of other members', async () => {
  const { api, before, patch, current } = bench();
  api.put(things, { ...before, metadata: { ...before.metadata, labels: { theirs: '1' } } });
  await patch({ ...before, spec: { size: 2 } });
  expect(current()).toMatchObject({ metadata: { labels: { theirs: '1' } }, spec: { size: 2 } });
});

const locks: [string, PatchOptions['lock'], (before: Thing) => Thing, boolean][] = [
  ['a list, by default', undefined, before => ({ ...before, spec: { tags: ['x'] } }), true],
  [
    'a list of finalizers, by default',
    undefined,
    before => ({ ...before, metadata: { ...before.metadata, finalizers: ['x'] } }),
    true,
  ],
  [
    'a list in the status, by default',
    undefined,
    before => ({ ...before, status: { conditions: [{ type: 'x' }] } }),
    true,
  ],
  ['a plain value, by default', undefined, before => ({ ...before, spec: { size: 2 } }), false],
  ['a plain value, always', 'always', before => ({ ...before, spec: { size: 2 } }), true],
];
for (const [name, lock, change, isConflict] of locks) {
  test(`a write of another writer in between is ${isConflict ? 'a' : 'no'} conflict: ${name}`, async () => {
    const { api, before, patch } = bench();
    api.put(things, before);
    const result = patch(change(before), lock === undefined ? {} : { lock });
    await (isConflict ? expect(result).rejects.toMatchObject({ reason: 'Conflict' }) : result);
  });
}

test('the status patch does not conflict with the second patch', async () => {
  const { before, patch, current } = bench();
  await patch({ ...before, spec: { size: 2 }, status: { phase: 'x' } }, { lock: 'always' });
  expect(current()).toMatchObject({ spec: { size: 2 }, status: { phase: 'x' } });
});

test('does not lock an object without resourceVersion', async () => {
  const { api, before } = bench();
  const { resourceVersion: _, ...metadata } = before.metadata;
  const unversioned = { ...before, metadata };
  await patchObject(api, things, { before: unversioned, after: { ...unversioned, spec: { tags: ['x'] } } });
  expect(api.calls[0]?.body).toEqual({ spec: { size: null, tags: ['x'] } });
});

test('works for objects without a namespace', async () => {
  const api = new MemoryApi();
  const before = api.put({ ...things, namespaced: false }, { metadata: { name: 'a' } });
  await patchObject(api, things, { before, after: { ...before, spec: { size: 1 } } });
  expect(api.peek(things, 'a')).toMatchObject({ spec: { size: 1 } });
});

test('hands its options on', async () => {
  const { api, before } = bench();
  const given: unknown[] = [];
  const signal = new AbortController().signal;
  const client: Pick<MemoryApi, 'patch'> = {
    patch: (resource, name, patch, options) => {
      given.push(options);
      return api.patch(resource, name, patch, options);
    },
  };
  const options = { signal, timeoutMs: 500 };
  await patchObject(client, things, { before, after: { ...before, status: {} } }, options);
  expect(given).toEqual([{ signal, timeoutMs: 500, namespace: 'ns', subresource: 'status' }]);
});

const grow = (thing: Thing): Thing => ({ ...thing, spec: { ...thing.spec, size: (thing.spec?.size ?? 0) + 1 } });

test('changeObject returns the object before and after', async () => {
  const { api } = bench();
  const { before, after } = await changeObject(api, things, { key, change: grow });
  expect([before.spec?.size, after.spec?.size]).toEqual([1, 2]);
});

test('changeObject sends no patch when nothing changes', async () => {
  const { api } = bench();
  const { before, after } = await changeObject(api, things, { key, change: thing => thing });
  expect([before, api.calls.map(call => call.verb)]).toEqual([after, ['get']]);
});

test('the change may alter what it is given', async () => {
  const { api } = bench();
  const change = (thing: Thing) => {
    thing.spec = { size: 9 };
    return thing;
  };
  const { before, after } = await changeObject(api, things, { key, change });
  expect([before.spec?.size, after.spec?.size]).toEqual([1, 9]);
});

/** Somebody else writes before each of the first patches. */
function disturb(api: MemoryApi, times: number): void {
  let left = times;
  api.before = ({ verb }) => {
    if (verb !== 'patch' || left === 0) return;
    left -= 1;
    const thing = api.peek(things, 'a', 'ns');
    if (thing !== undefined) api.put(things, grow(thing));
  };
}

test('makes the change again when another writer was faster, and loses neither', async () => {
  const { api, current } = bench();
  disturb(api, 3);
  await changeObject(api, things, { key, change: grow });
  expect(current()?.spec?.size).toBe(5);
});

const bounds: [string, number | undefined, number][] = [
  ['five times unless told otherwise', undefined, 5],
  ['as often as it is told', 2, 2],
  ['once at least', 0, 1],
];
for (const [name, attempts, want] of bounds) {
  test(`tries ${name}`, async () => {
    const { api } = bench();
    disturb(api, 100);
    const options = attempts === undefined ? {} : { attempts };
    await expect(changeObject(api, things, { key, change: grow }, options)).rejects.toMatchObject({
      reason: 'Conflict',
    });
    expect(api.calls.filter(call => call.verb === 'patch').length).toBe(want);
  });
}

test('any other failure is reported at once', async () => {
  const { api } = bench();
  api.before = ({ verb }) => {
    if (verb === 'patch') throw refused(422, 'Invalid');
  };
  await expect(changeObject(api, things, { key, change: grow })).rejects.toMatchObject({ code: 422 });
  await expect(changeObject(api, things, { key: { ...key, name: 'b' }, change: grow })).rejects.toMatchObject({
    code: 404,
  });
  expect(api.calls.filter(call => call.verb === 'patch').length).toBe(1);
});
