/**
 * One request and what every API server answers to it. Texts may hold {ns} (the namespace of the case), {id} (unique to the
 * case, for names of objects without a namespace), {policy} (the version of policy the server has) and names that an
 * earlier step kept.
 */
export interface Step {
  /** Method and path. */
  send: string;
  /** Sent as JSON, a text as it is. */
  body?: unknown;
  /** Content type; a patch is a merge patch when it does not say. */
  type?: string;
  accept?: string;
  /** Asks as this user, who has no rights but those the case gives. */
  as?: string;
  code: number;
  /** What the answer must hold: members by name, lists element by element, texts also by pattern. */
  gives?: unknown;
  /** Dotted paths at which the answer has nothing. */
  lacks?: readonly string[];
  /** Values of the answer, by dotted path, for later steps. */
  keep?: Readonly<Record<string, string>>;
  /** The answer may take a while, since a controller works towards it. */
  eventually?: true;
}

/** A watch: opened, then the steps are done, then it ends by its own time-out. */
export interface WatchStep {
  watch: string;
  accept?: string;
  steps?: readonly Step[];
  /** All events of the stream, each as type and what its object must hold. */
  events: readonly (readonly [type: string, object: unknown])[];
  /** For servers that send what exists in the order of a hash table. */
  anyOrder?: true;
}

export interface ParityCase {
  name: string;
  steps: readonly (Step | WatchStep)[];
}

export const core = '/api/v1/namespaces/{ns}';

export const mergePatch = 'application/merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const strategicPatch = 'application/strategic-merge-patch+json';
export const applyPatch = 'application/apply-patch+yaml';
export const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** A refusal, as a Status says it. */
export function status(reason: string, message?: string | RegExp, details?: unknown): unknown {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason,
    ...(message === undefined ? {} : { message }),
    ...(details === undefined ? {} : { details }),
  };
}

/** The steps that make a ConfigMap and need not be looked at. */
export function given(name: string, more: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): Step {
  return { send: `POST ${core}/configmaps`, body: { metadata: { name, ...metadata }, ...more }, code: 201 };
}
