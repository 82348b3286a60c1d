import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { accessOf, readRequestInfo, type RequestInfo } from './request-info.ts';

const read = (request: string): RequestInfo => {
  const [method = '', target = ''] = request.split(' ');
  const [path = '', query = ''] = target.split('?');
  return readRequestInfo(method, path, new URLSearchParams(query));
};

const core = { path: '', group: '', version: 'v1', namespace: '', name: '', subresource: '', rest: [] };
const resources: [string, Partial<RequestInfo>][] = [
  ['GET /api/v1/nodes', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes/', { verb: 'list', resource: 'nodes' }],
  ['HEAD /api/v1/nodes', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes?watch=true', { verb: 'watch', resource: 'nodes' }],
  ['GET /api/v1/nodes?watch=false', { verb: 'list', resource: 'nodes' }],
  ['GET /api/v1/nodes/n', { verb: 'get', resource: 'nodes', name: 'n' }],
  ['GET /api/v1/nodes/n?watch=true', { verb: 'get', resource: 'nodes', name: 'n' }],
  ['GET /api/v1/nodes/n/status', { verb: 'get', resource: 'nodes', name: 'n', subresource: 'status' }],
  ['GET /api/v1/nodes/n/proxy/a/b', { resource: 'nodes', name: 'n', subresource: 'proxy', rest: ['a', 'b'] }],
  ['POST /api/v1/nodes', { verb: 'create', resource: 'nodes' }],
  ['PUT /api/v1/nodes/n', { verb: 'update', resource: 'nodes', name: 'n' }],
  ['PATCH /api/v1/nodes/n', { verb: 'patch', resource: 'nodes', name: 'n' }],
  ['DELETE /api/v1/nodes/n', { verb: 'delete', resource: 'nodes', name: 'n' }],
  ['DELETE /api/v1/nodes', { verb: 'deletecollection', resource: 'nodes' }],
  ['OPTIONS /api/v1/nodes', { verb: '', resource: 'nodes' }],
  ['GET /api/v1/namespaces', { verb: 'list', resource: 'namespaces' }],
  ['GET /api/v1/namespaces/x', { verb: 'get', resource: 'namespaces', name: 'x' }],
  ['PUT /api/v1/namespaces/x/finalize', { resource: 'namespaces', name: 'x', subresource: 'finalize' }],
  ['GET /api/v1/namespaces/x/status', { resource: 'namespaces', name: 'x', subresource: 'status' }],
  ['GET /api/v1/namespaces/x/pods', { verb: 'list', namespace: 'x', resource: 'pods' }],
  ['GET /api/v1/namespaces/x/pods/p', { verb: 'get', namespace: 'x', resource: 'pods', name: 'p' }],
  [
    'POST /api/v1/namespaces/x/pods/p/eviction',
    { verb: 'create', namespace: 'x', resource: 'pods', name: 'p', subresource: 'eviction' },
  ],
  ['GET /api/v1/nodes?fieldSelector=metadata.name%3Dn', { verb: 'list', resource: 'nodes', name: 'n' }],
  ['GET /api/v1/nodes?watch=1&fieldSelector=metadata.name%3D%3Dn', { verb: 'watch', resource: 'nodes', name: 'n' }],
  ['GET /api/v1/nodes?fieldSelector=spec.x%3Dy,metadata.name%3Dn', { verb: 'list', resource: 'nodes', name: 'n' }],
  ['GET /api/v1/nodes?fieldSelector=metadata.name!%3Dn', { verb: 'list', resource: 'nodes', name: '' }],
  ['GET /api/v1/nodes/a%3Ab', { verb: 'get', resource: 'nodes', name: 'a:b' }],
  ['GET /api/v1/nodes/a%2Fb', { verb: 'get', resource: 'nodes', name: 'a/b' }],
  ['GET /api/v1/nodes/%zz', { verb: 'get', resource: 'nodes', name: '%zz' }],
];
test.each(resources)('reads %s', (request, wanted) =>
  expect(read(request)).toEqual({ ...core, ...read(request), ...wanted }),
);

test('reads groups', () => {
  expect(read('GET /apis/apps/v1/namespaces/x/daemonsets/d/status')).toEqual({
    verb: 'get',
    path: '',
    group: 'apps',
    version: 'v1',
    namespace: 'x',
    resource: 'daemonsets',
    name: 'd',
    subresource: 'status',
    rest: [],
  });
  expect(read('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions')).toMatchObject({
    group: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    verb: 'create',
  });
});

const paths: [string, string, string][] = [
  ['GET /', 'get', '/'],
  ['GET /version', 'get', '/version'],
  ['GET /healthz/ping', 'get', '/healthz/ping'],
  ['POST /metrics', 'post', '/metrics'],
  ['GET /api', 'get', '/api'],
  ['GET /api/v1', 'get', '/api/v1'],
  ['GET /api/v1/', 'get', '/api/v1/'],
  ['GET /apis', 'get', '/apis'],
  ['GET /apis/apps', 'get', '/apis/apps'],
  ['GET /apis/apps/v1', 'get', '/apis/apps/v1'],
];
test.each(paths)('takes %s for a path', (request, verb, path) => {
  expect(read(request)).toMatchObject({ verb, path, resource: '', group: '', version: '' });
});

const user = { username: 'u', groups: [] };
test('converts a request for the authorizer', () => {
  expect(accessOf(read('GET /apis/apps/v1/namespaces/x/daemonsets/d/status'), user)).toEqual({
    user,
    verb: 'get',
    path: '',
    group: 'apps',
    version: 'v1',
    namespace: 'x',
    resource: 'daemonsets',
    name: 'd',
    subresource: 'status',
  });
  expect(accessOf(read('GET /version'), user)).toMatchObject({ verb: 'get', path: '/version', resource: '' });
});

test('sees a namespace as a part of itself, and a group of that name not', () => {
  expect(accessOf(read('GET /api/v1/namespaces/x'), user)).toMatchObject({ namespace: 'x', name: 'x' });
  expect(accessOf(read('GET /api/v1/namespaces'), user)).toMatchObject({ namespace: '' });
  expect(accessOf(read('GET /apis/example.com/v1/namespaces/x'), user)).toMatchObject({ namespace: '' });
});

test('reads every path without failing', () => {
  const part = fc.constantFrom('api', 'apis', 'v1', 'namespaces', 'watch', 'status', 'x', '', '%', '..', 'é');
  fc.assert(
    fc.property(fc.constantFrom('GET', 'POST', 'X'), fc.array(part, { maxLength: 9 }), (method, parts) => {
      const info = readRequestInfo(method, `/${parts.join('/')}`, new URLSearchParams());
      expect((info.path === '') === (info.resource !== '')).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
