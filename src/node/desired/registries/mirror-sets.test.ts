import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '#contract/object.ts';
import { allow, digestSet, entry, mirrorSet, never, tagSet } from '../../../../test/kit/mirror-sets.ts';
import { printLocation } from './locations.ts';
import { readMirrorEntries } from './mirror-sets.ts';

/** Entries in short: source, mirrors, policy, and whether tags are resolved. */
function summary(...objects: KubeObject[]) {
  const { entries, warnings } = readMirrorEntries(objects);
  return {
    entries: entries.map(({ source, mirrors, policy, resolvesTags }) => [
      printLocation(source),
      mirrors.map(printLocation),
      policy,
      resolvesTags,
    ]),
    warnings: warnings.map(({ code, message }) => `${code} ${message}`),
  };
}

test('reads nothing from no objects', () => expect(summary()).toEqual({ entries: [], warnings: [] }));

test('mirrors of digests cannot resolve tags, mirrors of tags can', () => {
  expect(
    summary(digestSet('d', [entry('a.io/x', ['m.io/x'], allow)]), tagSet('t', [entry('b.io', ['n.io'], never)])),
  ).toEqual({
    entries: [
      ['a.io/x', ['m.io/x'], allow, false],
      ['b.io', ['n.io'], never, true],
    ],
    warnings: [],
  });
});

test('keeps the order in which entries and mirrors are listed, in objects sorted by kind and name', () => {
  const { entries } = summary(
    tagSet('t', [entry('z.io', ['z1.io', 'a1.io']), entry('y.io', [])]),
    digestSet('d', [entry('x.io', ['b.io'])]),
  );
  expect(entries.map(([source, mirrors]) => [source, mirrors])).toEqual([
    ['x.io', ['b.io']],
    ['z.io', ['z1.io', 'a1.io']],
    ['y.io', []],
  ]);
});

test('reports of each entry where it stands', () => {
  const objects = [digestSet('first', [entry('a.io', []), entry('b.io', [])]), tagSet('second', [entry('c.io', [])])];
  expect(readMirrorEntries(objects).entries.map(({ where }) => where)).toEqual([
    'ImageDigestMirrorSet first: spec.imageDigestMirrors[0]',
    'ImageDigestMirrorSet first: spec.imageDigestMirrors[1]',
    'ImageTagMirrorSet second: spec.imageTagMirrors[0]',
  ]);
});

test.each(['ImageContentSourcePolicy', 'ConfigMap', '__proto__', 'constructor'])('passes over the kind %s', kind => {
  const spec = { imageDigestMirrors: [entry('a.io', ['m.io'])], repositoryDigestMirrors: [entry('a.io', ['m.io'])] };
  expect(summary(mirrorSet(kind, 'x', spec))).toEqual({ entries: [], warnings: [] });
});

test('passes over the list that belongs to the other kind', () => {
  const spec = { imageTagMirrors: [entry('a.io', ['m.io'])] };
  expect(summary(mirrorSet('ImageDigestMirrorSet', 'x', spec))).toEqual({ entries: [], warnings: [] });
});

test.each([undefined, null, {}, { imageDigestMirrors: null }, { imageDigestMirrors: [] }])(
  'reads no entry from spec %j',
  spec => {
    expect(summary(mirrorSet('ImageDigestMirrorSet', 'x', spec))).toEqual({ entries: [], warnings: [] });
  },
);

const policies: [written: unknown, read: string, warned: boolean][] = [
  [undefined, allow, false],
  [null, allow, false],
  ['', allow, false],
  [allow, allow, false],
  [never, never, false],
  ['neverContactSource', allow, true],
  ['Sometimes', allow, true],
];

for (const [written, read, warned] of policies) {
  test(`policy ${JSON.stringify(written)} is read as ${read}${warned ? ' with a warning' : ''}`, () => {
    const { entries, warnings } = summary(
      digestSet('x', [{ source: 'a.io', mirrors: [], mirrorSourcePolicy: written }]),
    );
    expect(entries[0]?.[2]).toBe(read);
    expect(warnings).toHaveLength(warned ? 1 : 0);
    if (warned) expect(warnings[0]).toContain(`spec.imageDigestMirrors[0].mirrorSourcePolicy is "${String(written)}"`);
  });
}

