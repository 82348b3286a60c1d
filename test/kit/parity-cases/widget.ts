import type { Step } from './case.ts';

export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const crd = `${crds}/widgets.g{id}.example.com`;
export const group = '/apis/g{id}.example.com';
export const widgets = `${group}/v1/namespaces/{ns}/widgets`;

export const definition = {
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

/** A resource exists when its CRD is established and a request succeeds. */
export const define: readonly Step[] = [
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

export function widget(spec: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { apiVersion: 'g{id}.example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec, ...more };
}

export const make: Step = { send: `POST ${widgets}`, body: widget({ size: 1 }), code: 201, eventually: true };
