import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyPatch, jsonPatch, mergePatch, strategicPatch } from '../../../../test/kit/parity-cases/case.ts';
import { type Json, refusal, type Sandbox, startSandbox } from '../../../../test/kit/sandbox.ts';
import { configMap } from '../kinds/config.ts';
import { patchKindOf } from './patch.ts';

const path = '/api/v1/namespaces/default/configmaps';
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const patch = (name: string, type: string, body: unknown, query = '') =>
  sandbox.send(`PATCH ${path}/${name}${query}`, body, { 'content-type': type });

const types: [string, string][] = [
  [jsonPatch, 'json'],
  [mergePatch, 'merge'],
  [strategicPatch, 'strategic'],
  [`${mergePatch}; charset=utf-8`, 'merge'],
  ['Application/Merge-Patch+JSON', 'merge'],
];
test.each(types)('knows %s', (type, kind) => expect(patchKindOf(type, { kind: configMap })).toBe(kind));

test('rejects other patch types, and strategic merge for custom resources', () => {
  expect(refusal(() => patchKindOf('application/json', { kind: configMap }))).toEqual([
    415,
    '415: Unsupported Media Type',
  ]);
  expect(refusal(() => patchKindOf('', { kind: configMap }))?.[0]).toBe(415);
  expect(refusal(() => patchKindOf(strategicPatch, { kind: { ...configMap, custom: true } }))).toEqual([
    415,
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json',
  ]);
});

test('rejects a patch that is broken', async () => {
  await sandbox.make(`POST ${path}`, { metadata: { name: 'b' } });
  for (const type of [jsonPatch, mergePatch, strategicPatch]) expect((await patch('b', type, '{bad')).code).toBe(400);
  expect((await patch('b', mergePatch, '[1]')).code).toBe(400);
});

test('server-side apply creates a missing object, and is rejected for one that exists', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' }, data: { x: 'y' } };
  const created = await patch('new', applyPatch, body, '?fieldManager=x');
  expect(created).toMatchObject({ code: 201, body: { data: { x: 'y' } } });
  expect((await patch('new', applyPatch, body, '?fieldManager=x')).code).toBe(415);
  expect((await patch('other', applyPatch, body, '')).code).toBe(422);
});

test('names the patch as the culprit when its result is no object of the kind', async () => {
  await sandbox.make(`POST ${path}`, { metadata: { name: 'k' } });
  expect(await patch('k', mergePatch, { data: { k: 1 } })).toMatchObject({
    code: 422,
    body: { reason: 'Invalid', details: { causes: [{ reason: 'FieldValueInvalid', field: 'patch' }] } },
  });
  expect((await patch('k', mergePatch, { kind: 'Secret' })).code).toBe(422);
});

test('patches one subresource without the other parts', async () => {
  await sandbox.make('POST /api/v1/nodes', { metadata: { name: 'n1' }, spec: { providerID: 'a' } });
  const changed = await sandbox.make('PATCH /api/v1/nodes/n1/status', {
    spec: { providerID: 'b' },
    status: { phase: 'x' },
  });
  expect(changed).toMatchObject({ spec: { providerID: 'a' }, status: { phase: 'x' } });
});

test('can take the version for granted, or demand it', async () => {
  const made = await sandbox.make(`POST ${path}`, { metadata: { name: 'd' } });
  const { resourceVersion } = made['metadata'] as Json;
  expect((await patch('d', mergePatch, { metadata: { resourceVersion }, data: { k: '1' } })).code).toBe(200);
  expect((await patch('d', mergePatch, { metadata: { resourceVersion }, data: { k: '2' } })).code).toBe(409);
  expect((await patch('d', mergePatch, { metadata: { resourceVersion: null }, data: { k: '3' } })).code).toBe(200);
});
