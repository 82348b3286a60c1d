import { type ParityCase, status } from './case.ts';

export const namespaceCases: readonly ParityCase[] = [
  {
    name: 'a new namespace is active',
    steps: [
      {
        send: 'POST /api/v1/namespaces',
        body: { metadata: { name: 'more-{id}' } },
        code: 201,
        gives: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
      },
      {
        send: 'PATCH /api/v1/namespaces/more-{id}',
        body: { spec: { finalizers: [] }, status: { phase: 'Terminating' }, metadata: { labels: { l: 'm' } } },
        code: 200,
        gives: {
          metadata: { labels: { l: 'm' } },
          spec: { finalizers: ['kubernetes'] },
          status: { phase: 'Active' },
        },
      },
      { send: 'DELETE /api/v1/namespaces/more-{id}', code: 200, gives: { status: { phase: 'Terminating' } } },
      { send: 'GET /api/v1/namespaces/more-{id}', code: 404, eventually: true },
    ],
  },
  {
    name: 'empties a terminating namespace and rejects new objects',
    steps: [
      { send: 'POST /api/v1/namespaces', body: { metadata: { name: 'more-{id}' } }, code: 201 },
      {
        send: 'POST /api/v1/namespaces/more-{id}/configmaps',
        body: { metadata: { name: 'a', finalizers: ['example.com/hold'] } },
        code: 201,
      },
      { send: 'DELETE /api/v1/namespaces/more-{id}', code: 200, gives: { metadata: { deletionTimestamp: /./ } } },
      {
        send: 'POST /api/v1/namespaces/more-{id}/configmaps',
        body: { metadata: { name: 'b' } },
        code: 403,
        gives: status(
          'Forbidden',
          'configmaps "b" is forbidden: unable to create new content in namespace more-{id} because it is being terminated',
          { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
        ),
        eventually: true,
      },
      {
        send: 'GET /api/v1/namespaces/more-{id}/configmaps/a',
        code: 200,
        gives: { metadata: { deletionTimestamp: /./ } },
        eventually: true,
      },
      {
        send: 'PATCH /api/v1/namespaces/more-{id}/configmaps/a',
        body: { metadata: { finalizers: null } },
        code: 200,
      },
      { send: 'GET /api/v1/namespaces/more-{id}', code: 404, eventually: true },
    ],
  },
  {
    name: 'never deletes the namespace default',
    steps: [
      {
        send: 'DELETE /api/v1/namespaces/default',
        code: 403,
        gives: status('Forbidden', 'namespaces "default" is forbidden: this namespace may not be deleted'),
      },
    ],
  },
];
