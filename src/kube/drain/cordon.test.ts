import { expect, test } from 'vitest';
import { MemoryApi } from '../../../test/kit/memory-api.ts';
import { type Node, nodes } from '../resources.ts';
import { cordon, uncordon } from './cordon.ts';

function bench(spec?: Node['spec']) {
  const api = new MemoryApi();
  api.put(nodes, { metadata: { name: 'win-1' }, ...(spec && { spec }) });
  const current = () => api.peek(nodes, 'win-1')?.spec;
  const patches = () => api.calls.filter(call => call.verb === 'patch').map(call => call.body);
  return { api, current, patches };
}

const cases: [string, typeof cordon, Node['spec'], boolean, Node['spec'], number][] = [
  ['cordons a Node', cordon, { podCIDR: 'x' }, false, { podCIDR: 'x', unschedulable: true }, 1],
  ['cordons a Node without a spec', cordon, undefined, false, { unschedulable: true }, 1],
  ['cordons a Node that says false', cordon, { unschedulable: false }, false, { unschedulable: true }, 1],
  ["keeps an administrator's cordon, and tells", cordon, { unschedulable: true }, true, { unschedulable: true }, 0],
  ['uncordons a Node', uncordon, { podCIDR: 'x', unschedulable: true }, false, { podCIDR: 'x' }, 1],
  ['leaves a Node that takes pods', uncordon, {}, true, {}, 0],
  ['leaves a Node that says false', uncordon, { unschedulable: false }, true, { unschedulable: false }, 0],
];
for (const [name, act, spec, already, after, writes] of cases) {
  test(name, async () => {
    const { api, current, patches } = bench(spec);
    expect(await act(api, 'win-1')).toEqual({ already });
    expect([current(), patches().length]).toEqual([after, writes]);
  });
}

test('writes nothing but that one member, over the version it has seen', async () => {
  const { api, patches } = bench({ podCIDR: 'x', taints: [{ key: 'os', effect: 'NoSchedule' }] });
  const { resourceVersion } = api.peek(nodes, 'win-1')?.metadata ?? {};
  await cordon(api, 'win-1');
  expect(patches()).toEqual([{ spec: { unschedulable: true }, metadata: { resourceVersion } }]);
});

test('a kubelet that writes all the time does not stop it', async () => {
  const { api, current } = bench();
  let left = 6;
  api.before = ({ verb }) => {
    if (verb !== 'patch' || left === 0) return;
    left -= 1;
    api.put(nodes, { ...api.peek(nodes, 'win-1'), metadata: { name: 'win-1' } });
  };
  expect(await cordon(api, 'win-1')).toEqual({ already: false });
  expect(current()).toEqual({ unschedulable: true });
});

test('an administrator who cordons at the same moment is told from us', async () => {
  const { api } = bench();
  api.before = ({ verb }) => {
    if (verb !== 'patch') return;
    api.before = () => undefined;
    api.put(nodes, { metadata: { name: 'win-1' }, spec: { unschedulable: true } });
  };
  expect(await cordon(api, 'win-1')).toEqual({ already: true });
});

test('gives up after ten conflicts in a row', async () => {
  const { api, patches } = bench();
  api.before = ({ verb }) => {
    if (verb === 'patch') api.put(nodes, { metadata: { name: 'win-1' } });
  };
  await expect(cordon(api, 'win-1')).rejects.toMatchObject({ reason: 'Conflict' });
  expect(patches().length).toBe(10);
});

test('a Node that does not exist is an error', async () => {
  await expect(cordon(new MemoryApi(), 'win-9')).rejects.toMatchObject({ code: 404 });
  await expect(uncordon(new MemoryApi(), 'win-9')).rejects.toMatchObject({ code: 404 });
});

test('can be stopped', async () => {
  const { api, patches } = bench();
  await expect(cordon(api, 'win-1', { signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow('over');
  expect(patches()).toEqual([]);
});
