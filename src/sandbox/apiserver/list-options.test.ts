import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusal } from '../../../test/kit/sandbox.ts';
import { configMap } from './kinds/config.ts';
import { isSelected, isTrue, readListOptions, versionOf } from './list-options.ts';

const read = (query: string) => readListOptions(new URLSearchParams(query), configMap);

test('reads an empty query as a plain list', () => {
  expect(read('')).toEqual({
    labels: [],
    fields: [],
    limit: 0,
    continue: '',
    resourceVersion: undefined,
    match: '',
    watch: false,
    timeoutSeconds: undefined,
    bookmarks: false,
    sendInitialEvents: false,
  });
});

const good: [string, Partial<ReturnType<typeof read>>][] = [
  ['limit=5', { limit: 5 }],
  ['limit=0', { limit: 0 }],
  ['limit=-5', { limit: 0 }],
  ['limit=', { limit: 0 }],
  ['continue=abc', { continue: 'abc' }],
  ['resourceVersion=0', { resourceVersion: 0 }],
  ['resourceVersion=12', { resourceVersion: 12 }],
  ['resourceVersion=', { resourceVersion: undefined }],
  ['resourceVersion=5&resourceVersionMatch=Exact', { match: 'Exact' }],
  ['resourceVersion=0&resourceVersionMatch=NotOlderThan', { match: 'NotOlderThan' }],
  ['watch=true', { watch: true }],
  ['watch=1', { watch: true }],
  ['watch=', { watch: true }],
  ['watch=false', { watch: false }],
  ['watch=False', { watch: false }],
  ['watch=0', { watch: false }],
  ['timeoutSeconds=30', { timeoutSeconds: 30 }],
  ['allowWatchBookmarks=true', { bookmarks: true }],
  [
    'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    { watch: true, sendInitialEvents: true, match: 'NotOlderThan' },
  ],
];
test.each(good)('reads %s', (query, wanted) => expect(read(query)).toMatchObject(wanted));

const bad: [string, number, string | RegExp][] = [
  ['limit=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['limit=1.5', 400, 'strconv.ParseInt: parsing "1.5": invalid syntax'],
  ['timeoutSeconds=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['resourceVersion=x', 500, /^resourceVersion: Invalid value: "x": strconv\.ParseUint: parsing "x": invalid syntax$/],
  ['resourceVersion=-1', 500, /^resourceVersion: Invalid value: "-1"/],
  ['labelSelector=%3D', 400, /unable to parse requirement/],
  ['fieldSelector=x', 400, /can't understand/],
  ['resourceVersion=1&resourceVersionMatch=Some', 422, /Unsupported value: "Some": supported values: "Exact", "NotOld/],
  ['resourceVersionMatch=Exact', 422, /resourceVersionMatch is forbidden unless resourceVersion is provided/],
  [
    'resourceVersion=0&resourceVersionMatch=Exact',
    422,
    /resourceVersionMatch "exact" is forbidden for resourceVersion/,
  ],
  ['watch=1&resourceVersion=1&resourceVersionMatch=Exact', 422, /resourceVersionMatch is forbidden for watch/],
  ['sendInitialEvents=true', 422, /sendInitialEvents is forbidden for list/],
  ['watch=1&sendInitialEvents=true', 422, /requires setting resourceVersionMatch to NotOlderThan/],
  [
    'watch=1&sendInitialEvents=true&resourceVersion=1&resourceVersionMatch=Exact',
    422,
    /requires setting resourceVersi/,
  ],
];
test.each(bad)('rejects %s', (query, code, message) => {
  const wanted = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(refusal(() => read(query))).toEqual([code, wanted]);
});

test('selects by labels and fields together', () => {
  const options = read('labelSelector=a%3Db&fieldSelector=metadata.name%3Dx');
  const object = (name: string, labels: Record<string, string>) =>
    ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels } }) as const;
  expect(isSelected(options, object('x', { a: 'b' }), configMap)).toBe(true);
  expect(isSelected(options, object('y', { a: 'b' }), configMap)).toBe(false);
  expect(isSelected(options, object('x', {}), configMap)).toBe(false);
});

const flags: [string | null, boolean][] = [
  [null, false],
  ['', true],
  ['true', true],
  ['yes', true],
  ['1', true],
  ['0', false],
  ['FALSE', false],
];
test.each(flags)('takes the flag %j as %j', (text, wanted) => expect(isTrue(text)).toBe(wanted));

test('reads every version the server can give out', () => {
  fc.assert(
    fc.property(fc.nat(), version => versionOf(String(version)) === version),
    { numRuns: 200 },
  );
});
