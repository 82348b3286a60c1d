import { asTable, jsonPatch, mergePatch, type ParityCase, type Step, status, strategicPatch } from './case.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const crd = `${crds}/widgets.g{id}.example.com`;
const group = '/apis/g{id}.example.com';
const widgets = `${group}/v1/namespaces/{ns}/widgets`;

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.g{id}.example.com' },
  spec: {
    group: 'g{id}.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd{id}'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  color: { type: 'string', default: 'red', enum: ['red', 'blue'] },
                  tags: { type: 'array', maxItems: 2, items: { type: 'string', pattern: '^[a-z]+$' } },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
      {
        name: 'v1alpha1',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** A resource is there once its CRD says so and a request gets through. */
const define: readonly Step[] = [
  { send: `POST ${crds}`, body: definition, code: 201 },
  {
    send: `GET ${crd}`,
    code: 200,
    gives: {
      spec: { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } },
      status: {
        acceptedNames: { plural: 'widgets', kind: 'Widget' },
        storedVersions: ['v1'],
        conditions: [
          { type: 'NamesAccepted', status: 'True' },
          { type: 'Established', status: 'True' },
        ],
      },
    },
    eventually: true,
  },
  { send: `GET ${widgets}`, code: 200, gives: { kind: 'WidgetList', items: [] }, eventually: true },
];

function widget(spec: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { apiVersion: 'g{id}.example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec, ...more };
}

const make: Step = { send: `POST ${widgets}`, body: widget({ size: 1 }), code: 201, eventually: true };

export const customCases: readonly ParityCase[] = [
  {
    name: 'serves a custom resource and tells of it in discovery',
    steps: [
      ...define,
      {
        send: `GET ${group}`,
        code: 200,
        gives: {
          kind: 'APIGroup',
          name: 'g{id}.example.com',
          versions: [{ version: 'v1' }, { version: 'v1alpha1' }],
          preferredVersion: { version: 'v1' },
        },
        eventually: true,
      },
      {
        send: `GET ${group}/v1`,
        code: 200,
        gives: {
          kind: 'APIResourceList',
          groupVersion: 'g{id}.example.com/v1',
          resources: [
            { name: 'widgets', singularName: 'widget', namespaced: true, kind: 'Widget', shortNames: ['wd{id}'] },
            { name: 'widgets/status', kind: 'Widget', verbs: ['get', 'patch', 'update'] },
          ],
        },
        eventually: true,
      },
    ],
  },
  {
    name: 'fills in defaults, prunes and drops the status of a new custom resource',
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
    name: 'checks a custom resource by its schema',
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
    name: 'wants kind and version of a custom resource',
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
    name: 'keeps status and spec of a custom resource apart and counts generations',
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
    name: 'patches a custom resource, though not strategically',
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
    name: 'lets a custom resource have any finalizer',
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
  {
    name: 'shows a custom resource in all its versions',
    steps: [
      ...define,
      make,
      {
        send: `GET ${group}/v1alpha1/namespaces/{ns}/widgets/w`,
        code: 200,
        gives: { apiVersion: 'g{id}.example.com/v1alpha1', kind: 'Widget', spec: { size: 1 } },
        eventually: true,
      },
      {
        send: `GET ${widgets}`,
        code: 200,
        gives: { apiVersion: 'g{id}.example.com/v1', items: [{ apiVersion: 'g{id}.example.com/v1', kind: 'Widget' }] },
      },
    ],
  },
  {
    name: 'shows the columns of a custom resource',
    steps: [
      ...define,
      make,
      {
        send: `PATCH ${widgets}/w/status`,
        body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
        code: 200,
      },
      {
        send: `GET ${widgets}`,
        accept: asTable,
        code: 200,
        gives: {
          columnDefinitions: [
            { name: 'Name', format: 'name' },
            { name: 'Size', type: 'integer' },
            { name: 'Ready', type: 'string' },
            { name: 'Age', type: 'date' },
          ],
          rows: [{ cells: ['w', 1, 'True', /^\d+s$/] }],
        },
      },
    ],
  },
  {
    name: 'selects custom resources by name alone',
    steps: [
      ...define,
      make,
      {
        send: `GET ${widgets}?fieldSelector=metadata.name%3Dw`,
        code: 200,
        gives: { items: [{ metadata: { name: 'w' } }] },
      },
      {
        send: `GET ${widgets}?fieldSelector=spec.size%3D1`,
        code: 400,
        gives: status('BadRequest', 'field label not supported: spec.size'),
      },
    ],
  },
  {
    name: 'watches custom resources',
    steps: [
      ...define,
      { send: `GET ${widgets}`, code: 200, keep: { version: 'metadata.resourceVersion' } },
      {
        watch: `${widgets}?watch=true&timeoutSeconds=3&resourceVersion={version}`,
        steps: [
          make,
          { send: `PATCH ${widgets}/w/status`, body: { status: { phase: 'x' } }, code: 200 },
          { send: `DELETE ${widgets}/w`, code: 200 },
        ],
        events: [
          ['ADDED', { kind: 'Widget', metadata: { name: 'w', generation: 1 } }],
          ['MODIFIED', { status: { phase: 'x' } }],
          ['DELETED', { status: { phase: 'x' } }],
        ],
      },
    ],
  },
  {
    name: 'deletes the objects of a CRD with it',
    steps: [
      ...define,
      make,
      {
        send: `DELETE ${crd}`,
        code: 200,
        gives: {
          kind: 'CustomResourceDefinition',
          metadata: { deletionTimestamp: /./ },
        },
      },
      { send: `GET ${crd}`, code: 404, eventually: true },
      { send: `GET ${widgets}/w`, code: 404, eventually: true },
    ],
  },
  {
    name: 'checks a CRD',
    steps: [
      {
        send: `POST ${crds}`,
        body: {
          ...definition,
          metadata: { name: 'other.g{id}.example.com' },
          spec: { ...definition.spec, scope: 'Some' },
        },
        code: 422,
        gives: status('Invalid', /must be spec.names.plural\+"."\+spec.group.*spec.scope: Unsupported value: "Some"/),
      },
      {
        send: `POST ${crds}`,
        body: {
          ...definition,
          spec: { ...definition.spec, versions: [{ name: 'v1', served: true, storage: true }] },
        },
        code: 422,
        gives: status('Invalid', /spec.versions\[0\].schema.openAPIV3Schema: Required value: schemas are required/),
      },
    ],
  },
];
