import { isRecord } from '#base/fields.ts';

/** An OpenAPI v3 schema as a CRD has it. Nothing about its members is taken for granted. */
export type Schema = Readonly<Record<string, unknown>>;

export function schemaAt(schema: Schema | undefined, member: string): Schema | undefined {
  const value = schema?.[member];
  return isRecord(value) ? value : undefined;
}

/** The schemas of the named members of an object. */
export function propertiesOf(schema: Schema | undefined): Readonly<Record<string, unknown>> {
  return schemaAt(schema, 'properties') ?? {};
}

/** What a schema says about a member, by its name or for all that have no name of their own; undefined if it is unknown. */
export function memberSchema(schema: Schema | undefined, name: string): { schema: Schema | undefined } | undefined {
  const properties = propertiesOf(schema);
  if (Object.hasOwn(properties, name)) return { schema: schemaAt(properties, name) };
  if (schema === undefined || !Object.hasOwn(schema, 'additionalProperties')) return undefined;
  return { schema: schemaAt(schema, 'additionalProperties') };
}

export function isSet(schema: Schema | undefined, member: string): boolean {
  return schema?.[member] === true;
}

export const preserves = (schema: Schema | undefined): boolean => isSet(schema, 'x-kubernetes-preserve-unknown-fields');
export const isEmbedded = (schema: Schema | undefined): boolean => isSet(schema, 'x-kubernetes-embedded-resource');
export const isIntOrString = (schema: Schema | undefined): boolean => isSet(schema, 'x-kubernetes-int-or-string');

/** Members of an object that are not the schema's business. */
export const headMembers: readonly string[] = ['apiVersion', 'kind', 'metadata'];

export function child(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`;
}
