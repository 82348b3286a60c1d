/** A part of an OpenAPI v3 schema; `kubectl explain` prints its description. */
export type Schema = Record<string, unknown>;

export const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });
export const oneOf = (values: readonly string[], description: string): Schema =>
  text(description, { enum: [...values] });
export const object = (description: string, properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  description,
  properties,
  ...more,
});
export const listOf = (description: string, items: Schema, more: Schema = {}): Schema => ({
  type: 'array',
  description,
  items,
  ...more,
});
export const count = (description: string): Schema => ({ type: 'integer', format: 'int64', description });
export const time = (description: string): Schema => text(description, { format: 'date-time' });
