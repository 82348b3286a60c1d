import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { awaitsReboot, isUpToDate, marksPatch, needsUpgrade } from './node-marks.ts';

const prefix = 'windowsmachineconfig.openshift.io';
const marked = (version?: string, desired?: string) => ({
  annotations: {
    ...(version !== undefined && { [`${prefix}/version`]: version }),
    ...(desired !== undefined && { [`${prefix}/desired-version`]: desired }),
  } as Record<string, string>,
});

const versions: [string, ReturnType<typeof marked> | undefined, boolean, boolean][] = [
  ['no Node', undefined, false, false],
  ['a Node never finished', marked(), false, false],
  ['a Node that is only on its way', marked(undefined, 'v2'), false, false],
  ['a Node of this version', marked('v2'), true, false],
  ['a Node of this version that is to leave it', marked('v2', 'v3'), true, false],
  ['a Node of an older version', marked('v1'), false, true],
  ['a Node of a newer version', marked('v3'), false, true],
  ['a Node of an older version on its way', marked('v1', 'v2'), false, true],
  ['a Node whose version differs in one letter', marked('v2-dirty'), false, true],
  ['a Node with an empty version', marked(''), false, true],
];
for (const [name, node, upToDate, upgrade] of versions) {
  test(`${name} is ${upToDate ? '' : 'not '}up to date and needs ${upgrade ? 'an' : 'no'} upgrade`, () => {
    expect([isUpToDate(node, 'v2'), needsUpgrade(node, 'v2')]).toEqual([upToDate, upgrade]);
  });
}

test('no Node is both up to date and to be upgraded', () => {
  fc.assert(
    fc.property(fc.option(fc.string(), { nil: undefined }), fc.string(), (version, ours) => {
      const node = marked(version);
      expect(isUpToDate(node, ours) && needsUpgrade(node, ours)).toBe(false);
      expect(isUpToDate(node, ours) || needsUpgrade(node, ours)).toBe(version !== undefined);
    }),
  );
});

const reboots: [string, Record<string, string>, boolean][] = [
  ['no annotation', {}, false],
  ['the empty annotation', { [`${prefix}/reboot-required`]: '' }, true],
  ['an annotation with a value', { [`${prefix}/reboot-required`]: 'false' }, true],
  ['another annotation', { 'reboot-required': '' }, false],
];
for (const [name, annotations, want] of reboots) {
  test(`a Node with ${name} ${want ? 'awaits a' : 'needs no'} reboot`, () => {
    expect(awaitsReboot({ annotations })).toBe(want);
  });
}

const patches: [string, Parameters<typeof marksPatch>[0], object][] = [
  ['nothing', {}, { metadata: {} }],
  ['empty maps', { labels: {}, annotations: {} }, { metadata: {} }],
  ['a label', { labels: { a: 'true' } }, { metadata: { labels: { a: 'true' } } }],
  ['an annotation', { annotations: { a: '' } }, { metadata: { annotations: { a: '' } } }],
  [
    'names with a slash and a tilde, which need no escaping',
    { annotations: { 'a/b~c': '1' } },
    { metadata: { annotations: { 'a/b~c': '1' } } },
  ],
  [
    'a removal beside an addition',
    { labels: { upgrading: null }, annotations: { version: null, desired: 'v2' } },
    { metadata: { labels: { upgrading: null }, annotations: { version: null, desired: 'v2' } } },
  ],
];
for (const [name, marks, want] of patches) {
  test(`patches ${name}`, () => expect(marksPatch(marks)).toEqual(want));
}

/** A merge patch as RFC 7386 describes it, for maps of texts. */
function merge(
  map: Record<string, string> | undefined,
  patch: Record<string, string | null> | undefined,
): Map<string, string | null> {
  return new Map(Object.entries({ ...map, ...patch }).filter(([, value]) => value !== null));
}

test('works whether or not the Node has labels and annotations yet, and keeps those of others', () => {
  const marks = fc.dictionary(fc.string({ minLength: 1 }), fc.option(fc.string(), { nil: null }));
  const map = fc.option(fc.dictionary(fc.string({ minLength: 1 }), fc.string()), { nil: undefined });
  fc.assert(
    fc.property(map, marks, (existing, labels) => {
      const after = merge(existing, marksPatch({ labels }).metadata.labels);
      for (const [key, value] of Object.entries(labels)) expect(after.get(key) ?? null).toBe(value);
      for (const [key, value] of Object.entries(existing ?? {})) {
        if (!Object.hasOwn(labels, key)) expect(after.get(key)).toBe(value);
      }
    }),
    { numRuns: 300 },
  );
});
