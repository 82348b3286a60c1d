import { AppError } from '#base/errors.ts';
import type { Clock } from '#base/clock.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { type ClientOptions, createClient } from '#kube/http-client.ts';
import type { Connection, Identity } from '#kube/transport/connection.ts';
import type { HostFiles } from '../ports.ts';
import { type ConnectionOptions, kubeconfigSource, liveConnection, openKubeconfig, remedyOf } from './connection.ts';
import { CredentialChain, type CredentialSource } from './credentials.ts';
import { type IssueOptions, issueCertificate } from './issue.ts';
import { agentIdentity, cloudNodeIdentity, type KeptIdentity } from './kept-identity.ts';
import { readKey } from './key.ts';
import { type IdentityState, Rotation } from './rotation.ts';
import { CertificateStore } from './store.ts';

export interface IdentityOptions extends ConnectionOptions {
  files: HostFiles;
  certDir: string;
  /** Requested lifetime of certificates; the signer may shorten it. */
  durationMs: number;
  nodeName: string;
  /** Also maintain a certificate for cloud-node-manager. */
  cloudNode?: boolean;
  /** Called when the certificate for cloud-node-manager is available for the first time. */
  onCloudNode?: () => void;
  random?: () => number;
  /** Called for a failure to obtain or store a certificate, once for each message. */
  onTrouble?: (error: Error) => void;
  client?: ClientOptions;
}

/** The client certificates of the agent, renewed automatically. */
export interface AgentIdentity {
  /** Uses the newest certificate. A request without one waits for a limited time. */
  readonly connection: Connection;
  readonly client: Client;
  /** Resolves when there is a certificate; rejects only when aborted. */
  readonly ready: Promise<void>;
  readonly state: IdentityState;
  /** Resolves after the abort; the caller closes the client. */
  readonly stopped: Promise<void>;
}

/** Less than the timeout of a request, which has a less specific error. */
const certificateTimeoutMs = 20_000;
/** Credentials to try for one certificate request. */
const maxAttempts = 5;

/** Starts to maintain the certificates of this host. Rejects when the kubeconfig cannot be used. */
export async function startIdentity(options: IdentityOptions, signal: AbortSignal): Promise<AgentIdentity> {
  const { certDir, clock, nodeName, cloudNode = false } = options;
  const log = options.log.with({ part: 'identity' });
  const kubeconfig = await openKubeconfig(options);
  const connectionOf = (identity: Identity) => liveConnection(kubeconfig, identity, options.environment);
  const clientOptions = { clock, log, ...options.client };
  const own = agentIdentity(nodeName, certDir);
  const credentials = () => {
    const sources = [currentCertificate(rotation), kubeconfigSource(kubeconfig)];
    const chain = new CredentialChain(sources, { clock, subject: own, remedy: remedyOf(kubeconfig.path) });
    return { chain, client: createClient(connectionOf(chain), clientOptions) };
  };
  const rotation: Rotation = rotationOf(own, { ...options, log }, credentials);
  const connection = connectionOf(certificateOf(rotation, clock));
  const running = [untilStopped(rotation, signal)];
  if (cloudNode) {
    const other = rotationOf(cloudNodeIdentity(nodeName, certDir), { ...options, log }, credentials);
    running.push(untilStopped(other, signal));
    other.usable(signal).then(options.onCloudNode, () => undefined);
  }
  const ready = rotation.usable(signal).then(() => undefined);
  // A caller that does not wait for it must not get an unhandled rejection.
  ready.catch(() => undefined);
  return {
    connection,
    client: createClient(connection, clientOptions),
    ready,
    get state() {
      return rotation.state;
    },
    stopped: Promise.all(running).then(() => undefined),
  };
}

type Credentials = () => { chain: CredentialChain; client: Client };

/** Maintains the certificate of one identity; the key is read for each request. */
function rotationOf(kept: KeptIdentity, options: IdentityOptions, credentials: Credentials): Rotation {
  const { clock, log, random = Math.random, onTrouble = () => undefined } = options;
  return new Rotation({
    user: kept.user,
    store: new CertificateStore(kept, options),
    async issue(signal, onRequested) {
      const key = await readKey(kept.keyFile, options.files);
      const { chain, client } = credentials();
      try {
        const issuing = { ...options, client: withEachCredential(client, chain, signal), subject: kept, key, random };
        return await issueCertificate({ ...issuing, onRequested }, signal);
      } finally {
        await client.close();
      }
    },
    clock,
    log,
    random,
    onTrouble,
  });
}

async function untilStopped(rotation: Rotation, signal: AbortSignal): Promise<void> {
  try {
    await rotation.run(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** A client that creates certificate requests with every credential before it fails. */
function withEachCredential(client: Client, chain: CredentialChain, signal: AbortSignal): IssueOptions['client'] {
  return {
    create: (...request) => retryOnReject(chain, signal, () => client.create(...request)),
    list: (...request) => client.list(...request),
    watch: (...request) => client.watch(...request),
  };
}

async function retryOnReject<T>(chain: CredentialChain, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 401 || attempt === maxAttempts) throw error;
      await chain.refuseLast(signal);
    }
  }
}

/** Renewal uses the certificate itself, which binds the request to the node. */
function currentCertificate(rotation: Rotation): CredentialSource {
  return {
    name: 'the certificate of the agent',
    current: async () => {
      const { certificate } = rotation;
      if (certificate === undefined) throw noCertificate();
      return { clientCertificate: certificate.clientCertificate };
    },
  };
}

function noCertificate(): AppError {
  return new AppError('AGENT_UNIDENTIFIED', 'the agent has no valid certificate', {
    remedy: 'Check the certificate requests of the agent: kubectl get csr.',
  });
}

function certificateOf(rotation: Rotation, clock: Clock): Identity {
  const usable = (signal: AbortSignal) => {
    const limit = { clock, ms: certificateTimeoutMs, error: () => unidentified(rotation), signal };
    return withDeadline(limit, within => rotation.usable(within));
  };
  return {
    current: async signal => {
      const { clientCertificate } = rotation.certificate ?? (await usable(signal));
      return { clientCertificate };
    },
    renew: async (refused, signal) => {
      rotation.refuse(refused.clientCertificate);
      await usable(signal);
      return true;
    },
  };
}

function unidentified(rotation: Rotation): AppError {
  const { lastError: cause } = rotation.state;
  const why = cause === undefined ? 'it is being requested' : cause.message;
  const remedy =
    cause instanceof AppError ? cause.remedy : 'Check that the API server can be reached and that the operator runs.';
  return new AppError('AGENT_UNIDENTIFIED', `no valid client certificate: ${why}`, { remedy, cause });
}
