import type { Step } from './case.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Where the objects are whose CRD `define` makes. */
export const things = '/apis/t{id}.example.com/v1/namespaces/{ns}/things';

/** A CRD of things with a schema for their spec. */
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

/** The schema of an object with these fields in its spec and a phase in its status. */
export function withSpec(properties: Record<string, unknown>): unknown {
  return {
    type: 'object',
    properties: {
      spec: { type: 'object', properties },
      status: { type: 'object', properties: { phase: { type: 'string', enum: ['Good', 'Bad'] } } },
    },
  };
}

/** Makes the CRD and waits until its objects can be asked for. */
export function define(schema: unknown): Step[] {
  return [
    { send: `POST ${crds}`, body: definition(schema), code: 201 },
    { send: `GET ${things}`, code: 200, eventually: true },
  ];
}

export function thing(content: Record<string, unknown>): Record<string, unknown> {
  return { apiVersion: 't{id}.example.com/v1', kind: 'Thing', metadata: { name: 't' }, ...content };
}

/** A CRD that is only tried. */
export function tried(schema: unknown): Pick<Step, 'send' | 'body'> {
  return { send: `POST ${crds}?dryRun=All`, body: definition(schema) };
}
