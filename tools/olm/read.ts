import { parseAllDocuments } from 'yaml';

export type Json = Record<string, unknown>;

/** An object of a file, as far as rules have to look into every kind. */
export interface Manifest extends Json {
  apiVersion?: string;
  kind?: string;
  metadata?: {
    name?: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

export interface BundleContent {
  /** Text by path below the folder of the bundle. */
  files: Readonly<Record<string, string>>;
  /** All objects below `manifests/`, with their file. */
  manifests: { path: string; object: Manifest }[];
  csv: Manifest;
  annotations: Readonly<Record<string, unknown>>;
}

export function readBundle(files: Readonly<Record<string, string>>): BundleContent {
  const manifests = Object.entries(files)
    .filter(([path]) => path.startsWith('manifests/'))
    .flatMap(([path, text]) => documentsIn(text).map(object => ({ path, object: object as Manifest })));
  const csv = manifests.find(({ object }) => object.kind === 'ClusterServiceVersion')?.object ?? {};
  const [metadata] = documentsIn(files['metadata/annotations.yaml'] ?? '{}');
  return { files, manifests, csv, annotations: member(metadata, 'annotations') };
}

export function documentsIn(text: string): Json[] {
  return parseAllDocuments(text).map(each => each.toJS() as Json);
}

/** A member that is an object; empty when it is missing. */
export function member(value: unknown, ...path: string[]): Json {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : {};
}

/** A member that is a list of objects; empty when it is missing. */
export function listAt(value: unknown, ...path: string[]): Json[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** A member that is a text; empty when it is missing. */
export function textAt(value: unknown, ...path: string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

function valueAt(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((current, name) => (isObject(current) ? current[name] : undefined), value);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
