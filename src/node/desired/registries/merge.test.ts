import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allow, digestSet, entry, never, tagSet } from '../../../../test/kit/mirror-sets.ts';
import { mergeEntries } from './merge.ts';
import { readMirrorEntries } from './mirror-sets.ts';

type Entry = ReturnType<typeof entry>;

function merged(digests: Entry[], tags: Entry[] = []) {
  return mergeEntries(readMirrorEntries([digestSet('d', digests), tagSet('t', tags)]).entries);
}

const mirror = (host: string, canResolveTags = false) => ({ host, canResolveTags });

test('merges nothing to nothing', () => expect(merged([])).toEqual([]));

test('drops the path of a source: containerd knows mirrors of registries only', () => {
  expect(merged([entry('a.io/x/y', ['m.io/t/x/y'])])).toEqual([
    { source: 'a.io', mirrors: [mirror('m.io/t')], sourcePolicy: allow },
  ]);
});

test('sorts sets by source in byte order', () => {
  const sources = ['b.io', 'a.io:5000', 'a.io', 'a-b.io', '10.0.0.1', 'z'];
  const sets = merged(sources.map(source => entry(source, [])));
  expect(sets.map(({ source }) => source)).toEqual(['10.0.0.1', 'a-b.io', 'a.io', 'a.io:5000', 'b.io', 'z']);
});

test('MIR-03: mirrors stay in the order of the administrator', () => {
  const listed = ['n.io', 'm.io/b', 'm.io', 'm.io/B', 'm.io:1', 'm-1.io'];
  const [set] = merged([entry('a.io', listed)]);
  expect(set?.mirrors.map(({ host }) => host)).toEqual(listed);
});

test('MIR-03: entries of one registry share an order that suits them all; the earlier wins where they contradict', () => {
  const hosts = (...lists: string[][]) =>
    merged(lists.map(list => entry('a.io', list)))[0]?.mirrors.map(({ host }) => host);
  expect(hosts(['n.io', 'm.io'], ['o.io', 'n.io'])).toEqual(['o.io', 'n.io', 'm.io']);
  expect(hosts(['n.io', 'm.io'], ['m.io', 'o.io', 'n.io'])).toEqual(['n.io', 'm.io', 'o.io']);
});

test('digest sets come before tag sets, and sets of a kind by name', () => {
  const objects = [
    tagSet('a', [entry('s.io', ['t.io'])]),
    digestSet('z', [entry('s.io', ['z.io'])]),
    digestSet('b', [entry('s.io', ['b.io'])]),
  ];
  const hosts = mergeEntries(readMirrorEntries(objects).entries)[0]?.mirrors.map(({ host }) => host);
  expect(hosts).toEqual(['b.io', 'z.io', 't.io']);
});

test('unites the mirrors of all entries of one host', () => {
  const digests = [entry('a.io/x', ['m.io/x', 'o.io/x']), entry('a.io/y', ['n.io/y'])];
  expect(merged(digests)[0]?.mirrors).toEqual([mirror('m.io'), mirror('o.io'), mirror('n.io')]);
});

test('keeps hosts with different ports apart', () => {
  expect(merged([entry('a.io:1', ['m.io']), entry('a.io:2', ['n.io']), entry('a.io', [])])).toHaveLength(3);
});

test('takes hosts in other capitals for one, as Windows takes their directories', () => {
  const sets = merged([entry('A.io', ['m.io']), entry('a.IO', ['n.io'])]);
  expect(sets.map(({ source }) => source)).toEqual(['a.io']);
});

test('names a mirror once, however often it is listed', () => {
  const again = entry('a.io/x', ['m.io/x', 'm.io/x', 'https://m.io/x', 'M.io/x']);
  expect(merged([again, again])[0]?.mirrors).toEqual([mirror('m.io')]);
});

test('takes both names of Docker Hub for one mirror', () => {
  expect(merged([entry('a.io', ['registry-1.docker.io', 'docker.io'])])[0]?.mirrors).toEqual([mirror('docker.io')]);
});

