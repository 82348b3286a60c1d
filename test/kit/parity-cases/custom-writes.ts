import { jsonPatch, mergePatch, type ParityCase, status, strategicPatch } from './case.ts';

import { define, make, widget, widgets } from './widget.ts';

export const customWriteCases: readonly ParityCase[] = [
  {
    name: 'sets defaults, prunes, and drops the status of a new custom resource',
    steps: [
      ...define,
      {
        ...make,
        body: widget({ size: 1, unknown: 'x' }, { status: { x: 1 }, unknown: 1 }),
        gives: { kind: 'Widget', metadata: { generation: 1, uid: /./ }, spec: { size: 1, color: 'red' } },
        lacks: ['spec.unknown', 'unknown', 'status'],
      },
    ],
  },
  {
    name: 'rejects a custom resource that violates its schema',
    steps: [
      ...define,
      {
        send: `POST ${widgets}`,
        body: widget({ size: 0 }),
        code: 422,
        gives: status(
          'Invalid',
          'Widget.g{id}.example.com "w" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
          { group: 'g{id}.example.com', kind: 'Widget', causes: [{ reason: 'FieldValueInvalid', field: 'spec.size' }] },
        ),
      },
      {
        send: `POST ${widgets}`,
        body: widget({}),
        code: 422,
        gives: status('Invalid', /spec.size: Required value/, { causes: [{ reason: 'FieldValueRequired' }] }),
      },
      {
        send: `POST ${widgets}`,
        body: widget({ size: 'x' }),
        code: 422,
        gives: status('Invalid', /spec.size in body must be of type integer/),
      },
      {
        send: `POST ${widgets}`,
        body: widget({ size: 1, color: 'green' }),
        code: 422,
        gives: status('Invalid', /spec.color: Unsupported value: "green": supported values: "red", "blue"/),
      },
      {
        send: `POST ${widgets}`,
        body: widget({ size: 1, tags: ['A'] }),
        code: 422,
        gives: status('Invalid', /spec.tags(\[0\])? in body should match '\^\[a-z\]\+\$'/),
      },
    ],
  },
  {
    name: 'requires kind and version of a custom resource',
    steps: [
      ...define,
      {
        send: `POST ${widgets}`,
        body: { metadata: { name: 'w' }, spec: { size: 1 } },
        code: 400,
        gives: status('BadRequest'),
      },
      {
        send: `POST ${widgets}`,
        body: { ...widget({ size: 1 }), apiVersion: 'g{id}.example.com/v2' },
        code: 400,
        gives: status(
          'BadRequest',
          /the API version in the data \(g\w+\.example\.com\/v2\) does not match the expected API version \(g\w+\.example\.com\/v1\)/,
        ),
      },
    ],
  },
  {
    name: 'separates status and spec of a custom resource and increases the generation',
    steps: [
      ...define,
      { ...make, keep: { version: 'metadata.resourceVersion' } },
      {
        send: `PUT ${widgets}/w`,
        body: widget({ size: 2 }),
        code: 422,
        gives: status('Invalid', /metadata.resourceVersion: Invalid value: \w+: must be specified for an update/),
      },
      {
        send: `PUT ${widgets}/w`,
        body: { ...widget({ size: 2 }, { status: { y: 1 } }), metadata: { name: 'w', resourceVersion: '{version}' } },
        code: 200,
        gives: { metadata: { generation: 2 }, spec: { size: 2 } },
        lacks: ['status'],
      },
      {
        send: `PATCH ${widgets}/w/status`,
        body: { metadata: { labels: { l: 'm' } }, spec: { size: 5 }, status: { phase: 'x' } },
        code: 200,
        gives: { metadata: { generation: 2 }, spec: { size: 2 }, status: { phase: 'x' } },
        lacks: ['metadata.labels'],
      },
      {
        send: `PATCH ${widgets}/w`,
        body: { metadata: { labels: { l: 'm' } }, status: { phase: 'y' } },
        code: 200,
        gives: { metadata: { generation: 2, labels: { l: 'm' } }, status: { phase: 'x' } },
      },
      { send: `PATCH ${widgets}/w`, body: { spec: { size: 3 } }, code: 200, gives: { metadata: { generation: 3 } } },
    ],
  },
  {
    name: 'patches a custom resource, except by strategic merge',
    steps: [
      ...define,
      make,
      {
        send: `PATCH ${widgets}/w`,
        type: strategicPatch,
        body: { spec: { size: 5 } },
        code: 415,
        gives: status('UnsupportedMediaType', /application\/json-patch\+json, application\/merge-patch\+json/),
      },
      {
        send: `PATCH ${widgets}/w`,
        type: jsonPatch,
        body: [{ op: 'replace', path: '/spec/size', value: 6 }],
        code: 200,
        gives: { spec: { size: 6 } },
      },
      {
        send: `PATCH ${widgets}/w`,
        type: mergePatch,
        body: { spec: { size: -1 } },
        code: 422,
        gives: status('Invalid', /spec.size in body should be greater than or equal to 1/),
      },
    ],
  },
  {
    name: 'accepts any finalizer on a custom resource',
    steps: [
      ...define,
      make,
      { send: `PATCH ${widgets}/w`, body: { metadata: { finalizers: ['abc'] } }, code: 200 },
      {
        send: `DELETE ${widgets}/w`,
        code: 200,
        gives: { kind: 'Widget', metadata: { deletionTimestamp: /./, generation: 2 } },
      },
      { send: `PATCH ${widgets}/w`, body: { metadata: { finalizers: [] } }, code: 200 },
      { send: `GET ${widgets}/w`, code: 404 },
    ],
  },
];
