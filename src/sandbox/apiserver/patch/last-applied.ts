import { isRecord } from '#base/fields.ts';
import { compareValues } from './compare-values.ts';
import { FieldSet } from './field-set.ts';
import type { MergeType } from './merge-type.ts';
import { fieldsOf } from './owned-fields.ts';
import type { Json } from './track-update.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The one manager that may take over from its own client-side apply, which left its configuration in an annotation. */
export const lastAppliedManager = 'kubectl';

/** Fields that kubectl applied on the client's side and that are still as it left them. */
export function allowedByLastApplied(type: MergeType, live: Json, apiVersion: string): FieldSet {
  const text = annotationsOf(live)[annotation];
  const config = typeof text === 'string' ? parsedJson(text) : undefined;
  if (!isRecord(config) || config['apiVersion'] !== apiVersion) return FieldSet.empty;
  const { added, removed, modified } = compareValues(type, config, live);
  return fieldsOf(type, config).difference(modified).difference(added).difference(removed);
}

/** Keeps the annotation in step where there is one, so that a later client-side apply knows what was applied. */
export function withLastApplied(object: Json, config: Json): Json {
  const annotations = annotationsOf(object);
  if (!Object.hasOwn(annotations, annotation)) return object;
  const text = `${JSON.stringify(withoutAnnotation(config))}\n`;
  const metadata = { ...(object['metadata'] as Json), annotations: { ...annotations, [annotation]: text } };
  return { ...object, metadata };
}

function withoutAnnotation(config: Json): Json {
  const annotations = annotationsOf(config);
  if (!Object.hasOwn(annotations, annotation)) return config;
  const rest = Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== annotation));
  return { ...config, metadata: { ...(config['metadata'] as Json), annotations: rest } };
}

function annotationsOf({ metadata }: Json): Record<string, unknown> {
  const annotations = isRecord(metadata) ? metadata['annotations'] : undefined;
  return isRecord(annotations) ? annotations : {};
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