const refused: [name: string, entry: unknown, warning: string][] = [
  [
    'a wildcard source',
    entry('*.example.com', ['m.io']),
    'MIRROR_SET_INVALID ImageDigestMirrorSet bad: spec.imageDigestMirrors[1].source: "*.example.com"',
  ],
  ['a device as source', entry('nul', ['m.io']), '[1].source: "nul"'],
  ['an empty source', entry('', ['m.io']), '[1].source: "" has no registry host'],
  ['no source', { mirrors: ['m.io'] }, '[1].source: "" has no registry host'],
  ['a source that breaks out', entry('a"]\n', []), '[1].source: "a\\"]\\n"'],
  [
    'a source that is a number',
    { source: 7 },
    'FIELD_INVALID ImageDigestMirrorSet bad: spec.imageDigestMirrors[1].source is 7',
  ],
  ['mirrors that are a text', { source: 'a.io', mirrors: 'm.io' }, '[1].mirrors is "m.io", not a list'],
  ['a mirror that is a number', { source: 'a.io', mirrors: ['m.io', 7] }, '[1].mirrors[1] is 7'],
  ['a policy that is a list', { source: 'a.io', mirrorSourcePolicy: [] }, '[1].mirrorSourcePolicy is []'],
  ['an entry that is a text', 'a.io', 'spec.imageDigestMirrors[1] is "a.io", not an object'],
];

for (const [name, bad, warning] of refused) {
  test(`leaves out ${name} and keeps its neighbors`, () => {
    const { entries, warnings } = summary(
      digestSet('bad', [entry('one.io', ['m.io']), bad, entry('two.io', ['n.io'])]),
    );
    expect(entries.map(([source]) => source)).toEqual(['one.io', 'two.io']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(warning);
  });
}

test('leaves out a bad mirror, and only that mirror', () => {
  const { entries, warnings } = summary(tagSet('t', [entry('a.io', ['m.io', 'bad mirror', 'n.io', ''], never)]));
  expect(entries).toEqual([['a.io', ['m.io', 'n.io'], never, true]]);
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toContain('ImageTagMirrorSet t: spec.imageTagMirrors[0].mirrors[1]: "bad mirror"');
  expect(warnings[1]).toContain('spec.imageTagMirrors[0].mirrors[3]: "" has no registry host');
});

test('leaves out an object whose list is no list, and reads the others', () => {
  const { entries, warnings } = summary(digestSet('broken', 'a.io'), digestSet('whole', [entry('a.io', ['m.io'])]));
  expect(entries).toHaveLength(1);
  expect(warnings).toEqual([
    expect.stringContaining('ImageDigestMirrorSet broken: spec.imageDigestMirrors is "a.io", not a list'),
  ]);
});

test('leaves out an object whose spec is no object', () => {
  const { entries, warnings } = summary(mirrorSet('ImageTagMirrorSet', 'broken', 'text'));
  expect(entries).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining('ImageTagMirrorSet broken: spec is "text"')]);
});

test('every warning has a remedy', () => {
  const { warnings } = readMirrorEntries([
    digestSet(
      'x',
      refused.map(([, bad]) => bad),
    ),
    digestSet('y', 'no list'),
    tagSet('z', [entry('a.io', ['"'], 'Sometimes')]),
  ]);
  expect(warnings).toHaveLength(refused.length + 3);
  for (const { remedy } of warnings) expect(remedy.length).toBeGreaterThan(10);
});

test('no object, however broken, throws; good entries among bad ones are always read', () => {
  const junk = fc.oneof(fc.anything(), fc.record({ source: fc.anything(), mirrors: fc.anything() }));
  fc.assert(
    fc.property(fc.array(junk), fc.nat(), (items, at) => {
      const list: unknown[] = items.toSpliced(at % (items.length + 1), 0, entry('good.io', ['m.io']));
      const { entries } = readMirrorEntries([tagSet('fuzz', list)]);
      expect(entries.some(({ source }) => source.host === 'good.io')).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
