import type { Clock } from '#base/clock.ts';
import type { Key, KubeResource, Metadata, Resource } from '#kube/resource.ts';

/** A stored object: plain JSON, deeply frozen. Copy it with `structuredClone` to change it. */
export interface StoredObject extends KubeResource {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [member: string]: unknown;
}

export interface UserInfo {
  username: string;
  uid?: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Credentials {
  /** The `authorization` header. */
  authorization: string | undefined;
  /** Client certificate (DER); only possession of its key has been verified. */
  clientCertificate: Uint8Array | undefined;
}

export interface Authenticator {
  /** Undefined for invalid credentials (401). */
  authenticate(credentials: Credentials): UserInfo | undefined;
  /** For TokenReview; undefined for an invalid token. Without audiences those of the server are used. */
  reviewToken(
    token: string,
    audiences: readonly string[],
  ): { user: UserInfo; audiences: readonly string[] } | undefined;
}

/** The attributes of a request for authorization; strings are empty where they do not apply. */
export interface AccessRequest {
  user: UserInfo;
  verb: string;
  /** Set for non-resource paths such as /version; the members below are empty then. */
  path: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** Of a list or watch. */
  fieldSelector?: string;
}

export interface AccessDecision {
  allowed: boolean;
  /** Which binding allows it, or what could not be evaluated. */
  reason: string;
}

export interface AccessRules {
  resourceRules: { verbs: string[]; apiGroups: string[]; resources: string[]; resourceNames?: string[] }[];
  nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[];
  /** The user may have permissions that cannot be listed. */
  incomplete?: boolean;
  /** What could not be evaluated. */
  evaluationError?: string;
}

export interface Authorizer {
  authorize(request: AccessRequest): AccessDecision;
  /** For SelfSubjectRulesReview. */
  rulesFor(user: UserInfo, namespace: string): AccessRules;
}

/** A validated write before it is stored. */
export interface AdmissionRequest {
  user: UserInfo;
  operation: 'create' | 'update' | 'delete';
  resource: Resource;
  /** Empty for the object itself. */
  subresource: string;
  /**
   * The new object, or the deleted one. An object posted to a subresource with its own kind
   * (Eviction, TokenRequest) has the namespace and name of the path.
   */
  object: StoredObject;
  /** The current object; undefined for a create. */
  old: StoredObject | undefined;
}

/** Throws a StatusError to reject a write. */
export interface Admission {
  admit(request: AdmissionRequest): void;
}

export interface TokenRequest {
  serviceAccount: StoredObject;
  audiences: readonly string[];
  expirationSeconds: number;
  /** The token becomes invalid when this object is deleted. */
  boundObject: { kind: string; apiVersion: string; name: string; uid: string } | undefined;
}

/** Issues tokens for the `token` subresource of ServiceAccounts. */
export interface TokenIssuer {
  issue(request: TokenRequest): { token: string; expirationTimestamp: string; audiences: readonly string[] };
}

/** Handles the Impersonate-* headers. */
export interface Impersonation {
  /**
   * The effective user. Names and values alternate, as
   * in `rawHeaders` of node:http. Throws a StatusError if it is not allowed.
   */
  impersonate(user: UserInfo, rawHeaders: readonly string[]): UserInfo;
}

/** Created after the API, because it reads Secrets, roles and bindings. */
export type IdentityFactory = (api: LocalApi) => Identity;

/** Authentication and authorization; a missing part allows everything. */
export interface Identity {
  authenticator?: Authenticator;
  /** Runs between authentication and authorization. */
  impersonation?: Impersonation;
  authorizer?: Authorizer;
  admission?: Admission;
  tokenIssuer?: TokenIssuer;
}

export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  resource: Resource;
  object: StoredObject;
  old: StoredObject | undefined;
}

export interface LocalDeleteOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Background' | 'Orphan';
  gracePeriodSeconds?: number;
}

/**
 * The API without HTTP, for controllers in this process. Calls are handled like requests
 * but without authentication, and fail with the same StatusErrors.
 */
export interface LocalApi {
  readonly clock: Clock;
  /** All served resources including custom ones, each in its storage version. */
  resources(): readonly Resource[];
  /** Undefined if it does not exist. */
  get(resource: Resource, key: Key): StoredObject | undefined;
  /** Of one namespace or all, sorted by namespace and name. */
  list(resource: Resource, namespace?: string): readonly StoredObject[];
  create(resource: Resource, object: KubeResource, options?: { subresource?: string }): StoredObject;
  replace(resource: Resource, object: KubeResource, options?: { subresource?: string }): StoredObject;
  delete(resource: Resource, key: Key, options?: LocalDeleteOptions): void;
  /**
   * Reports every following write in order, after the write is complete, so that a listener may write.
   * Returns a function that unsubscribes.
   */
  onChange(listener: (change: Change) => void): () => void;
}

/** A built-in controller, stopped before the server closes. */
export interface Controller {
  start(api: LocalApi): void;
  stop(): void;
}
