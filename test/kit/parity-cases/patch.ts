import { core, given, jsonPatch, mergePatch, type ParityCase, status, strategicPatch } from './case.ts';

const a = `PATCH ${core}/configmaps/a`;

export const patchCases: readonly ParityCase[] = [
  {
    name: 'merges a patch and removes by null',
    steps: [
      given('a', { data: { k: 'v', l: 'w' } }, { labels: { x: '1' } }),
      {
        send: a,
        body: { data: { k: null, m: 'n' }, metadata: { labels: { y: '2' } } },
        code: 200,
        gives: { data: { l: 'w', m: 'n' }, metadata: { labels: { x: '1', y: '2' } } },
        lacks: ['data.k'],
      },
    ],
  },
  {
    name: 'writes nothing for an empty patch',
    steps: [
      { ...given('a'), keep: { version: 'metadata.resourceVersion' } },
      { send: a, body: {}, code: 200, gives: { metadata: { resourceVersion: '{version}' } } },
      { send: a, body: [], type: jsonPatch, code: 200, gives: { metadata: { resourceVersion: '{version}' } } },
    ],
  },
  {
    name: 'applies the operations of a JSON patch in order',
    steps: [
      given('a', { data: { k: 'v' } }),
      {
        send: a,
        type: jsonPatch,
        body: [
          { op: 'test', path: '/data/k', value: 'v' },
          { op: 'add', path: '/data/l', value: 'w' },
          { op: 'remove', path: '/data/k' },
          { op: 'add', path: '/metadata/labels', value: { 'x.y/z': '1' } },
          { op: 'replace', path: '/metadata/labels/x.y~1z', value: '2' },
        ],
        code: 200,
        gives: { data: { l: 'w' }, metadata: { labels: { 'x.y/z': '2' } } },
        lacks: ['data.k'],
      },
    ],
  },
  {
    name: 'rejects a JSON patch that cannot be applied',
    steps: [
      given('a', { data: { k: 'v' } }),
      {
        send: a,
        type: jsonPatch,
        body: [{ op: 'test', path: '/data/k', value: 'w' }],
        code: 422,
        gives: status('Invalid'),
      },
      { send: a, type: jsonPatch, body: [{ op: 'remove', path: '/data/none' }], code: 422, gives: status('Invalid') },
      { send: `GET ${core}/configmaps/a`, code: 200, gives: { data: { k: 'v' } } },
    ],
  },
  {
    name: 'merges lists of a strategic patch by their keys',
    steps: [
      {
        send: `POST ${core}/services`,
        body: { metadata: { name: 'a' }, spec: { clusterIP: 'None', ports: [{ name: 'p', port: 80 }] } },
        code: 201,
      },
      {
        send: `PATCH ${core}/services/a`,
        type: strategicPatch,
        body: { spec: { ports: [{ name: 'q', port: 81 }] } },
        code: 200,
        gives: { spec: { ports: [{ name: 'q' }, { name: 'p' }] } },
      },
      {
        send: `PATCH ${core}/services/a`,
        type: strategicPatch,
        body: { spec: { ports: [{ $patch: 'delete', port: 80 }] } },
        code: 200,
        gives: { spec: { ports: [{ name: 'q', port: 81 }] } },
      },
    ],
  },
  {
    name: 'replaces lists of a strategic patch that have no key',
    steps: [
      {
        send: `POST ${core}/serviceaccounts`,
        body: { metadata: { name: 'a' }, imagePullSecrets: [{ name: 's' }] },
        code: 201,
      },
      {
        send: `PATCH ${core}/serviceaccounts/a`,
        type: strategicPatch,
        body: { imagePullSecrets: [{ name: 't' }] },
        code: 200,
        gives: { imagePullSecrets: [{ name: 't' }] },
      },
    ],
  },
  {
    name: 'merges conditions of a node by type',
    steps: [
      { send: 'POST /api/v1/nodes', body: { metadata: { name: 'n-{id}' } }, code: 201 },
      {
        send: 'PATCH /api/v1/nodes/n-{id}/status',
        type: strategicPatch,
        body: { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'r' }] } },
        code: 200,
        gives: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      },
      {
        send: 'PATCH /api/v1/nodes/n-{id}/status',
        type: strategicPatch,
        body: { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
        code: 200,
        gives: { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'r' }] } },
      },
      { send: 'DELETE /api/v1/nodes/n-{id}', code: 200 },
    ],
  },
  {
    name: 'rejects a patch of a missing object',
    steps: [{ send: a, body: {}, code: 404, gives: status('NotFound', 'configmaps "a" not found') }],
  },
  {
    name: 'rejects a patch of an unknown type',
    steps: [
      given('a'),
      { send: a, body: {}, type: 'application/json', code: 415, gives: status('UnsupportedMediaType') },
      { send: a, body: {}, type: 'application/nothing', code: 415, gives: status('UnsupportedMediaType') },
    ],
  },
  {
    name: 'rejects a patch of name, namespace or uid',
    steps: [
      given('a'),
      {
        send: a,
        body: { metadata: { name: 'b' } },
        code: 400,
        gives: status('BadRequest', 'the name of the object (b) does not match the name on the URL (a)'),
      },
      { send: a, body: { metadata: { namespace: 'other' } }, code: 400, gives: status('BadRequest') },
      {
        send: a,
        body: { metadata: { uid: 'other' } },
        code: 422,
        gives: status('Invalid', /metadata.uid: Invalid value: "other": field is immutable/),
      },
    ],
  },
  {
    name: 'rejects a patch with another resourceVersion',
    steps: [
      given('a'),
      { send: a, body: { metadata: { resourceVersion: '1' } }, code: 409, gives: status('Conflict') },
    ],
  },
  {
    name: 'rejects a patch with an invalid result',
    steps: [given('a'), { send: a, body: { data: { k: 1 } }, code: 422, gives: status('Invalid') }],
  },
  {
    name: 'rejects force except for apply',
    steps: [
      given('a'),
      {
        send: `${a}?force=true`,
        body: {},
        type: mergePatch,
        code: 422,
        gives: status('Invalid', /force: Forbidden: may not be specified for non-apply patch/),
      },
    ],
  },
  {
    name: 'stores nothing on a dry run of a patch',
    steps: [
      given('a'),
      { send: `${a}?dryRun=All`, body: { data: { k: 'v' } }, code: 200, gives: { data: { k: 'v' } } },
      { send: `GET ${core}/configmaps/a`, code: 200, lacks: ['data'] },
    ],
  },
];
