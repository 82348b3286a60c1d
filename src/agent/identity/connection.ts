import type { Secret } from '#base/secret.ts';
import { dir, file, splitPath } from '#contract/paths.ts';
import { certificateIdentity } from '#kube/config/identity.ts';
import { proxyFor } from '#kube/config/proxy-environment.ts';
import { changingText } from '#kube/config/text-source.ts';
import type { Connection, Identity } from '#kube/transport/connection.ts';
import { unusable } from './certificate.ts';
import { CredentialChain, type CredentialSource } from './credentials.ts';
import { KubeconfigFile, type KubeconfigPorts } from './kubeconfig-file.ts';

export interface ConnectionOptions extends KubeconfigPorts {
  kubeconfigPath: string;
  /** Where the agent keeps its certificate; `C:\k\wicd-certs` by default. */
  certDir?: string;
  /** Proxy variables are taken from here; none when absent. */
  environment?: Readonly<Record<string, string | undefined>>;
}

type Environment = ConnectionOptions['environment'];

/**
 * The connection of verbs that keep no certificate: `bootstrap` and `cleanup`. It shows what the kubeconfig has, else the
 * certificate that the agent keeps. Rejects when the kubeconfig cannot be read.
 */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const kubeconfig = await openKubeconfig(options);
  const sources = [kubeconfigSource(kubeconfig), storedCertificate(options)];
  const identity = new CredentialChain(sources, { clock: options.clock, remedy: remedyOf(kubeconfig.path) });
  return new LiveConnection(kubeconfig, identity, options.environment);
}

/** Reads the kubeconfig once, so that what is wrong with it is known at the start. */
export async function openKubeconfig(options: ConnectionOptions): Promise<KubeconfigFile> {
  const kubeconfig = new KubeconfigFile(options.kubeconfigPath, options);
  await kubeconfig.connection();
  return kubeconfig;
}

/** What the agent shows while it has no certificate: the token that the operator writes, read again after a refusal. */
export function kubeconfigSource(kubeconfig: KubeconfigFile): CredentialSource {
  return {
    name: kubeconfig.path,
    current: async signal => (await kubeconfig.connection()).identity.current(signal),
    refresh: () => kubeconfig.reread(),
  };
}

export function remedyOf(kubeconfigPath: string): string {
  return `Wait for the operator to reconnect the host: it writes a kubeconfig with a new token to ${kubeconfigPath}.`;
}

function storedCertificate({ certDir = dir.agentCerts, files, clock }: ConnectionOptions): CredentialSource {
  const path = `${certDir}\\${splitPath(file.agentCertificate).name}`;
  const text = changingText(
    async () => {
      const found = await files.read(path);
      if (found === undefined) throw unusable(path, 'does not exist');
      return found;
    },
    0,
    clock,
  );
  const identity = certificateIdentity(text, text);
  return { name: path, current: signal => identity.current(signal), refresh: () => Promise.resolve() };
}

/** A connection that follows its kubeconfig: a new CA or address counts from the next request on. */
export class LiveConnection implements Connection {
  readonly #kubeconfig: KubeconfigFile;
  readonly #environment: Environment;
  readonly identity: Identity;

  constructor(kubeconfig: KubeconfigFile, identity: Identity, environment: Environment) {
    this.#kubeconfig = kubeconfig;
    this.#environment = environment;
    this.identity = {
      current: async signal => {
        await kubeconfig.connection();
        return identity.current(signal);
      },
      renew: (refused, signal) => identity.renew(refused, signal),
    };
  }

  get server(): string {
    return this.#kubeconfig.known.server;
  }

  get serverName(): string | undefined {
    return this.#kubeconfig.known.serverName;
  }

  get skipTlsVerify(): boolean {
    return this.#kubeconfig.known.skipTlsVerify;
  }

  get proxyUrl(): Secret | undefined {
    return this.#kubeconfig.known.proxyUrl ?? proxyFor(this.server, this.#environment ?? {});
  }

  trusted(): Promise<string | undefined> {
    return this.#kubeconfig.known.trusted();
  }
}
