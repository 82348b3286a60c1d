import { expect, test } from 'vitest';
import { refusal } from '../../../test/kit/sandbox.ts';
import { configMap } from './kinds/config.ts';
import type { StoredObject } from './ports.ts';
import { type Form, formOf, includedOf, type View, viewOfMessage, viewOfObject, viewOfPage } from './representation.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const forms: [string, Form][] = [
  ['', 'object'],
  ['*/*', 'object'],
  ['application/*', 'object'],
  ['application/json', 'object'],
  ['APPLICATION/JSON', 'object'],
  ['application/json, text/plain', 'object'],
  ['text/html, application/json;q=0.5', 'object'],
  ['application/vnd.kubernetes.protobuf,application/json', 'object'],
  [table, 'table'],
  ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'table'],
  [`${table},application/json`, 'table'],
  [`application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,${table}`, 'table'],
  ['application/json; as=Table; g=meta.k8s.io; v=v1', 'table'],
  ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'metadata'],
  ['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', 'metadata-list'],
  ['application/json;as=toString;v=v1;g=meta.k8s.io,application/json', 'object'],
  ['application/json;as=Other;v=v1;g=meta.k8s.io,application/json', 'object'],
  ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'object'],
];
test.each(forms)('writes %j as %s', (accept, form) => expect(formOf(accept)).toBe(form));

const refused: [string, string | RegExp][] = [
  ['text/html', '406: Not Acceptable'],
  ['application/vnd.kubernetes.protobuf', '406: Not Acceptable'],
  ['application/json;as=Other;v=v1;g=meta.k8s.io', /^only the following media types are accepted: application\/json/],
  ['application/json;as=Table;v=v9;g=meta.k8s.io', /^only the following media types/],
  ['application/json;as=Table;v=v1;g=other', /^only the following media types/],
];
test.each(refused)('cannot write %j', (accept, message) => {
  const wanted = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(refusal(() => formOf(accept))).toEqual([406, wanted]);
});

test('reads what a row shall show of its object', () => {
  const included = (query: string) => includedOf(new URLSearchParams(query));
  expect(['', 'includeObject=', 'includeObject=Metadata'].map(included)).toEqual(Array(3).fill('Metadata'));
  expect(included('includeObject=Object')).toBe('Object');
  expect(included('includeObject=None')).toBe('None');
  expect(refusal(() => included('includeObject=Some'))).toEqual([
    400,
    `Unable to convert to Table as requested: includeObject: Invalid value: "Some": must be 'Metadata', 'Object', 'None', or empty`,
  ]);
});

const now = Date.parse('2026-01-01T00:01:30Z');
const view = (form: Form, more: Partial<View> = {}): View => ({
  kind: configMap,
  form,
  included: 'Metadata',
  now,
  ...more,
});
const object: StoredObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  data: { k: 'v' },
};
const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
const page = { resourceVersion: '9', items: [object], continue: '', remaining: undefined };

test('shows an object as it is or as a table of one row', () => {
  expect(viewOfObject(view('object'), object)).toBe(object);
  expect(viewOfObject(view('table'), object)).toMatchObject({
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [
      { name: 'Name', type: 'string', format: 'name', priority: 0, description: '' },
      { name: 'Data', type: 'string', format: '', priority: 0 },
      { name: 'Age', type: 'string', format: '', priority: 0 },
    ],
    rows: [{ cells: ['a', 1, '90s'], object: partial }],
  });
});

test('shows of an object in a table what was asked for', () => {
  expect(viewOfObject(view('table', { included: 'Object' }), object)).toMatchObject({ rows: [{ object }] });
  expect(viewOfObject(view('table', { included: 'None' }), object)).toMatchObject({ rows: [{ object: null }] });
});

test('shows a list with the kind in items of custom resources only', () => {
  const { apiVersion: _a, kind: _k, ...bare } = object;
  expect(viewOfPage(view('object'), page)).toEqual({
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '9' },
    items: [bare],
  });
  const custom = { ...configMap, custom: true, group: 'example.com', kind: 'Thing' };
  expect(viewOfPage(view('object', { kind: custom }), page)).toMatchObject({
    kind: 'ThingList',
    apiVersion: 'example.com/v1',
    items: [object],
  });
});

test('shows the continue token and the remaining count', () => {
  const first = { ...page, continue: 't', remaining: 3 };
  const metadata = { resourceVersion: '9', continue: 't', remainingItemCount: 3 };
  for (const form of ['object', 'table'] as const) expect(viewOfPage(view(form), first)).toMatchObject({ metadata });
});

test('shows an empty table', () => {
  expect(viewOfPage(view('table'), { ...page, items: [] })).toMatchObject({ kind: 'Table', rows: [] });
});

const added = { type: 'ADDED', object } as const;
test('streams objects as they are', () => expect(viewOfMessage(view('object'), added, true)).toBe(added));

test('streams tables, naming the columns once', () => {
  const [first, second] = [true, false].map(isFirst => viewOfMessage(view('table'), added, isFirst));
  expect(first).toMatchObject({ type: 'ADDED', object: { kind: 'Table', rows: [{ cells: ['a', 1, '90s'] }] } });
  expect(first).toMatchObject({ object: { columnDefinitions: [{ name: 'Name' }, {}, {}] } });
  expect(second).toMatchObject({ object: { columnDefinitions: null, rows: [{}] } });
});

test('streams bookmarks as rows without cells, and errors as they are', () => {
  const bookmark = { type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata: { resourceVersion: '8' } } } as const;
  expect(viewOfMessage(view('table'), bookmark, false)).toMatchObject({
    type: 'BOOKMARK',
    object: { kind: 'Table', metadata: { resourceVersion: '8' }, rows: [{ cells: [] }] },
  });
  const error = { type: 'ERROR', object: { kind: 'Status', code: 410 } } as const;
  expect(viewOfMessage(view('table'), error, true)).toBe(error);
});

test('shows the metadata of objects, lists and watch messages', () => {
  expect(viewOfObject(view('metadata'), object)).toEqual(partial);
  const list = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '9' } };
  expect(viewOfPage(view('metadata-list'), page)).toEqual({ ...list, items: [partial] });
  expect(viewOfPage(view('metadata-list'), { ...page, items: [] })).toEqual({ ...list, items: null });
  expect(viewOfMessage(view('metadata'), { type: 'ADDED', object }, true)).toEqual({ type: 'ADDED', object: partial });
  const bookmark = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: '9' } };
  expect(viewOfMessage(view('metadata'), { type: 'BOOKMARK', object: bookmark }, false)).toEqual({
    type: 'BOOKMARK',
    object: { ...partial, metadata: { resourceVersion: '9' } },
  });
  expect(viewOfMessage(view('metadata-list'), { type: 'ADDED', object }, true)).toEqual({ type: 'ADDED', object });
});

test('rejects the metadata of a list as an object and of an object as a list', () => {
  expect(refusal(() => viewOfPage(view('metadata'), page))).toEqual([
    406,
    'you requested PartialObjectMetadata, but the requested object is a list',
  ]);
  expect(refusal(() => viewOfObject(view('metadata-list'), object))).toEqual([
    406,
    'you requested PartialObjectMetadataList, but the requested object is not a list',
  ]);
});
