import { AppError } from '#base/errors.ts';
import { type KubeObject, objectLabel } from '#contract/object.ts';

/** Identifies a required object. */
export interface Wanted {
  group: string;
  kind: string;
  /** Plural, as `oc get` takes it. */
  resource: string;
  name: string;
  namespace?: string;
}

export function findObject(objects: readonly KubeObject[], wanted: Wanted): KubeObject {
  const found = objectsOfKind(objects, wanted).find(
    ({ meta }) => meta.name === wanted.name && meta.namespace === (wanted.namespace ?? ''),
  );
  if (found !== undefined) return found;
  const resource = wanted.group === '' ? wanted.resource : `${wanted.resource}.${wanted.group}`;
  const where = wanted.namespace === undefined ? '' : ` -n ${wanted.namespace}`;
  const group = wanted.group === '' ? '' : ` (${wanted.group})`;
  throw new AppError('OBJECT_MISSING', `${objectLabel(wanted.kind, wanted)}${group} is not among the objects`, {
    remedy: `Add the output of: oc get ${resource} ${wanted.name}${where} -o yaml`,
  });
}

export function objectsOfKind(
  objects: readonly KubeObject[],
  { group, kind }: Pick<Wanted, 'group' | 'kind'>,
): KubeObject[] {
  return objects.filter(object => object.kind === kind && groupOf(object.apiVersion) === group);
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}
