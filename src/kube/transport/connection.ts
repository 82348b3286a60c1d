import type { Secret } from '#base/secret.ts';

/**
 * Where an API server is, how it is recognised, and who we are there. Made by the functions of `../config`. Members are read
 * for every request, after `identity.current`: whatever changes is used from the next request on, over new connections.
 */
export interface Connection {
  /** Such as https://10.0.0.1:6443, perhaps with a path; no slash at the end. */
  readonly server: string;
  /** Namespace of the kubeconfig's context or of the pod. */
  readonly namespace?: string;
  /** Name the server's certificate must carry, when it is not the host of the address. */
  readonly serverName?: string | undefined;
  readonly skipTlsVerify: boolean;
  /** May hold a password. */
  readonly proxyUrl?: Secret | undefined;
  /** CA certificates in PEM form, as they are now; undefined stands for those that Node.js trusts. */
  trusted(): Promise<string | undefined>;
  readonly identity: Identity;
}

export interface ClientCertificate {
  /** Certificate chain in PEM form. */
  certificate: string;
  key: Secret;
}

/** What makes the server know us. Members that are the same text as before mean that nothing changed. */
export interface Credential {
  /** The whole value of the header. */
  authorization?: Secret;
  clientCertificate?: ClientCertificate;
}

/** Gives the credential of the moment; files and plugins are asked again when it is time. */
export interface Identity {
  current(signal: AbortSignal): Promise<Credential>;
  /** To be called when the server answers 401: true when there is another credential now that may be tried. */
  renew(refused: Credential, signal: AbortSignal): Promise<boolean>;
}
