import { AppError } from '#base/errors.ts';
import { Fields, isRecord } from '#base/fields.ts';

export interface ObjectMeta {
  name: string;
  namespace: string;
  uid: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  creationTimestamp: string;
  deletionTimestamp: string | undefined;
  resourceVersion: string | undefined;
}

/** A Kubernetes object with checked apiVersion, kind and metadata. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  meta: ObjectMeta;
  /** Names the object in messages: `ConfigMap openshift-x/windows-instances`, with its file if any. */
  label: string;
  fields: Fields;
}

export function readObject(value: unknown): KubeObject {
  if (!isRecord(value)) {
    throw new AppError('INPUT_MALFORMED', `${kindOfData(value)} is not a Kubernetes object`, {
      remedy: 'Provide objects with apiVersion, kind and metadata.',
    });
  }
  const fields = new Fields(value, 'object');
  const kind = fields.requiredString('kind');
  const apiVersion = fields.requiredString('apiVersion');
  const meta = readMeta(new Fields(value['metadata'], kind, 'metadata'));
  const label = objectLabel(kind, meta);
  return { apiVersion, kind, meta, label, fields: new Fields(value, label) };
}

/** An object from a file; messages name the file too. */
export function readObjectOf(file: string, value: unknown): KubeObject {
  const object = readObject(value);
  const label = `${object.label} (${file})`;
  return { ...object, label, fields: new Fields(value, label) };
}

export function objectLabel(kind: string, meta: { name: string; namespace?: string }): string {
  return meta.namespace ? `${kind} ${meta.namespace}/${meta.name}` : `${kind} ${meta.name}`;
}

/** Does not quote the value: a file given by mistake may be a private key. */
function kindOfData(value: unknown): string {
  if (value === undefined || value === null) return 'an empty document';
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  return Array.isArray(value) ? `a list of ${value.length}` : `a ${typeof value}`;
}

function readMeta(fields: Fields): ObjectMeta {
  return {
    name: fields.string('name') ?? '',
    namespace: fields.string('namespace') ?? '',
    uid: fields.string('uid') ?? '',
    labels: fields.stringMap('labels'),
    annotations: fields.stringMap('annotations'),
    creationTimestamp: fields.string('creationTimestamp') ?? '',
    deletionTimestamp: fields.string('deletionTimestamp'),
    resourceVersion: fields.string('resourceVersion'),
  };
}
