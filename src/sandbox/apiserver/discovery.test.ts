import { expect, test } from 'vitest';
import { refusal } from '../../../test/kit/sandbox.ts';
import { routePath } from './discovery.ts';
import { Kinds } from './kinds.ts';
import { customKinds } from './kinds/custom.ts';

const version = { major: '1', minor: '33', gitVersion: 'v1.33.1' };
const kinds = new Kinds();
const discovery = { kinds, version, address: '127.0.0.1:6443' };
const json = 'application/json';
const get = (path: string, accept = json) => routePath(discovery, 'GET', path, accept);
const bodyOf = (path: string): unknown => {
  const answer = get(path);
  return answer?.is === 'body' ? answer.body : answer;
};

const texts = ['/healthz', '/livez', '/readyz', '/readyz/ping', '/healthz/etcd'];
test.each(texts)('reports healthy at %s', path => {
  expect(get(path)).toEqual({ is: 'text', code: 200, text: 'ok' });
});

test('reports its version', () => {
  expect(bodyOf('/version')).toMatchObject({ ...version, platform: 'linux/amd64' });
  expect(bodyOf('/version/')).toMatchObject(version);
});

test('lists the versions of the core', () => {
  expect(bodyOf('/api')).toEqual({
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
  });
});

test('lists every group once, with its versions in order', () => {
  const { groups } = bodyOf('/apis') as { groups: { name: string; versions: { version: string }[] }[] };
  const names = groups.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(['apps', 'policy', 'authorization.k8s.io', 'authentication.k8s.io']));
  expect(names).not.toContain('');
  expect(groups.find(({ name }) => name === 'policy')?.versions.map(item => item.version)).toEqual(['v1']);
});

test('describes a group', () => {
  expect(bodyOf('/apis/policy')).toEqual({
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'policy',
    versions: [{ groupVersion: 'policy/v1', version: 'v1' }],
    preferredVersion: { groupVersion: 'policy/v1', version: 'v1' },
  });
});

test('lists the resources of a version with their subresources', () => {
  const { resources, ...rest } = bodyOf('/apis/certificates.k8s.io/v1') as { resources: unknown[] };
  expect(rest).toEqual({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'certificates.k8s.io/v1' });
  const csr = { namespaced: false, kind: 'CertificateSigningRequest' };
  expect(resources).toEqual([
    {
      ...csr,
      name: 'certificatesigningrequests',
      singularName: 'certificatesigningrequest',
      verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['csr'],
    },
    { ...csr, name: 'certificatesigningrequests/approval', singularName: '', verbs: ['get', 'patch', 'update'] },
    { ...csr, name: 'certificatesigningrequests/status', singularName: '', verbs: ['get', 'patch', 'update'] },
  ]);
});

test('reports the group of a subresource body', () => {
  const { resources } = bodyOf('/api/v1') as { resources: { name: string }[] };
  expect(resources).toContainEqual({
    name: 'pods/eviction',
    singularName: '',
    namespaced: true,
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    verbs: ['create'],
  });
  expect(resources.find(({ name }) => name === 'pods')).toMatchObject({ categories: ['all'], shortNames: ['po'] });
});

test('lists questions as resources that are only created', () => {
  const { resources } = bodyOf('/apis/authorization.k8s.io/v1') as { resources: { name: string; verbs: string[] }[] };
  expect(resources.map(({ name, verbs }) => [name, verbs])).toEqual([
    ['localsubjectaccessreviews', ['create']],
    ['selfsubjectaccessreviews', ['create']],
    ['selfsubjectrulesreviews', ['create']],
    ['subjectaccessreviews', ['create']],
  ]);
});

const unknown = [
  '/',
  '/nothing',
  '/api/v2',
  '/api/v1/x/y',
  '/apis/nothing',
  '/apis/apps/v9',
  '/apis/a/b/c',
  '/openapi/v1',
  '/openapi/v3/apis/nothing/v1',
  '/version/x',
];
test.each(unknown)('does not know the path %s', path => expect(get(path)).toBeUndefined());

test('rejects to be written to', () => {
  expect(refusal(() => routePath(discovery, 'POST', '/version', json))?.[0]).toBe(405);
  expect(routePath(discovery, 'HEAD', '/version', json)?.is).toBe('body');
  expect(routePath(discovery, 'POST', '/nothing', json)).toBeUndefined();
});

test('lists custom resources while they exist', () => {
  const own = new Kinds();
  const here = { ...discovery, kinds: own };
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing', singular: 'thing', categories: ['all'] },
      versions: ['v1alpha1', 'v2', 'v1', 'v1beta2', 'v1beta1', 'other'].map((name, index) => ({
        name,
        served: name !== 'v1beta1',
        storage: index === 0,
        schema: { openAPIV3Schema: {} },
      })),
    },
  };
  own.setCustom('things.example.com', customKinds(crd));
  expect(routePath(here, 'GET', '/apis/example.com', json)).toMatchObject({
    body: {
      versions: [
        { version: 'v2' },
        { version: 'v1' },
        { version: 'v1beta2' },
        { version: 'v1alpha1' },
        { version: 'other' },
      ],
      preferredVersion: { version: 'v2' },
    },
  });
  expect(routePath(here, 'GET', '/apis/example.com/v1', json)).toMatchObject({
    body: { resources: [{ name: 'things', namespaced: false, categories: ['all'] }] },
  });
  own.setCustom('things.example.com', []);
  expect(routePath(here, 'GET', '/apis/example.com', json)).toBeUndefined();
});

test('has an OpenAPI v2 document without types, so that kubectl does not validate', () => {
  expect(bodyOf('/openapi/v2')).toEqual({
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1.33.1' },
    paths: {},
    definitions: {},
  });
});

test('describes itself in the binary form that kubectl wants', () => {
  const answer = get('/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf');
  expect(answer).toMatchObject({
    is: 'bytes',
    code: 200,
    contentType: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  });
  const bytes = answer?.is === 'bytes' ? answer.bytes : Buffer.alloc(0);
  // Field 1 is the version of the format, field 2 holds title and version.
  expect(bytes.subarray(0, 5)).toEqual(Buffer.from('\n\u00032.0'));
  expect(bytes.toString()).toContain('Kubernetes');
  expect(bytes.toString()).toContain('v1.33.1');
});
