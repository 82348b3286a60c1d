import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Json, type Sandbox, startSandbox } from '../../../../test/kit/sandbox.ts';

const path = '/api/v1/namespaces/default/configmaps';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const metadataOf = (object: Json) => object['metadata'] as Record<string, unknown>;
const versionOf = (object: Json) => Number(metadataOf(object)['resourceVersion']);

test('accepts an update without resourceVersion or with 0', async () => {
  await sandbox.make(`POST ${path}`, { metadata: { name: 'blind' } });
  await sandbox.make(`PUT ${path}/blind`, { metadata: { name: 'blind' }, data: { k: '1' } });
  await sandbox.make(`PUT ${path}/blind`, { metadata: { name: 'blind', resourceVersion: '0' }, data: { k: '2' } });
  expect(await sandbox.make(`GET ${path}/blind`)).toMatchObject({ data: { k: '2' } });
});

test('rejects a version that is none', async () => {
  await sandbox.make(`POST ${path}`, { metadata: { name: 'odd' } });
  expect(await sandbox.send(`PUT ${path}/odd`, { metadata: { name: 'odd', resourceVersion: 'x' } })).toMatchObject({
    code: 500,
    body: { message: 'strconv.ParseUint: parsing "x": invalid syntax' },
  });
});

test('lets one of many win who write at once', async () => {
  const made = await sandbox.make(`POST ${path}`, { metadata: { name: 'race' } });
  const { resourceVersion } = metadataOf(made);
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      sandbox.send(`PUT ${path}/race`, { metadata: { name: 'race', resourceVersion }, data: { k: String(index) } }),
    ),
  );
  expect(outcomes.filter(({ code }) => code === 200)).toHaveLength(1);
  expect(outcomes.filter(({ code }) => code === 409)).toHaveLength(19);
});

test('counts generations by what is wanted, not by what is noted', async () => {
  const made = await sandbox.make(`POST ${budgets}`, { metadata: { name: 'g' }, spec: { minAvailable: 1 } });
  const steps: [Json, string, number][] = [
    [{ metadata: { labels: { a: 'b' } } }, '', 1],
    [{ spec: { minAvailable: 1 } }, '', 1],
    [{ spec: { minAvailable: 2 } }, '', 2],
    [{ status: { currentHealthy: 1 } }, '/status', 2],
    [{ status: { currentHealthy: 2 } }, '', 2],
    [{ spec: { minAvailable: 3 } }, '/status', 2],
    [{ spec: { selector: { matchLabels: { a: 'b' } } } }, '', 3],
  ];
  expect(metadataOf(made)['generation']).toBe(1);
  for (const [body, subresource, generation] of steps) {
    const changed = await sandbox.make(`PATCH ${budgets}/g${subresource}`, body);
    expect(metadataOf(changed)['generation']).toBe(generation);
  }
});

test('does not write an unchanged object with any method', async () => {
  const made = await sandbox.make(`POST ${path}`, { metadata: { name: 'same', labels: { a: 'b' } }, data: { k: 'v' } });
  const ways: [string, unknown, Record<string, string>?][] = [
    [`PUT ${path}/same`, { metadata: { name: 'same', labels: { a: 'b' } }, data: { k: 'v' } }],
    [`PUT ${path}/same`, made],
    [`PATCH ${path}/same`, { data: { k: 'v' } }],
    [
      `PATCH ${path}/same`,
      [{ op: 'replace', path: '/data/k', value: 'v' }],
      { 'content-type': 'application/json-patch+json' },
    ],
    [`PATCH ${path}/same`, { data: { k: 'v' } }, { 'content-type': 'application/strategic-merge-patch+json' }],
  ];
  for (const [request, body, headers] of ways)
    expect(versionOf(await sandbox.make(request, body, headers))).toBe(versionOf(made));
  expect(versionOf(await sandbox.make(`PATCH ${path}/same`, { data: { k: 'w' } }))).toBeGreaterThan(versionOf(made));
});

test('creates by PUT what may be created so, with 201, and only under its own path', async () => {
  const endpoints = '/api/v1/namespaces/default/endpoints';
  expect((await sandbox.send(`PUT ${endpoints}/e`, { metadata: { name: 'e' } })).code).toBe(201);
  expect((await sandbox.send(`PUT ${endpoints}/e`, { metadata: { name: 'e' }, subsets: [] })).code).toBe(200);
  expect((await sandbox.send(`PUT ${endpoints}/f`, { metadata: { name: 'g' } })).code).toBe(400);
  expect((await sandbox.send('PUT /api/v1/namespaces/none/endpoints/e', { metadata: { name: 'e' } })).code).toBe(404);
  expect((await sandbox.send('PUT /api/v1/nodes/n/status', { metadata: { name: 'n' } })).code).toBe(404);
});

test('deletes an object with its last finalizer, also by PUT', async () => {
  const made = await sandbox.make(`POST ${path}`, { metadata: { name: 'last', finalizers: ['a.b/c'] } });
  await sandbox.make(`DELETE ${path}/last`);
  const gone = await sandbox.make(`PUT ${path}/last`, { metadata: { name: 'last' } });
  expect(metadataOf(gone)['uid']).toBe(metadataOf(made)['uid']);
  expect((await sandbox.send(`GET ${path}/last`)).code).toBe(404);
});

test('keeps a going object on a dry run', async () => {
  await sandbox.make(`POST ${path}`, { metadata: { name: 'stays', finalizers: ['a.b/c'] } });
  await sandbox.make(`DELETE ${path}/stays`);
  await sandbox.make(`PATCH ${path}/stays?dryRun=All`, { metadata: { finalizers: [] } });
  expect((await sandbox.send(`GET ${path}/stays`)).code).toBe(200);
});

test('removes finalizers of a namespace only by the finalize subresource', async () => {
  await sandbox.make('POST /api/v1/namespaces', { metadata: { name: 'fin' } });
  await sandbox.make('DELETE /api/v1/namespaces/fin');
  expect(await sandbox.make('GET /api/v1/namespaces/fin')).toMatchObject({ status: { phase: 'Terminating' } });
  await sandbox.make('PUT /api/v1/namespaces/fin', { metadata: { name: 'fin' }, spec: { finalizers: [] } });
  expect((await sandbox.send('GET /api/v1/namespaces/fin')).code).toBe(200);
  await sandbox.make('PUT /api/v1/namespaces/fin/finalize', { metadata: { name: 'fin' }, spec: { finalizers: [] } });
  expect((await sandbox.send('GET /api/v1/namespaces/fin')).code).toBe(404);
});
