import { AppError } from '#base/errors.ts';
import type { Secret } from '#base/secret.ts';
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

/** The decoded data of a Secret, or the error that names it. */
export function findSecretData(
  objects: readonly KubeObject[],
  name: string,
  namespace: string,
): Record<string, Secret> {
  const wanted = { kind: 'Secret', name, namespace };
  const secret = find(objects, wanted);
  if (secret === undefined) throw missing(wanted);
  return secretData(secret);
}
