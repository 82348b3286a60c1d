import { isRecord } from '#base/fields.ts';
import { sha256 } from '#base/sha256.ts';
import type { Kind } from './kind.ts';
import { metadataShape } from './metadata.ts';
import type { Shape } from './shape.ts';

/** Index of the documents by group and version. */
export function openApiIndex(kinds: readonly Kind[]): unknown {
  const roots = [...new Set(kinds.map(rootOf))];
  const paths = roots.map(root => {
    const hash = sha256(JSON.stringify(kinds.filter(kind => rootOf(kind) === root).map(schemaOf)));
    return [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${hash}` }];
  });
  return { paths: Object.fromEntries(paths) as unknown };
}

/** The document of one group and version for `kubectl explain` and strict validation; undefined if unknown. */
export function openApiDocument(kinds: readonly Kind[], root: string, version: string): unknown {
  const own = kinds.filter(kind => rootOf(kind) === root);
  if (own.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version },
    paths: Object.fromEntries(own.flatMap(pathsOf)) as unknown,
    components: { schemas: Object.fromEntries(own.map(kind => [schemaName(kind), schemaOf(kind)])) as unknown },
  };
}

function rootOf({ group, version }: Kind): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function pathsOf(kind: Kind): [string, unknown][] {
  const list = `/${rootOf(kind)}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`;
  return [
    [list, { get: operation(kind, 'list'), post: operation(kind, 'post') }],
    [`${list}/{name}`, { get: operation(kind, 'get'), put: operation(kind, 'put'), patch: operation(kind, 'patch') }],
  ];
}

function operation(kind: Kind, action: 'list' | 'get' | 'post' | 'put' | 'patch'): unknown {
  const { group, version } = kind;
  const isWrite = action !== 'list' && action !== 'get';
  const fieldValidation = { name: 'fieldValidation', in: 'query', schema: { type: 'string', uniqueItems: true } };
  return {
    parameters: isWrite ? [fieldValidation] : [],
    responses: { 200: { description: 'OK' } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind: kind.kind },
  };
}

function schemaName({ group, version, kind }: Kind): string {
  const domain = group === '' ? 'core' : group.split('.').toReversed().join('.');
  return `${domain}.${version}.${kind}`;
}

function schemaOf(kind: Kind): unknown {
  const { group, version } = kind;
  const own = kind.custom && isRecord(kind.schema) ? kind.schema : schemaOfShape(kind.content ?? 'any');
  const properties = isRecord(own['properties']) ? own['properties'] : {};
  return {
    type: 'object',
    ...own,
    properties: { ...properties, ...head },
    'x-kubernetes-group-version-kind': [{ group, version, kind: kind.kind }],
  };
}

const leafSchemas: Readonly<Record<Extract<Shape, string>, Record<string, unknown>>> = {
  any: {},
  object: { type: 'object' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  intOrString: { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
  strings: { type: 'object', additionalProperties: { type: 'string' } },
  base64: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
};

const head = {
  apiVersion: { type: 'string', description: 'Version of the schema of this object.' },
  kind: { type: 'string', description: 'The REST resource that this object represents.' },
  metadata: { ...schemaOfShape(metadataShape), description: "Standard object's metadata." },
};

function schemaOfShape(shape: Shape): Record<string, unknown> {
  if (typeof shape === 'string') return leafSchemas[shape];
  if (Array.isArray(shape)) return { type: 'array', items: schemaOfShape(shape[0] as Shape) };
  const members = Object.entries(shape as { readonly [member: string]: Shape });
  return { type: 'object', properties: Object.fromEntries(members.map(([name, each]) => [name, schemaOfShape(each)])) };
}
