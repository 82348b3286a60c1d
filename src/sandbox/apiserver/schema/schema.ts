import { isRecord } from '#base/fields.ts';

/** An OpenAPI v3 schema of a CRD; its members may have any type. */
export type Schema = Readonly<Record<string, unknown>>;

export function schemaAt(schema: Schema | undefined, member: string): Schema | undefined {
  const value = schema?.[member];
  return isRecord(value) ? value : undefined;
}

export function propertiesOf(schema: Schema | undefined): Readonly<Record<string, unknown>> {
  return schemaAt(schema, 'properties') ?? {};
}

/** The schema of a member by name or by additionalProperties; undefined for an unknown member. */
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

/** Members that the schema does not cover. */
export const headMembers: readonly string[] = ['apiVersion', 'kind', 'metadata'];

export function child(path: string, member: string): string {
  return path === '' ? member : `${path}.${member}`;
}
