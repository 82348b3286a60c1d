import type { Clock } from '#base/clock.ts';
import type { Key, KubeResource, Metadata, Resource } from '#kube/resource.ts';

/** An object as the server keeps it: plain JSON, deeply frozen. To change one, make a copy with `structuredClone`. */
export interface StoredObject extends KubeResource {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [member: string]: unknown;
}

/** Who is asking. */
export interface UserInfo {
  username: string;
  uid?: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** Everything in a request that can prove an identity. */
export interface Credentials {
  /** The header as it came. */
  authorization: string | undefined;
  /** DER of the certificate the client has shown; the handshake proved that the client has its key, and nothing more. */
  clientCertificate: Uint8Array | undefined;
}

export interface Authenticator {
  /** Undefined for credentials that are no good (401). Who shows none is whomever the authenticator says, or nobody. */
  authenticate(credentials: Credentials): UserInfo | undefined;
  /** For TokenReview; undefined when the token is no good. No audiences asked for means those of the server. */
  reviewToken(
    token: string,
    audiences: readonly string[],
  ): { user: UserInfo; audiences: readonly string[] } | undefined;
}

/** What somebody wants to do, in the words of RBAC; all texts are empty where they do not apply. */
export interface AccessRequest {
  user: UserInfo;
  verb: string;
  /** Set for paths that are no resources, such as /version; the members below are empty then. */
  path: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
}

export interface AccessDecision {
  allowed: boolean;
  /** For people: which binding allows it, or what could not be evaluated. */
  reason: string;
}

export interface AccessRules {
  resourceRules: { verbs: string[]; apiGroups: string[]; resources: string[]; resourceNames?: string[] }[];
  nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[];
  /** Somebody may be allowed more than can be listed. */
  incomplete?: boolean;
  /** What could not be evaluated. */
  evaluationError?: string;
}

export interface Authorizer {
  authorize(request: AccessRequest): AccessDecision;
  /** For SelfSubjectRulesReview. */
  rulesFor(user: UserInfo, namespace: string): AccessRules;
}

/** A write that has passed validation and is about to be stored. */
export interface AdmissionRequest {
  user: UserInfo;
  operation: 'create' | 'update' | 'delete';
  resource: Resource;
  /** Empty for the object itself. */
  subresource: string;
  /**
   * The object to be stored; for a delete the object that goes. What is posted to a subresource and has a kind of its own
   * (Eviction, TokenRequest) carries the namespace and name of the path in its metadata.
   */
  object: StoredObject;
  /** What is stored now; undefined for a create. */
  old: StoredObject | undefined;
}

/** Refuses a write by throwing a StatusError, for example a Role that grants more than its author may do. */
export interface Admission {
  admit(request: AdmissionRequest): void;
}

export interface TokenRequest {
  serviceAccount: StoredObject;
  audiences: readonly string[];
  expirationSeconds: number;
  /** The object whose end also ends the token. */
  boundObject: { kind: string; apiVersion: string; name: string; uid: string } | undefined;
}

/** Makes the tokens that the subresource `token` of a ServiceAccount hands out. */
export interface TokenIssuer {
  issue(request: TokenRequest): { token: string; expirationTimestamp: string; audiences: readonly string[] };
}

/** Acting as somebody else by the headers Impersonate-*. */
export interface Impersonation {
  /**
   * The user to go on with: the one given when the headers ask for nothing. Names and values of the headers take turns, as
   * in `rawHeaders` of node:http, since a header may come several times. Throws a StatusError when it is not allowed.
   */
  impersonate(user: UserInfo, rawHeaders: readonly string[]): UserInfo;
}

/** Identity reads Secrets, roles and bindings, so it is made once the API is there. */
export type IdentityFactory = (api: LocalApi) => Identity;

/** Everything that depends on who is who; whatever is absent lets everybody in as a member of system:masters. */
export interface Identity {
  authenticator?: Authenticator;
  /** Asked after authentication and before authorization. */
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
 * The API without HTTP, for controllers and doubles that live inside the server. Calls take the same way as those from
 * outside, except that nobody asks who is calling, and they fail with the same StatusErrors.
 */
export interface LocalApi {
  readonly clock: Clock;
  /** All resources served now, those of CRDs included; one entry for each kind, in its stored version. */
  resources(): readonly Resource[];
  /** Undefined when there is none. */
  get(resource: Resource, key: Key): StoredObject | undefined;
  /** Of one namespace, or of all. In the order of namespaces and names. */
  list(resource: Resource, namespace?: string): readonly StoredObject[];
  create(resource: Resource, object: KubeResource, options?: { subresource?: string }): StoredObject;
  replace(resource: Resource, object: KubeResource, options?: { subresource?: string }): StoredObject;
  delete(resource: Resource, key: Key, options?: LocalDeleteOptions): void;
  /**
   * Tells of every write from now on, in order and never in the middle of a write, so that a listener may write itself.
   * The function returned ends it.
   */
  onChange(listener: (change: Change) => void): () => void;
}

/** A built-in controller. It gets the API once, at the start, and is told to stop before the server closes. */
export interface Controller {
  start(api: LocalApi): void;
  stop(): void;
}
