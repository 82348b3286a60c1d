import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '#contract/object.ts';
import { allow, digestSet, type EntryText, entry, never, tagSet } from '../../../../test/kit/mirror-sets.ts';
import { mirrorCaveats } from './caveats.ts';

const of = (...entries: EntryText[]) => [digestSet('d', entries)];
const first = 'ImageDigestMirrorSet d: spec.imageDigestMirrors[0]';
const second = 'ImageDigestMirrorSet d: spec.imageDigestMirrors[1]';

const quiet: [name: string, objects: KubeObject[]][] = [
  ['no objects', []],
  ['a whole registry with one mirror', of(entry('a.io', ['m.io/team']))],
  ['an entry without mirrors', of(entry('a.io', []))],
  ['mirrors in any order', of(entry('a.io', ['o.io/x', 'm.io', 'n.io']))],
  ['one mirror listed twice', of(entry('a.io', ['n.io', 'n.io']))],
  ['two registries with different mirrors', of(entry('a.io', ['m.io']), entry('b.io', ['n.io'], never))],
  ['one entry twice', of(entry('a.io', ['m.io', 'n.io']), entry('a.io', ['m.io', 'n.io'], allow))],
  ['entries that are refused anyway', of(entry('*.io/x', ['z.io', 'a.io']))],
];

for (const [name, objects] of quiet)
  test(`nothing to say about ${name}`, () => expect(mirrorCaveats(objects)).toEqual([]));

const whole = (host: string, repositories: string) =>
  `${host}: Windows nodes use the mirrors for the whole registry, not only for ${repositories}`;
const shared = (host: string, entries: string) =>
  `${host}: on Windows nodes the mirrors and policy of each entry hold for the others as well (${entries})`;

const told: [name: string, objects: KubeObject[], want: string[]][] = [
  ['a repository as source', of(entry('a.io/x', ['m.io/x'])), [whole('a.io', 'a.io/x')]],
  [
    'several repositories of one registry, in one sentence',
    of(entry('a.io/x', ['m.io/x']), entry('a.io/y', ['m.io/y']), entry('a.io/x', ['m.io/x'])),
    [whole('a.io', 'a.io/x, a.io/y')],
  ],
  [
    'repositories of two registries, in the order of their names',
    of(entry('b.io/x', ['m.io/x']), entry('a.io/y', ['m.io/y'])),
    [whole('a.io', 'a.io/y'), whole('b.io', 'b.io/x')],
  ],
  [
    'two entries of one registry with different mirrors',
    of(entry('a.io', ['m.io']), entry('a.io', ['n.io'])),
    [shared('a.io', `${first}; ${second}`)],
  ],
  [
    'two entries of one registry with different policies',
    of(entry('a.io', ['m.io']), entry('a.io', ['m.io'], never)),
    [shared('a.io', `${first}; ${second}`)],
  ],
  [
    'a digest and a tag entry of one registry',
    [...of(entry('a.io', ['m.io'])), tagSet('t', [entry('a.io', ['m.io'])])],
    [shared('a.io', `${first}; ImageTagMirrorSet t: spec.imageTagMirrors[0]`)],
  ],
  [
    'the same mirrors in another order: only the order',
    of(entry('a.io', ['m.io', 'n.io']), entry('a.io', ['n.io', 'm.io'])),
    [
      `${second}: Windows nodes try the mirrors in the order of an earlier entry (m.io, n.io), not as listed (n.io, m.io)`,
    ],
  ],
  [
    'a mirror that does not end like the source',
    of(entry('a.io/ubi9/ubi-minimal', ['example.io/example/ubi-minimal'])),
    [
      whole('a.io', 'a.io/ubi9/ubi-minimal'),
      `${first}: Windows nodes look for a.io/ubi9/ubi-minimal at example.io/example/ubi9/ubi-minimal, not at example.io/example/ubi-minimal`,
    ],
  ],
  [
    'a mirror without the path of the source',
    of(entry('a.io/x', ['m.io'])),
    [whole('a.io', 'a.io/x'), `${first}: Windows nodes look for a.io/x at m.io/x, not at m.io`],
  ],
];

for (const [name, objects, want] of told)
  test(`reports about ${name}`, () => expect(mirrorCaveats(objects)).toEqual(want));

test('reports all that holds for one entry', () => {
  const caveats = mirrorCaveats(of(entry('a.io/x', ['z.io/x', 'm.io/x']), entry('a.io/x', ['m.io/x', 'z.io'], never)));
  expect(
    caveats.map(text => text.replace(/^.*?: (?:on )?Windows nodes (\w+ \w+).*$/s, '$1').replace(/^.*: /, '')),
  ).toEqual(['use the', 'the mirrors', 'try the', 'look for']);
});

test('takes both names of Docker Hub for one', () => {
  expect(mirrorCaveats(of(entry('a.io', ['registry-1.docker.io', 'docker.io'])))).toEqual([]);
});

test('reports each thing once', () => {
  const some = fc.record({
    source: fc.constantFrom('a.io', 'a.io/x', 'b.io/y'),
    mirrors: fc.uniqueArray(fc.constantFrom('m.io/x', 'n.io', 'o.io/y'), { maxLength: 3 }),
    mirrorSourcePolicy: fc.constantFrom('', never),
  });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 4 }), list => {
      const caveats = mirrorCaveats([tagSet('t', list)]);
      expect(new Set(caveats).size).toBe(caveats.length);
    }),
    { numRuns: 500 },
  );
});
