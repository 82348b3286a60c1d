import type { StatusCause } from '#kube/api-error.ts';
import type { Resource } from '#kube/resource.ts';
import type { NameRule } from './names.ts';
import { withMember } from './object.ts';
import type { StoredObject, UserInfo } from './ports.ts';
import type { Shape } from './shape.ts';
import type { Store } from './store.ts';

/** What a kind may need to know when it fills in or checks an object. */
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
  /** Kind of the body, with its group and version where they are not those of the object. */
  kind?: string;
  group?: string;
  version?: string;
  verbs: readonly string[];
}

/** Everything the server knows about one kind in one version, as data and small functions. */
export interface Kind extends Resource {
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  verbs: readonly string[];
  subresources: readonly Subresource[];
  /** Where an object with the subresource `scale` has its numbers of replicas and its selector. */
  scale: { specReplicas: string; statusReplicas: string; selector: string } | undefined;
  /** Where the objects of all versions of the kind are kept. */
  storageKey: string;
  /** Whether this is the version in which they are kept. */
  stores: boolean;
  nameRule: NameRule;
  /** Whether a change of the spec counts up metadata.generation. */
  countsGenerations: boolean;
  /** Whether PUT creates an object that is not there. */
  createsOnUpdate: boolean;
  /** Whether PUT works without a resourceVersion. */
  updatesUnconditionally: boolean;
  /** Whether DELETE answers with the object instead of a Status. */
  returnsDeleted: boolean;
  /** True for resources made by a CRD. */
  custom: boolean;
  /** What the object may hold besides apiVersion, kind and metadata. Custom resources have a schema instead. */
  content: Shape | undefined;
  /** OpenAPI v3 schema of a custom resource. */
  schema: unknown;
  /** Field selectors besides metadata.name and metadata.namespace, with the value each sees. */
  fields: Readonly<Record<string, (object: StoredObject) => string>>;
  columns: readonly Column[];
  /** Fills in what the server sets on a new object. */
  prepareCreate(object: StoredObject, context: KindContext): StoredObject;
  /** Takes back what a client may not change; `subresource` is empty for the object itself. */
  prepareUpdate(next: StoredObject, old: StoredObject, subresource: string): StoredObject;
  /** Sets times the client has left out; the last thing done before the check. */
  stamp(object: StoredObject, old: StoredObject | undefined, now: string): StoredObject;
  /** What is wrong with the content; `old` is there when the object is changed. */
  check(object: StoredObject, old: StoredObject | undefined, subresource: string): StatusCause[];
  /** Seconds the object stays after a delete; undefined for kinds that go at once. */
  graceSeconds(object: StoredObject, asked: number | undefined): number | undefined;
  /** Changes the object when its deletion begins but must wait. */
  markDeleted(object: StoredObject, now: string): StoredObject;
  /** Whatever keeps a deleted object from vanishing. */
  deletionBlockers(object: StoredObject): readonly unknown[];
  /** Whether a deletion that waits is marked with a grace period and counts as a change of what is wanted. */
  setsGracePeriod: boolean;
  /** Translates between this version and the one that is stored. */
  toStored(object: StoredObject): StoredObject;
  fromStored(object: StoredObject): StoredObject;
}

const allVerbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

type Required = Pick<Kind, 'group' | 'version' | 'plural' | 'kind' | 'namespaced'>;

/** A kind with what is usual for all it does not say itself. */
export function defineKind(given: Required & Partial<Kind>): Kind {
  const apiVersion = given.group === '' ? given.version : `${given.group}/${given.version}`;
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

/** The object itself keeps its status, the subresource keeps everything but the status and the metadata. */
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
