import { asTable, type ParityCase, status } from './case.ts';
import { changed } from './changed.ts';

import { crd, crds, define, definition, group, make, widgets } from './widget.ts';

export const customCases: readonly ParityCase[] = [
  {
    name: 'serves a custom resource and lists it in discovery',
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
    name: 'serves a custom resource in all its versions',
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
    name: 'selects custom resources by name only',
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
    name: 'serves a CRD that is created again, without its former objects',
    steps: [
      ...define,
      make,
      { send: `DELETE ${crd}`, code: 200 },
      { send: `GET ${crd}`, code: 404, eventually: true },
      ...define,
      make,
    ],
  },
  {
    name: 'validates a CRD',
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
        gives: status(
          'Invalid',
          changed(
            /spec.versions\[0\].schema.openAPIV3Schema: Required value: schemas are required/,
            /spec.versions\[0\].schema.openAPIV3Schema: Required value(?!:)/,
          ),
        ),
      },
    ],
  },
];
