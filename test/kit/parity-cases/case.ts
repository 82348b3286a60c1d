import type { Changed } from './changed.ts';

/**
 * One request and the response of every API server. Strings may contain {ns} (namespace of the case), {id} (unique, for
 * cluster-scoped names), {policy} (version of policy on the server) and names that an earlier step kept.
 */
export interface Step {
  /** Method and path. */
  send: string;
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown;
  /** Content type; patches default to merge patch. */
  type?: string;
  accept?: string;
  /** User of the request, with only the permissions of the case. */
  as?: string;
  code: number | Changed<number>;
  /** Expected members: by name, lists element by element, strings also by pattern; `changed` where versions differ. */
  gives?: unknown;
  /** Dotted paths that must be missing. */
  lacks?: readonly string[];
  /** Values of the response by dotted path, for later steps. */
  keep?: Readonly<Record<string, string>>;
  /** Retried, because a controller is involved. */
  eventually?: true;
}

/** A watch: opened before the steps, ended by its timeout. */
export interface WatchStep {
  watch: string;
  accept?: string;
  steps?: readonly Step[];
  /** All events of the stream: type and expected members of the object. */
  events: readonly (readonly [type: string, object: unknown])[];
  /** The server sends existing objects in random order. */
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
export const asMetadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
export const asMetadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

type Text = string | RegExp;

/** An error response as a Status. */
export function status(reason: string, message?: Text | Changed<Text>, details?: unknown): unknown {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason,
    ...(message === undefined ? {} : { message }),
    ...(details === undefined ? {} : { details }),
  };
}

/** Steps that create a ConfigMap. */
export function given(name: string, more: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): Step {
  return { send: `POST ${core}/configmaps`, body: { metadata: { name, ...metadata }, ...more }, code: 201 };
}
