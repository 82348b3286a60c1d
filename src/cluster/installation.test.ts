import { beforeEach, expect, test } from 'vitest';
import { customResourceDefinitions, namespaces } from '#kube/resources.ts';
import { manualClock } from '../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../test/kit/memory-api.ts';
import { Installation } from './installation.ts';

const crd = 'windowsinstances.windowsmachineconfig.openshift.io';
const { signal } = new AbortController();
let api: MemoryApi;

beforeEach(() => {
  api = new MemoryApi();
  put();
});

const noon = '2026-03-01T12:00:00Z';

function put(namespace: object = {}, creationTimestamp = noon): void {
  api.put(namespaces, { metadata: { name: 'wmco', creationTimestamp: noon, ...namespace } });
  api.put(customResourceDefinitions, { metadata: { name: crd, creationTimestamp } } as never);
}

test('allows removals while Namespace and CRD exist', async () => {
  const installation = new Installation(api, 'wmco');
  expect(await installation.problem(signal)).toBeUndefined();
});

const uninstalls: [title: string, change: () => void, want: RegExp][] = [
  ['the Namespace is being deleted', () => put({ deletionTimestamp: noon }), /^Namespace wmco is being deleted$/],
  ['the Namespace is gone', () => api.remove(namespaces, 'wmco'), /^Namespace wmco does not exist$/],
  ['the CRD is gone', () => api.remove(customResourceDefinitions, crd), /^CustomResourceDefinition .* does not exist$/],
  [
    'they cannot be read',
    () => {
      api.before = () => {
        throw refused(403, 'Forbidden');
      };
    },
    /cannot be read/,
  ],
];
for (const [title, change, want] of uninstalls) {
  test(`allows no removal when ${title}`, async () => {
    const installation = new Installation(api, 'wmco');
    change();
    expect(await installation.problem(signal)).toMatch(want);
  });
}

const deletions: [title: string, created: string, crdCreated: string, want: RegExp | undefined][] = [
  [
    'an instance that is older than its CRD',
    noon,
    '2026-03-01T12:00:01Z',
    /^CustomResourceDefinition .* created again$/,
  ],
  ['an instance that is as old as its CRD', noon, noon, undefined],
  ['an instance that is younger than its CRD', '2026-03-01T12:00:01Z', noon, undefined],
];
for (const [title, creationTimestamp, crdCreated, want] of deletions) {
  test(`${want ? 'ignores' : 'accepts'} the deletion of ${title}`, async () => {
    put({}, crdCreated);
    const problem = await new Installation(api, 'wmco').problem(signal, { metadata: { creationTimestamp } });
    if (want === undefined) expect(problem).toBeUndefined();
    else expect(problem).toMatch(want);
  });
}

test('hosts that wait share one read for ten seconds, which a removal does not rely on', async () => {
  const clock = manualClock();
  const installation = new Installation(api, 'wmco', clock);
  const ask = () => Promise.all([installation.recentProblem(signal), installation.recentProblem(signal)]);
  expect(await ask()).toEqual([undefined, undefined]);
  expect(api.calls).toHaveLength(2);
  put({ deletionTimestamp: noon });
  await clock.advance(9999);
  expect(await ask()).toEqual([undefined, undefined]);
  expect(api.calls).toHaveLength(2);
  expect(await installation.problem(signal)).toMatch('is being deleted');
  await clock.advance(1);
  expect(await ask()).toEqual([
    expect.stringContaining('is being deleted'),
    expect.stringContaining('is being deleted'),
  ]);
  expect(api.calls).toHaveLength(6);
});

test('a host that stops waiting does not end the read for others', async () => {
  const installation = new Installation(api, 'wmco', manualClock());
  const leaving = new AbortController();
  const first = installation.recentProblem(leaving.signal);
  leaving.abort(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  expect(await installation.recentProblem(signal)).toBeUndefined();
});
