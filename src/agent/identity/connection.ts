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
  /** Directory of the agent certificate; `C:\k\wicd-certs` by default. */
  certDir?: string;
  /** Source of proxy variables; none if not set. */
  environment?: Readonly<Record<string, string | undefined>>;
}

type Environment = ConnectionOptions['environment'];

/**
 * The connection of `bootstrap` and `cleanup`, which maintain no certificate. Uses the credential of the kubeconfig, or else
 * the certificate of the agent. Rejects when the kubeconfig cannot be read.
 */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const kubeconfig = await openKubeconfig(options);
  const sources = [kubeconfigSource(kubeconfig), storedCertificate(options)];
  const identity = new CredentialChain(sources, { clock: options.clock, remedy: remedyOf(kubeconfig.path) });
  return liveConnection(kubeconfig, identity, options.environment);
}

/** Reads the kubeconfig once, so that its errors show at the start. */
export async function openKubeconfig(options: ConnectionOptions): Promise<KubeconfigFile> {
  const kubeconfig = new KubeconfigFile(options.kubeconfigPath, options);
  await kubeconfig.connection();
  return kubeconfig;
}

/** The token that the operator writes, which the agent uses until it has a certificate; read again when rejected. */
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
  return { name: path, current: signal => identity.current(signal) };
}

/** A connection that follows its kubeconfig: a new CA or address is used from the next request on. */
export function liveConnection(kubeconfig: KubeconfigFile, identity: Identity, environment: Environment): Connection {
  return {
    identity: {
      current: async signal => {
        await kubeconfig.connection();
        return identity.current(signal);
      },
      renew: (refused, signal) => identity.renew(refused, signal),
    },
    get server() {
      return kubeconfig.known.server;
    },
    get serverName() {
      return kubeconfig.known.serverName;
    },
    get skipTlsVerify() {
      return kubeconfig.known.skipTlsVerify;
    },
    get proxyUrl() {
      return kubeconfig.known.proxyUrl ?? proxyFor(kubeconfig.known.server, environment ?? {});
    },
    trusted: () => kubeconfig.known.trusted(),
  };
}
