import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { clientTo, nodes, pods } from '../../test/kit/scripted-client.ts';
import { type Handler, json, type SeenRequest, startServer } from '../../test/kit/tls-server.ts';
import type { Client } from './client.ts';
import { createClient } from './http-client.ts';
import type { Resource } from './resource.ts';
import type { Identity } from './transport/connection.ts';

const token = 'never-show-this-token';
const withToken: Identity = {
  current: () => Promise.resolve({ authorization: new Secret(`Bearer ${token}`) }),
  renew: () => Promise.resolve(false),
};

const echo: Handler = (request, answer) => json(answer, 200, { metadata: { name: 'echo' }, request });
const place = { namespace: 'ns' };
const pod = { metadata: { name: 'p', namespace: 'ns' } };
const wholePod = { apiVersion: 'v1', kind: 'Pod', ...pod };

const calls: [string, (client: Client) => Promise<unknown>, string, unknown?, string?][] = [
  ['get', c => c.get(pods, 'p', place), 'GET /api/v1/namespaces/ns/pods/p'],
  [
    'get of a subresource',
    c => c.get(pods, 'p', { ...place, subresource: 'scale' }),
    'GET /api/v1/namespaces/ns/pods/p/scale',
  ],
  ['create', c => c.create(pods, pod), 'POST /api/v1/namespaces/ns/pods', wholePod],
  [
    'create in another namespace',
    c => c.create(pods, pod, { namespace: 'other' }),
    'POST /api/v1/namespaces/other/pods',
    wholePod,
  ],
  [
    'create by generated name',
    c => c.create(nodes, { metadata: { generateName: 'n-' } }),
    'POST /api/v1/nodes',
    { apiVersion: 'v1', kind: 'Node', metadata: { generateName: 'n-' } },
  ],
  [
    'create of a subresource',
    c => c.create(pods, pod, { subresource: 'eviction' }),
    'POST /api/v1/namespaces/ns/pods/p/eviction',
    pod,
  ],
  [
    'create of a subresource of another name',
    c => c.create(pods, { metadata: {} }, { ...place, name: 'q', subresource: 'token' }),
    'POST /api/v1/namespaces/ns/pods/q/token',
    { metadata: {} },
  ],
  ['replace', c => c.replace(pods, pod), 'PUT /api/v1/namespaces/ns/pods/p', wholePod],
  [
    'replace of a status',
    c => c.replace(pods, pod, { subresource: 'status' }),
    'PUT /api/v1/namespaces/ns/pods/p/status',
    wholePod,
  ],
  [
    'merge patch',
    c => c.patch(pods, 'p', { type: 'merge', body: { a: null } }, place),
    'PATCH /api/v1/namespaces/ns/pods/p',
    { a: null },
    'application/merge-patch+json',
  ],
  [
    'JSON patch',
    c => c.patch(nodes, 'n', { type: 'json', body: [{ op: 'remove', path: '/a' }] }),
    'PATCH /api/v1/nodes/n',
    [{ op: 'remove', path: '/a' }],
    'application/json-patch+json',
  ],
  [
    'strategic patch',
    c => c.patch(nodes, 'n', { type: 'strategic', body: {} }),
    'PATCH /api/v1/nodes/n',
    {},
    'application/strategic-merge-patch+json',
  ],
  [
    'patch of a status',
    c => c.patch(nodes, 'n', { type: 'merge', body: {} }, { subresource: 'status' }),
    'PATCH /api/v1/nodes/n/status',
    {},
    'application/merge-patch+json',
  ],
  [
    'delete',
    c => c.delete(pods, 'p', place),
    'DELETE /api/v1/namespaces/ns/pods/p',
    { kind: 'DeleteOptions', apiVersion: 'v1' },
  ],
  [
    'delete with conditions',
    c =>
      c.delete(pods, 'p', {
        ...place,
        preconditions: { uid: 'u' },
        propagationPolicy: 'Foreground',
        gracePeriodSeconds: 0,
      }),
    'DELETE /api/v1/namespaces/ns/pods/p',
    {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
    },
  ],
  [
    'list',
    c =>
      c.list(pods, {
        ...place,
        labelSelector: 'a',
        fieldSelector: 'b=c',
        limit: 5,
        resourceVersion: '0',
        resourceVersionMatch: 'NotOlderThan',
      }),
    'GET /api/v1/namespaces/ns/pods?labelSelector=a&fieldSelector=b%3Dc&resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=5',
  ],
  ['list of all namespaces, further', c => c.list(pods, { continue: 'x+/=' }), 'GET /api/v1/pods?continue=x%2B%2F%3D'],
  ['raw get', c => c.raw('GET', '/apis'), 'GET /apis'],
  [
    'raw post',
    c => c.raw('POST', '/a?b=c', { body: [1], contentType: 'application/x' }),
    'POST /a?b=c',
    [1],
    'application/x',
  ],
];
for (const [name, call, line, body, contentType] of calls) {
  test(`${name} is ${line.split('?')[0]}`, async () => {
    const { client, seen } = await clientTo(echo);
    await call(client);
    const [request] = seen as [SeenRequest];
    expect(`${request.method} ${request.path}`).toBe(line);
    expect(request.body === '' ? undefined : JSON.parse(request.body)).toEqual(body);
    expect(request.headers['content-type']).toBe(body === undefined ? undefined : (contentType ?? 'application/json'));
  });
}

