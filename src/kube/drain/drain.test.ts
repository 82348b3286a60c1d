import { expect, test } from 'vitest';
import { controller, drainBench, second, tooMany } from '../../../test/kit/drain-bench.ts';
import { podDisruptionBudgets, podDisruptionBudgetsV1beta1, pods } from '../resources.ts';
import { type BlockedPod, drainError } from './drain.ts';
import { drainProgress } from './drain-text.ts';

test('an empty Node is drained at once', async () => {
  const { drain } = drainBench();
  expect(await drain()).toEqual({ result: { gone: [], left: [], blocked: [] }, atMs: 0 });
});

test('evicts the pods of this Node, and waits until they are gone', async () => {
  const { clock, drain, put, evicted, api } = drainBench();
  for (const name of ['a', 'b']) put(name);
  put('elsewhere', {}, { spec: { nodeName: 'win-2' } });
  const state = await drain();
  await clock.advance(2 * second);
  expect([evicted, state.result]).toEqual([['a', 'b'], undefined]);
  await clock.advance(2 * second);
  expect(state.result).toEqual({
    gone: [
      { namespace: 'ns', name: 'a' },
      { namespace: 'ns', name: 'b' },
    ],
    left: [],
    blocked: [],
  });
  expect([api.all(pods).map(pod => pod.metadata.name), clock.sleepers()]).toEqual([['elsewhere'], 0]);
});

