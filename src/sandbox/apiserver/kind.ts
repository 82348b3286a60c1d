import type { StatusCause } from '#kube/api-error.ts';
import { apiVersionOf, type Resource } from '#kube/resource.ts';
import type { NameRule } from './names.ts';
import { withMember } from './object.ts';
import type { StoredObject, UserInfo } from './ports.ts';
import type { Shape } from './shape.ts';
import type { Store } from './store.ts';

/** Context for defaulting and validating an object. */
export interface KindContext {
  user: UserInfo;
  /** Milliseconds since 1970. */
  now: number;
  store: Store;
}

/** A column of the table that `kubectl get` prints. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  /** Columns above 0 are shown with -o wide only. */
  priority?: number;
  description?: string;
  cell(object: StoredObject, now: number): unknown;
}

export interface Subresource {
  name: string;
  /** Kind of the body; group and version if they differ from those of the object. */
  kind?: string;
  group?: string;
  version?: string;
  verbs: readonly string[];
}

/** One kind in one version. */
export interface Kind extends Resource {
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  verbs: readonly string[];
  subresources: readonly Subresource[];
  /** Paths of the `scale` subresource. */
  scale: { specReplicas: string; statusReplicas: string; selector: string } | undefined;
  /** Storage key of the objects, the same for all versions. */
  storageKey: string;
  /** Whether this is the storage version. */
  stores: boolean;
  nameRule: NameRule;
  /** Whether spec changes increase metadata.generation. */
  countsGenerations: boolean;
  /** Whether PUT creates a missing object. */
  createsOnUpdate: boolean;
  /** Whether PUT works without a resourceVersion. */
  updatesUnconditionally: boolean;
  /** Whether DELETE answers with the object instead of a Status. */
  returnsDeleted: boolean;
  /** True for custom resources. */
  custom: boolean;
  /** Fields besides apiVersion, kind and metadata; custom resources have a schema instead. */
  content: Shape | undefined;
  /** OpenAPI v3 schema of a custom resource. */
  schema: unknown;
  /** Further field selectors and the values they compare. */
  fields: Readonly<Record<string, (object: StoredObject) => string>>;
  columns: readonly Column[];
  /** Sets defaults of a new object. */
  prepareCreate(object: StoredObject, context: KindContext): StoredObject;
  /** Restores what a client is not allowed to change; `subresource` is empty for the object itself. */
  prepareUpdate(next: StoredObject, old: StoredObject, subresource: string): StoredObject;
  /** Sets missing times, right before validation. */
  stamp(object: StoredObject, old: StoredObject | undefined, now: string): StoredObject;
  /** Validates the content; `old` is set for updates. */
  check(object: StoredObject, old: StoredObject | undefined, subresource: string): StatusCause[];
  /** Grace period of a delete; undefined for kinds without one. */
  graceSeconds(object: StoredObject, asked: number | undefined): number | undefined;
  /** Changes an object whose deletion has to wait. */
  markDeleted(object: StoredObject, now: string): StoredObject;
  /** Finalizers and other blockers of a deletion. */
  deletionBlockers(object: StoredObject): readonly unknown[];
  /** Whether a waiting deletion sets a grace period and increases the generation. */
  setsGracePeriod: boolean;
  /** Converts between this version and the storage version. */
  toStored(object: StoredObject): StoredObject;
  fromStored(object: StoredObject): StoredObject;
}

const allVerbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

type Required = Pick<Kind, 'group' | 'version' | 'plural' | 'kind' | 'namespaced'>;

/** Fills in the defaults of a kind. */
export function defineKind(given: Required & Partial<Kind>): Kind {
  const apiVersion = apiVersionOf(given);
  const subresources = given.subresources ?? [];
  const hasStatus = subresources.some(({ name }) => name === 'status');
  const inThisVersion = (object: StoredObject): StoredObject =>
    object.apiVersion === apiVersion ? object : { ...object, apiVersion };
  return {
    singular: given.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    subresources,
    scale: undefined,
    storageKey: given.group === '' ? given.plural : `${given.plural}.${given.group}`,
    stores: true,
    nameRule: 'subdomain',
    countsGenerations: false,
    createsOnUpdate: false,
    updatesUnconditionally: true,
    returnsDeleted: false,
    custom: false,
    content: undefined,
    schema: undefined,
    fields: {},
    columns: [],
    prepareCreate: object => object,
    prepareUpdate: (next, old, subresource) => (hasStatus ? splitStatus(next, old, subresource) : next),
    stamp: object => object,
    check: () => [],
    graceSeconds: () => undefined,
    markDeleted: object => object,
    deletionBlockers: object => object.metadata.finalizers ?? [],
    setsGracePeriod: true,
    toStored: object => object,
    fromStored: inThisVersion,
    ...given,
  };
}

/** An update of the object keeps its status; one of the subresource changes only status and metadata. */
export function splitStatus(next: StoredObject, old: StoredObject, subresource: string): StoredObject {
  if (subresource === '') return withMember(next, 'status', old['status']);
  return withMember({ ...old, metadata: next.metadata }, 'status', next['status']);
}

export const scaleSubresource: Subresource = {
  name: 'scale',
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  verbs: ['get', 'patch', 'update'],
};

export const statusSubresource: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] };
