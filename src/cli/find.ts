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
      // Files that are applied with -n often have no namespace.
      (wanted.namespace === undefined || meta.namespace === '' || meta.namespace === wanted.namespace),
  );
}

export function ofKind(objects: readonly KubeObject[], ...kinds: string[]): KubeObject[] {
  return objects.filter(object => kinds.includes(object.kind));
}

export function missingObject(wanted: ObjectName): AppError {
  const where = wanted.namespace === undefined ? '' : ` -n ${wanted.namespace}`;
  const command = `oc get ${wanted.kind.toLowerCase()} ${wanted.name}${where} -o yaml`;
  return new AppError('OBJECT_MISSING', `${objectLabel(wanted.kind, wanted)} is not in the input`, {
    remedy: `Pass the output of \`${command}\` with -f.`,
  });
}

interface FoundSecret {
  /** The name of the Secret in messages. */
  label: string;
  data: Record<string, Secret>;
}

/** Decodes the data of a Secret. */
export function findSecret(objects: readonly KubeObject[], name: string, namespace: string): FoundSecret {
  const wanted = { kind: 'Secret', name, namespace };
  const secret = find(objects, wanted);
  if (secret === undefined) throw missingObject(wanted);
  return { label: secret.label, data: secretData(secret) };
}

/** Valid Nodes, and the errors of the others. */
export function readNodes(objects: readonly KubeObject[]): { nodes: NodeView[]; problems: AppError[] } {
  const results = ofKind(objects, 'Node').map(object => attempt(() => readNode(object)));
  return {
    nodes: results.flatMap(result => (result.ok ? [result.value] : [])),
    problems: results.flatMap(result => (result.ok ? [] : [result.error])),
  };
}

interface TextData {
  data: Record<string, string>;
  /** Values that are not strings. */
  failures: { key: string; error: AppError }[];
}

/** Reads the data of a ConfigMap value by value, so that a bad value does not hide the others. */
export function textData(configMap: KubeObject): TextData {
  const fields = configMap.fields.object('data');
  const results = fields.names().map(key => ({ key, result: attempt(() => fields.string(key) ?? '') }));
  return {
    data: Object.fromEntries(results.flatMap(({ key, result }) => (result.ok ? [[key, result.value]] : []))),
    failures: results.flatMap(({ key, result }) => (result.ok ? [] : [{ key, error: result.error }])),
  };
}