const tags: [name: string, digests: Entry[], tags: Entry[], want: ReturnType<typeof mirror>[]][] = [
  ['digest entries alone', [entry('a.io', ['m.io'])], [], [mirror('m.io')]],
  ['tag entries alone', [], [entry('a.io', ['m.io'])], [mirror('m.io', true)]],
  ['tag beats digest', [entry('a.io/x', ['m.io/x'])], [entry('a.io/y', ['m.io/y'])], [mirror('m.io', true)]],
  [
    'other mirrors stay as they are',
    [entry('a.io', ['n.io'])],
    [entry('a.io', ['m.io'])],
    [mirror('n.io'), mirror('m.io', true)],
  ],
  ['other sources stay as they are', [entry('a.io', ['m.io'])], [entry('b.io', ['m.io'])], [mirror('m.io')]],
];

for (const [name, digests, tagEntries, want] of tags) {
  test(`tags: ${name}`, () => expect(merged(digests, tagEntries)[0]?.mirrors).toEqual(want));
}

const policies: [name: string, given: (string | undefined)[], want: string][] = [
  ['unset is Allow', [undefined], allow],
  ['empty is Allow', [''], allow],
  ['Never alone', [never], never],
  ['Allow, then Never', [allow, never], never],
  ['Never, then Allow', [never, allow], never],
  ['unset, then Never', [undefined, never], never],
  ['empty, then Never', ['', never], never],
  ['Never, then unset', [never, undefined], never],
  ['unset, then Allow', [undefined, allow], allow],
  ['Never among many', [allow, undefined, never, '', allow], never],
];

for (const [name, given, want] of policies) {
  test(`policy: ${name} gives ${want}`, () => {
    const entries = given.map((policy, index) => entry(`a.io/${index}`, [`m.io/${index}`], policy));
    expect(merged(entries)[0]?.sourcePolicy).toBe(want);
    expect(merged([], entries)[0]?.sourcePolicy).toBe(want);
  });
}

test('policy: Never of a digest entry holds for tag entries, and of an entry without mirrors for the others', () => {
  expect(merged([entry('a.io/x', [], never)], [entry('a.io/y', ['m.io/y'])])[0]?.sourcePolicy).toBe(never);
});

test('policy: Never of one source does not hold for another', () => {
  expect(merged([entry('a.io', ['m.io'], never), entry('b.io', ['m.io'])]).map(set => set.sourcePolicy)).toEqual([
    never,
    allow,
  ]);
});

const someEntry = fc.record({
  source: fc.constantFrom('a.io/x', 'a.io', 'b.io:5000/y', 'A.io/z'),
  mirrors: fc.array(fc.constantFrom('m.io/x', 'm.io/y', 'n.io', 'docker.io', 'registry-1.docker.io/x'), {
    maxLength: 3,
  }),
  mirrorSourcePolicy: fc.constantFrom(allow, never, ''),
});

test('the order of objects never changes the result', () => {
  const lists = fc.array(fc.array(someEntry, { maxLength: 3 }), { maxLength: 5 });
  fc.assert(
    fc.property(lists, fc.nat(), (given, turn) => {
      const objects = given.map((list, index) => (index % 2 === 0 ? digestSet : tagSet)(`s${index}`, list));
      const turned = objects.flatMap((_, index) => objects[(index + turn) % objects.length] ?? []);
      const result = (sets: typeof objects) => mergeEntries(readMirrorEntries(sets).entries);
      expect(result(turned)).toEqual(result(objects));
      expect(result(objects.toReversed())).toEqual(result(objects));
    }),
    { numRuns: 1000 },
  );
});

test('a single entry of a registry always keeps its order', () => {
  const mirrors = fc.uniqueArray(fc.constantFrom('m.io', 'n.io/t', 'o.io:5000', 'a.io', 'docker.io', 'z.io'));
  fc.assert(
    fc.property(mirrors, list => {
      expect(merged([], [entry('s.io', list)])[0]?.mirrors.map(({ host }) => host)).toEqual(list);
    }),
  );
});