test('leaves what it must leave, waits for what is going, evicts the rest', async () => {
  const { clock, api, drain, put, evicted } = drainBench();
  put('daemon', { ownerReferences: [{ ...controller[0], kind: 'DaemonSet' } as never] });
  put('mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  put('going', { deletionTimestamp: '2026-03-01T12:00:00Z' });
  put('finished', {}, { spec: { nodeName: 'win-1' }, status: { phase: 'Succeeded' } });
  put('unmanaged', { ownerReferences: [] });
  const state = await drain();
  await clock.advance(5 * second);
  expect([evicted, state.result]).toEqual([['finished', 'unmanaged'], undefined]);
  api.remove(pods, 'going', 'ns');
  await clock.advance(second);
  expect(state.result?.gone.map(each => each.name).sort()).toEqual(['finished', 'going', 'unmanaged']);
  expect(state.result?.left).toEqual([
    { pod: { namespace: 'ns', name: 'daemon' }, is: 'daemon set' },
    { pod: { namespace: 'ns', name: 'mirror' }, is: 'mirror' },
  ]);
});

test('asks the server once what it can do', async () => {
  const { drainer, api } = drainBench();
  await drainer.drain('win-1');
  await drainer.drain('win-1');
  expect(api.calls.filter(call => call.verb === 'raw').length).toBe(1);
});

test('asks again when it got no answer', async () => {
  const { drainer, api } = drainBench();
  const paths = new Map(api.paths);
  api.paths.clear();
  await expect(drainer.drain('win-1')).rejects.toMatchObject({ code: 404 });
  for (const [path, answer] of paths) api.paths.set(path, answer);
  await expect(drainer.drain('win-1')).resolves.toMatchObject({ blocked: [] });
});

test('tries a pod that a budget protects every five seconds, and no other', async () => {
  const { clock, drain, put, answers, api, evicted } = drainBench();
  for (const name of ['held', 'free']) put(name);
  const tries: number[] = [];
  answers.set('held', () => {
    tries.push(clock.monotonicMs() / second);
    return tries.length < 4 ? tooMany() : undefined;
  });
  const state = await drain();
  await clock.advance(30 * second);
  expect([tries, evicted]).toEqual([
    [0, 5, 10, 15],
    ['free', 'held'],
  ]);
  expect([state.result?.blocked, state.atMs]).toEqual([[], 18 * second]);
  expect(api.calls.filter(call => call.resource === 'pods/eviction').length).toBe(5);
});

for (const [version, resource] of [
  ['v1', podDisruptionBudgets] as const,
  ['v1beta1', podDisruptionBudgetsV1beta1] as const,
]) {
  test(`ends in time, names pod and budget, and evicts the rest (policy/${version})`, async () => {
    const { clock, api, drain, put, answers } = drainBench({ timeoutMs: 20 * second });
    api.paths.set('/api/v1', { resources: [{ name: 'pods/eviction', version }] });
    api.put(resource, {
      metadata: { name: 'web', namespace: 'ns' },
      spec: { selector: { matchLabels: { app: 'web' } } },
    });
    api.put(resource, {
      metadata: { name: 'db', namespace: 'ns' },
      spec: { selector: { matchLabels: { app: 'db' } } },
    });
    put('held', { labels: { app: 'web' } });
    put('free');
    answers.set('held', tooMany);
    const state = await drain();
    await clock.advance(20 * second - 1);
    expect(state.result).toBeUndefined();
    await clock.advance(1);
    expect(state.result).toEqual({
      gone: [{ namespace: 'ns', name: 'free' }],
      left: [],
      blocked: [{ ...blockedPod('held', ['web']), message: 'web needs 2' }],
    });
    expect(clock.sleepers()).toBe(0);
  });
}

test('reports the pods that are left, and takes another time limit', async () => {
  const { clock, api, drain, put, answers } = drainBench({ timeoutMs: 3600 * second });
  api.put(podDisruptionBudgets, { metadata: { name: 'web', namespace: 'ns' }, spec: { selector: {} } });
  put('held');
  put('free');
  answers.set('held', tooMany);
  const notes: string[] = [];
  const state = await drain({ timeoutMs: 20 * second, onProgress: left => notes.push(drainProgress(left)) });
  await clock.advance(20 * second);
  expect(state.atMs).toBe(20 * second);
  expect(notes).toEqual([
    'draining the Node: 2 pods left, 1 of them terminating or not evicted yet; blocked: ns/held (PodDisruptionBudget web: web needs 2)',
    'draining the Node: 1 pod left; blocked: ns/held (PodDisruptionBudget web: web needs 2)',
  ]);
  expect(api.calls.filter(call => call.resource === 'poddisruptionbudgets').length).toBe(3);
});

test('names the pods that are terminating when none is blocked', () => {
  const going = { ...blockedPod('a'), isRejected: false, message: 'it is terminating' };
  expect(drainProgress([going])).toBe('draining the Node: 1 pod left: ns/a (it is terminating)');
});

const blockedPod = (name: string, budgets: string[] = []): BlockedPod => ({
  pod: { namespace: 'ns', name },
  is: 'managed',
  budgets,
  isRejected: true,
  message: 'not now',
});
const errors: [string, BlockedPod[], string][] = [
  ['a budget', [blockedPod('a', ['web'])], 'Node win-1: pods not evicted: ns/a (PodDisruptionBudget web: not now)'],
  [
    'two budgets',
    [blockedPod('a', ['db', 'web'])],
    'Node win-1: pods not evicted: ns/a (PodDisruptionBudget db, web: not now)',
  ],
  ['no budget', [blockedPod('a')], 'Node win-1: pods not evicted: ns/a (not now)'],
  ['two pods', [blockedPod('a'), blockedPod('b')], 'Node win-1: pods not evicted: ns/a (not now); ns/b (not now)'],
];
for (const [name, blocked, message] of errors) {
  test(`says to people what blocks: ${name}`, () => {
    expect(drainError('win-1', { gone: [], left: [], blocked })).toMatchObject({ code: 'DRAIN_BLOCKED', message });
  });
}

test('does not name more than five', () => {
  const blocked = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(name => blockedPod(name));
  const error = drainError('win-1', { gone: [], left: [], blocked });
  expect(error.message).toMatch(/ns\/e \(not now\) and 2 more$/);
});

const remedies: [about: string, pods: BlockedPod[], want: string][] = [
  [
    'a budget',
    [blockedPod('a'), blockedPod('b', ['web'])],
    'Relax the PodDisruptionBudgets: kubectl edit pdb web -n ns. Or delete the pods: kubectl delete pod b -n ns.',
  ],
  ['a rejected pod', [blockedPod('a')], 'Delete the pods: kubectl delete pod a -n ns.'],
  [
    'a pod that stays',
    [{ ...blockedPod('a'), is: 'terminating' }],
    'Check that the kubelet of the Node runs. If it does not, delete the pods: kubectl delete pod a -n ns --force.',
  ],
];
for (const [about, blocked, want] of remedies) {
  test(`the remedy for ${about} has the command`, () => {
    expect(drainError('win-1', { gone: [], left: [], blocked }).remedy).toBe(want);
    expect(drainError('win-1', { gone: [], left: [], blocked }, 'Or wait.').remedy).toBe(`${want} Or wait.`);
  });
}
