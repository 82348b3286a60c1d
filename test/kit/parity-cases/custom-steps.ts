import type { Step } from './case.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Path of the objects of the CRD of `define`. */
export const things = '/apis/t{id}.example.com/v1/namespaces/{ns}/things';

/** A CRD with a schema for the spec. */
export function definition(schema: unknown): unknown {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.t{id}.example.com' },
    spec: {
      group: 't{id}.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

/** A schema with these fields in the spec and a phase in the status. */
export function withSpec(properties: Record<string, unknown>): unknown {
  return {
    type: 'object',
    properties: {
      spec: { type: 'object', properties },
      status: { type: 'object', properties: { phase: { type: 'string', enum: ['Good', 'Bad'] } } },
    },
  };
}

/** Creates the CRD and waits until it is served. */
export function define(schema: unknown): Step[] {
  return [
    { send: `POST ${crds}`, body: definition(schema), code: 201 },
    { send: `GET ${things}`, code: 200, eventually: true },
  ];
}

export function thing(content: Record<string, unknown>): Record<string, unknown> {
  return { apiVersion: 't{id}.example.com/v1', kind: 'Thing', metadata: { name: 't' }, ...content };
}

/** A dry run of a CRD. */
export function tried(schema: unknown): Pick<Step, 'send' | 'body'> {
  return { send: `POST ${crds}?dryRun=All`, body: definition(schema) };
}
