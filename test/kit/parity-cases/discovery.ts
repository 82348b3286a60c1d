import type { ParityCase } from './case.ts';

const groups = [
  'apps',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'rbac.authorization.k8s.io',
  'apiextensions.k8s.io',
];

export const discoveryCases: readonly ParityCase[] = [
  {
    name: 'returns its version',
    steps: [{ send: 'GET /version', code: 200, gives: { major: '1', minor: /^\d+/, gitVersion: /^v1\.\d+\.\d+/ } }],
  },
  {
    name: 'is healthy',
    steps: [
      { send: 'GET /healthz', code: 200, gives: 'ok' },
      { send: 'GET /livez', code: 200, gives: 'ok' },
      { send: 'GET /readyz', code: 200, gives: 'ok' },
    ],
  },
  {
    name: 'lists the versions of the core group',
    steps: [
      { send: 'GET /api', code: 200, gives: { kind: 'APIVersions', versions: ['v1'] } },
      { send: 'GET /api/', code: 200, gives: { kind: 'APIVersions' } },
      { send: 'GET /api/v2', code: 404, gives: { kind: 'Status', reason: 'NotFound' } },
    ],
  },
  {
    name: 'lists groups',
    steps: [
      { send: 'GET /apis', code: 200, gives: { kind: 'APIGroupList', apiVersion: 'v1' } },
      ...groups.map(name => ({
        send: `GET /apis/${name}`,
        code: 200,
        gives: {
          kind: 'APIGroup',
          apiVersion: 'v1',
          name,
          preferredVersion: { groupVersion: `${name}/v1`, version: 'v1' },
        },
      })),
      { send: 'GET /apis/nothing.example.com', code: 404 },
    ],
  },
  {
    name: 'lists the resources of a group',
    steps: [
      { send: 'GET /api/v1', code: 200, gives: { kind: 'APIResourceList', groupVersion: 'v1' } },
      {
        send: 'GET /apis/coordination.k8s.io/v1',
        code: 200,
        gives: {
          kind: 'APIResourceList',
          apiVersion: 'v1',
          groupVersion: 'coordination.k8s.io/v1',
          resources: [{ name: 'leases', namespaced: true, kind: 'Lease' }],
        },
      },
      { send: 'GET /apis/apps/v9', code: 404, gives: { reason: 'NotFound' } },
    ],
  },
  {
    name: 'serves OpenAPI for kubectl',
    steps: [{ send: 'GET /openapi/v2', code: 200, gives: { swagger: '2.0', info: { title: 'Kubernetes' } } }],
  },
];
