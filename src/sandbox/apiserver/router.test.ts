import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../test/kit/sandbox.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.make('POST /api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } });
  await sandbox.make('POST /api/v1/nodes', { metadata: { name: 'n' } });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const ns = '/api/v1/namespaces/default';
const body = { metadata: { name: 'a' } };

const answers: [string, unknown, number][] = [
  [`GET ${ns}/configmaps`, undefined, 200],
  [`GET ${ns}/configmaps/`, undefined, 200],
  [`GET ${ns}/configmaps/a`, undefined, 200],
  ['GET /api/v1/configmaps', undefined, 200],
  ['GET /api/v1/configmaps/a', undefined, 404],
  ['PUT /api/v1/configmaps/a', body, 404],
  ['DELETE /api/v1/configmaps/a', undefined, 404],
  ['POST /api/v1/configmaps', body, 405],
  ['DELETE /api/v1/configmaps', undefined, 405],
  [`PUT ${ns}/configmaps`, body, 405],
  [`PATCH ${ns}/configmaps`, body, 405],
  [`POST ${ns}/configmaps/a`, body, 405],
  [`OPTIONS ${ns}/configmaps`, undefined, 405],
  [`GET ${ns}/configmaps/a/status`, undefined, 404],
  [`GET ${ns}/configmaps/a/b/c`, undefined, 404],
  [`GET ${ns}/nodes`, undefined, 404],
  [`GET ${ns}/nodes/n`, undefined, 404],
  [`GET ${ns}/nothings`, undefined, 404],
  ['GET /api/v1/nodes/n/status', undefined, 200],
  ['POST /api/v1/nodes/n/status', body, 405],
  ['DELETE /api/v1/nodes/n/status', undefined, 405],
  ['GET /api/v1/nodes/n/status/x', undefined, 404],
  ['GET /api/v1/nodes/none/status', undefined, 404],
  ['GET /api/v1/pods/p/status', undefined, 404],
  ['DELETE /api/v1/namespaces', undefined, 405],
  ['DELETE /api/v1/namespaces/default/services', undefined, 405],
  ['GET /apis/apps/v1/daemonsets', undefined, 200],
  ['GET /apis/apps/v1/nothings', undefined, 404],
  ['GET /apis/apps/v2/daemonsets', undefined, 404],
  ['GET /apis/example.com/v1/things', undefined, 404],
  ['GET /apis/example.com', undefined, 404],
  ['GET /api/v2/pods', undefined, 404],
  ['GET /nothing', undefined, 404],
  ['GET /', undefined, 404],
  ['HEAD /api/v1/nodes', undefined, 200],
];
test.each(answers)('answers %s', async (request, sent, code) => {
  expect((await sandbox.send(request, sent)).code).toBe(code);
});

const shapes: [string, unknown][] = [
  ['GET /apis/apps/v1/nothings', { kind: 'Status', reason: 'NotFound', details: {} }],
  ['GET /apis/apps/v2', { kind: 'Status', reason: 'NotFound' }],
  ['GET /api/v2', { kind: 'Status', reason: 'NotFound' }],
];
test.each(shapes)('explains itself at %s', async (request, wanted) => {
  expect((await sandbox.send(request)).body).toMatchObject(wanted as object);
});

const silent = ['/nothing', '/apis/example.com/v1/things', '/apis/example.com', '/apis/example.com/v1'];
test.each(silent)('answers %s with plain text', async path => {
  expect(await sandbox.send(`GET ${path}`)).toEqual({ code: 404, body: '404 page not found\n' });
});

const options: [string, unknown, number, string][] = [
  [`POST ${ns}/configmaps?dryRun=x`, body, 422, 'CreateOptions'],
  [`PUT ${ns}/configmaps/a?dryRun=x`, body, 422, 'UpdateOptions'],
  [`PATCH ${ns}/configmaps/a?dryRun=x`, {}, 422, 'PatchOptions'],
  [`DELETE ${ns}/configmaps/a?dryRun=x`, undefined, 422, 'DeleteOptions'],
];
test.each(options)('rejects the options of %s', async (request, sent, code, kind) => {
  expect(await sandbox.send(request, sent)).toMatchObject({ code, body: { details: { group: 'meta.k8s.io', kind } } });
});

test('reads at a version that is there, and no later one', async () => {
  const { revision } = sandbox.server.store;
  expect((await sandbox.send(`GET ${ns}/configmaps/a?resourceVersion=0`)).code).toBe(200);
  expect((await sandbox.send(`GET ${ns}/configmaps/a?resourceVersion=${revision}`)).code).toBe(200);
  expect((await sandbox.send(`GET ${ns}/configmaps/a?resourceVersion=${revision + 1}`)).code).toBe(504);
  expect((await sandbox.send(`GET ${ns}/configmaps/a?resourceVersion=x`)).code).toBe(500);
});
