import { AppError, attempt } from '#base/errors.ts';
import type { Secret } from '#base/secret.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { type KubeObject, objectLabel } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';

export interface ObjectName {
  kind: string;
  name: string;
  namespace?: string;
}

export function find(objects: readonly KubeObject[], wanted: ObjectName): KubeObject | undefined {
  return objects.find(
    ({ kind, meta }) =>
      kind === wanted.kind &&
      meta.name === wanted.name &&
      // People leave the namespace out of files they apply with -n.
      (wanted.namespace === undefined || meta.namespace === '' || meta.namespace === wanted.namespace),
  );
}

export function ofKind(objects: readonly KubeObject[], ...kinds: string[]): KubeObject[] {
  return objects.filter(object => kinds.includes(object.kind));
}

export function missing(wanted: ObjectName): AppError {
  const where = wanted.namespace === undefined ? '' : ` -n ${wanted.namespace}`;
  const command = `oc get ${wanted.kind.toLowerCase()} ${wanted.name}${where} -o yaml`;
  return new AppError('OBJECT_MISSING', `${objectLabel(wanted.kind, wanted)} is not in the input`, {
    remedy: `Add the output of \`${command}\` with -f.`,
  });
}

interface FoundSecret {
  /** How messages name it. */
  label: string;
  data: Record<string, Secret>;
}

/** The decoded data of a Secret, or the error that names it. */
export function findSecret(objects: readonly KubeObject[], name: string, namespace: string): FoundSecret {
  const wanted = { kind: 'Secret', name, namespace };
  const secret = find(objects, wanted);
  if (secret === undefined) throw missing(wanted);
  return { label: secret.label, data: secretData(secret) };
}

/** The Nodes that can be read, and what is wrong with the others. */
export function readNodes(objects: readonly KubeObject[]): { nodes: NodeView[]; problems: AppError[] } {
  const results = ofKind(objects, 'Node').map(object => attempt(() => readNode(object)));
  return {
    nodes: results.flatMap(result => (result.ok ? [result.value] : [])),
    problems: results.flatMap(result => (result.ok ? [] : [result.error])),
  };
}

interface TextData {
  data: Record<string, string>;
  /** Values that are no texts, by key. */
  failures: { key: string; error: AppError }[];
}

/** The data of a ConfigMap, value by value: a bad one hides none of the others. */
export function textData(configMap: KubeObject): TextData {
  const fields = configMap.fields.object('data');
  const results = fields.names().map(key => ({ key, result: attempt(() => fields.string(key) ?? '') }));
  return {
    data: Object.fromEntries(results.flatMap(({ key, result }) => (result.ok ? [[key, result.value]] : []))),
    failures: results.flatMap(({ key, result }) => (result.ok ? [] : [{ key, error: result.error }])),
  };
}
