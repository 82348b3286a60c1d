import { expect, test } from 'vitest';
import { readObject } from '#contract/object.ts';
import { digestSet, entry, imageConfig, mirrorSet, never, tagSet } from '../../../test/kit/mirror-sets.ts';
import { decide } from './decide.ts';

type Objects = Parameters<typeof decide>[0];

const reasonsOf = (objects: Objects) =>
  decide(objects).flatMap(({ object, events }) => events.map(({ reason }) => `${object.label}: ${reason}`));

const policy = readObject({
  apiVersion: 'operator.openshift.io/v1alpha1',
  kind: 'ImageContentSourcePolicy',
  metadata: { name: 'old' },
});

const cases: [name: string, objects: Objects, want: string[]][] = [
  ['nothing about sets that Windows nodes follow', [digestSet('d', [entry('a.io/x', ['m.io/t/x', 'n.io/x'])])], []],
  ['a wildcard source', [digestSet('d', [entry('*.io', ['m.io'])])], ['ImageDigestMirrorSet d: MirrorIgnored']],
  [
    'a mirror that is no registry',
    [tagSet('t', [entry('a.io', ['bad mirror', 'm.io'])])],
    ['ImageTagMirrorSet t: MirrorIgnored'],
  ],
  [
    'MIR-05: a mirror whose path does not end like the source',
    [digestSet('d', [entry('a.io/x/y', ['m.io/t/y', 'm.io/x/y'])])],
    ['ImageDigestMirrorSet d: MirrorPathDiffers'],
  ],
  [
    'a source that is never contacted and has no mirror, on each set that names it',
    [digestSet('d', [entry('a.io', [], never)]), tagSet('t', [entry('a.io', [])]), tagSet('u', [entry('b.io', [])])],
    ['ImageDigestMirrorSet d: NoMirrorLeft', 'ImageTagMirrorSet t: NoMirrorLeft'],
  ],
  ['the former kind of mirror set', [policy], ['ImageContentSourcePolicy old: MirrorNotUsed']],
  ['nothing about rules that hold', [imageConfig({ insecureRegistries: ['a.io'], blockedRegistries: ['b.io'] })], []],
  [
    'rules that cannot be followed',
    [imageConfig({ insecureRegistries: ['a.io/x'], blockedRegistries: ['b.io/x', '*.c.io'] })],
    ['Image cluster: RegistrySourceIgnored', 'Image cluster: RegistryNotBlocked', 'Image cluster: RegistryNotBlocked'],
  ],
  [
    'a source whose file would have a path that is too long',
    [digestSet('d', [entry(`${Array(4).fill('a'.repeat(59)).join('.')}:5000`, ['m.io']), entry('a.io', ['m.io'])])],
    ['ImageDigestMirrorSet d: MirrorIgnored'],
  ],
  [
    'blocked entries that cannot be read or have a wildcard and a path',
    [imageConfig({ blockedRegistries: ['bad"quote', '*.evil.com/x'] })],
    ['Image cluster: RegistryNotBlocked', 'Image cluster: RegistryNotBlocked'],
  ],
  [
    'an allowed wildcard with a path',
    [imageConfig({ allowedRegistries: ['mcr.microsoft.com', '*.example.com/foo'] })],
    ['Image cluster: RegistrySourceIgnored'],
  ],
  [
    'a mirror that is blocked, on the mirror set',
    [digestSet('d', [entry('a.io', ['m.io'])]), imageConfig({ blockedRegistries: ['m.io'] })],
    ['ImageDigestMirrorSet d: MirrorIgnored'],
  ],
  [
    'the pause image when its registry is blocked, on the image configuration',
    [imageConfig({ blockedRegistries: ['mcr.microsoft.com'] })],
    ['Image cluster: NoMirrorLeft'],
  ],
  [
    'nothing about other images',
    [mirrorSet('Image', 'other', { registrySources: { blockedRegistries: ['a/b'] } })],
    [],
  ],
];
for (const [name, objects, want] of cases) test(`reports ${name}`, () => expect(reasonsOf(objects)).toEqual(want));

test('MIR-05: the event names the path that Windows nodes ask for', () => {
  const set = digestSet('ubi', [entry('registry.io/ubi9/ubi-minimal', ['example.io/example/ubi-minimal'])]);
  expect(decide([set])[0]?.events[0]?.message).toBe(
    'ImageDigestMirrorSet ubi: spec.imageDigestMirrors[0]: Windows nodes look for registry.io/ubi9/ubi-minimal at example.io/example/ubi9/ubi-minimal, not at example.io/example/ubi-minimal. Copy the image to the path that Windows nodes ask for',
  );
});

test('reports at most ten things about one object', () => {
  const set = digestSet(
    'd',
    Array.from({ length: 15 }, (_, index) => entry(`*.${index}.io`, [])),
  );
  const [report] = decide([set]);
  expect(report?.events).toHaveLength(10);
  expect(report?.events.at(-1)?.message).toBe('6 more problems. Run wmco check mirrors to see all');
});

test.each(['bob:s3cret@m.io', 'bob:s3cret/w0rd@m.io', 'bob/s3cret@m.io', 'm.io/a?token=s3cret'])(
  'never shows the password or token of %s',
  text => {
    const objects = [
      digestSet('d', [entry('a.io', [text]), entry(text, [])]),
      imageConfig({ blockedRegistries: [text] }),
    ];
    const reports = decide(objects);
    expect(reports.map(({ events }) => events.length)).toEqual([2, 1]);
    expect(JSON.stringify(reports.map(({ events }) => events))).not.toContain('s3cret');
  },
);
