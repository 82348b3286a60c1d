import { AppError } from '#base/errors.ts';
import type { Clock } from '#base/clock.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { type ClientOptions, createClient } from '#kube/http-client.ts';
import type { Connection, Identity } from '#kube/transport/connection.ts';
import type { HostFiles } from '../ports.ts';
import { type ConnectionOptions, kubeconfigSource, LiveConnection, openKubeconfig, remedyOf } from './connection.ts';
import { CredentialChain, type CredentialSource } from './credentials.ts';
import { type IssueOptions, issueCertificate } from './issue.ts';
import { agentIdentity, cloudNodeIdentity, type KeptIdentity } from './kept-identity.ts';
import { readKey } from './key.ts';
import { type IdentityState, Rotation } from './rotation.ts';
import { CertificateStore } from './store.ts';

export interface IdentityOptions extends ConnectionOptions {
  files: HostFiles;
  certDir: string;
  /** How long certificates should live; the cluster may give less. */
  durationMs: number;
  nodeName: string;
  /** Whether a certificate for cloud-node-manager is kept, too. */
  cloudNode?: boolean;
  /** Called when there is one for the first time. */
  onCloudNode?: () => void;
  random?: () => number;
  /** Hears of a failure to get or store a certificate when it begins and when it becomes another one. */
  onTrouble?: (error: Error) => void;
  /** For the clients made here. */
  client?: ClientOptions;
}

/** Who the agent is towards the API server, kept up by itself. */
export interface AgentIdentity {
  /** Shows the newest certificate. A request for which there is none waits a while for one. */
  readonly connection: Connection;
  readonly client: Client;
  /** Resolves when there is a certificate; rejects only when the signal ends. */
  readonly ready: Promise<void>;
  readonly state: IdentityState;
  /** Resolves when the signal has ended all; the client is the caller's to close. */
  readonly stopped: Promise<void>;
}

/** Less than the deadline of a request, which would only say that no answer came. */
const certificateTimeoutMs = 20_000;
/** Credentials that may be tried for one request for a certificate. */
const maxTries = 5;

/** Starts to keep the certificates of this host. Rejects when the kubeconfig cannot be used. */
export async function startIdentity(options: IdentityOptions, signal: AbortSignal): Promise<AgentIdentity> {
  const { certDir, clock, nodeName, cloudNode = false } = options;
  const log = options.log.with({ part: 'identity' });
  const kubeconfig = await openKubeconfig(options);
  const connectionOf = (identity: Identity) => new LiveConnection(kubeconfig, identity, options.environment);
  const clientOptions = { clock, log, ...options.client };
  const own = agentIdentity(nodeName, certDir);
  /** What requests are made with, for whomever they are. */
  const credentials = () => {
    const sources = [heldCertificate(rotation), kubeconfigSource(kubeconfig)];
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
  // Whoever is not interested must not be ended by it.
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

/** Keeps the certificate of one identity, with the key that is in its file at the time of each request. */
function rotationOf(kept: KeptIdentity, options: IdentityOptions, credentials: Credentials): Rotation {
  const { clock, log, random = Math.random, onTrouble = () => undefined } = options;
  return new Rotation({
    user: kept.user,
    store: new CertificateStore(kept, options),
    async issue(signal, onRequested) {
      const key = await readKey(kept.keyFile, options.files);
      const { chain, client } = credentials();
      try {
        const issuing = { ...options, client: tryingEach(client, chain, signal), subject: kept, key, random };
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

/** A client whose requests for certificates are tried with every credential before they count as refused. */
function tryingEach(client: Client, chain: CredentialChain, signal: AbortSignal): IssueOptions['client'] {
  return {
    create: (...request) => tryEach(chain, signal, () => client.create(...request)),
    list: (...request) => client.list(...request),
    watch: (...request) => client.watch(...request),
  };
}

/** A server names only that it refuses; whatever else there is, is tried before the attempt counts as failed. */
async function tryEach<T>(chain: CredentialChain, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 401 || tries === maxTries) throw error;
      await chain.refuseLast(signal);
    }
  }
}

/** Renewal is asked for with the certificate itself: the approver binds it to the node. */
function heldCertificate(rotation: Rotation): CredentialSource {
  return {
    name: 'the own certificate',
    current: async () => {
      const { certificate } = rotation;
      if (certificate === undefined) throw noCertificate();
      return { clientCertificate: certificate.clientCertificate };
    },
    refresh: () => Promise.resolve(),
  };
}

function noCertificate(): AppError {
  return new AppError('AGENT_UNIDENTIFIED', 'there is no own certificate that is valid', {
    remedy: 'Wait until one is issued.',
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
  const why = cause === undefined ? 'it is being asked for' : cause.message;
  const remedy =
    cause instanceof AppError ? cause.remedy : 'See that the API server can be reached and the operator runs.';
  return new AppError('AGENT_UNIDENTIFIED', `there is no valid client certificate: ${why}`, { remedy, cause });
}