test('fills in kind and version of an object, and leaves those it has', async () => {
  const machines: Resource = { group: 'g.io', version: 'v2', plural: 'machines', kind: 'Machine', namespaced: false };
  const { client, seen } = await clientTo(echo);
  await client.create(machines, { metadata: { name: 'm' } });
  await client.replace(machines, { metadata: { name: 'm' } }, { subresource: 'approval' });
  await client.create(machines, { apiVersion: 'other/v1', kind: 'Other', metadata: { name: 'm' } });
  expect(seen.map(({ body }) => JSON.parse(body)).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
    'g.io/v2 Machine',
    'g.io/v2 Machine',
    'other/v1 Other',
  ]);
});

test('sends accept, user-agent and authorization headers', async () => {
  const { client, seen } = await clientTo(echo, { userAgent: 'wmco/1.2', identity: withToken });
  await client.get(nodes, 'n');
  expect(seen[0]?.headers).toMatchObject({
    accept: 'application/json',
    'user-agent': 'wmco/1.2',
    authorization: `Bearer ${token}`,
  });
  expect(seen[0]?.headers['accept-encoding']).toBeUndefined();
});

test('names the field manager of the client in writes', async () => {
  const { client, seen } = await clientTo(echo, { fieldManager: 'mine' });
  await client.create(nodes, { metadata: { name: 'n' } });
  expect(seen.map(request => request.path)).toEqual(['/api/v1/nodes?fieldManager=mine']);
});

test('keeps the path that the address of the server has', async () => {
  const server = await startServer(echo);
  const client = createClient(server.connection({ server: `${server.url}/k8s/clusters/c1` }));
  await client.get(nodes, 'n');
  expect(server.seen[0]?.path).toBe('/k8s/clusters/c1/api/v1/nodes/n');
  await client.close();
  await server.stop();
});

const misuse: [string, (client: Client) => unknown][] = [
  ['get without a name', c => c.get(nodes, '')],
  ['get without a namespace', c => c.get(pods, 'p')],
  ['create without a namespace', c => c.create(pods, { metadata: { name: 'p' } })],
  [
    'create of a subresource without a name',
    c => c.create(pods, { metadata: { namespace: 'ns' } }, { subresource: 'token' }),
  ],
  ['replace without a name', c => c.replace(nodes, { metadata: {} })],
  ['delete without a name, which would be everything', c => c.delete(nodes, '')],
  ['patch of a name with a slash', c => c.patch(nodes, 'a/status', { type: 'merge', body: {} })],
];
for (const [name, call] of misuse) {
  test(`rejects ${name} before anything is sent`, async () => {
    const { client, seen } = await clientTo(echo);
    await expect(Promise.try(() => call(client))).rejects.toMatchObject({ code: 'FIELD_INVALID' });
    expect(seen).toEqual([]);
  });
}

test('gives plain text of raw paths as it is', async () => {
  const { client } = await clientTo(
    (_, answer) => void answer.writeHead(200, { 'content-type': 'text/plain' }).end('ok'),
  );
  expect(await client.raw('GET', '/healthz')).toBe('ok');
});

test('rejects an answer that is not JSON where an object is due', async () => {
  const { client } = await clientTo((_, answer) => void answer.writeHead(200).end('<html>'));
  await expect(client.get(nodes, 'n')).rejects.toMatchObject({
    code: 'API_ANSWER_INVALID',
    message: 'GET /api/v1/nodes/n: the response is not JSON',
  });
});

test('a refusal becomes an error that names the request without its query', async () => {
  const { client } = await clientTo((_, answer) =>
    json(answer, 403, { kind: 'Status', reason: 'Forbidden', message: 'no' }),
  );
  await expect(client.list(pods, { labelSelector: 'secret' })).rejects.toMatchObject({
    name: 'ApiError',
    code: 403,
    reason: 'Forbidden',
    message: 'GET /api/v1/pods: no',
    request: 'GET /api/v1/pods',
  });
});

const leaks: [string, Handler][] = [
  ['a refusal', (_, answer) => json(answer, 403, { kind: 'Status', message: 'no' })],
  ['an answer that is not JSON', (_, answer) => void answer.writeHead(200).end('nonsense')],
  ['a connection that breaks', (_, answer) => void answer.socket?.destroy()],
  ['no answer', () => undefined],
];
for (const [name, handler] of leaks) {
  test(`shows no credential in the error for ${name}`, async () => {
    const { client } = await clientTo(handler, { timeoutMs: 50, identity: withToken });
    const error = (await client.get(nodes, 'n').catch((thrown: unknown) => thrown)) as Error;
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain(token);
  });
}

test('a client that is closed refuses, and can be closed again', async () => {
  const { client } = await clientTo(echo);
  await client.get(nodes, 'n');
  await client.close();
  await client.close();
  await expect(client.get(nodes, 'n')).rejects.toMatchObject({ code: 'API_CLIENT_CLOSED' });
});
