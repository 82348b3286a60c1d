import type { Secret } from '#base/secret.ts';

/**
 * Address, trust and credentials for an API server, created by the functions of `../config`. Members are read for every
 * request, after `identity.current`: changes apply to the next request, over new connections.
 */
export interface Connection {
  /** Such as https://10.0.0.1:6443, with an optional path; no trailing slash. */
  readonly server: string;
  /** Namespace of the kubeconfig's context or of the pod. */
  readonly namespace?: string;
  /** Name in the server's certificate, if it is not the host of the URL. */
  readonly serverName?: string | undefined;
  readonly skipTlsVerify: boolean;
  /** May contain a password. */
  readonly proxyUrl?: Secret | undefined;
  /** CA certificates in PEM form; undefined for those that Node.js trusts. */
  trusted(): Promise<string | undefined>;
  readonly identity: Identity;
}

export interface ClientCertificate {
  /** Certificate chain in PEM form. */
  certificate: string;
  key: Secret;
}

export interface Credential {
  /** Value of the Authorization header. */
  authorization?: Secret;
  clientCertificate?: ClientCertificate;
}

/** A source of credentials that may change. */
export interface Identity {
  current(signal: AbortSignal): Promise<Credential>;
  /** Called after a 401 response; true when there is another credential to try. */
  renew(refused: Credential, signal: AbortSignal): Promise<boolean>;
}
