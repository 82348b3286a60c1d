import { KubeconfigFile } from '#agent/identity/kubeconfig-file.ts';
import type { Client } from '#kube/client.ts';
import { createClient } from '#kube/http-client.ts';
import type { ProgramHost } from './program-host.ts';

/** A client for a kubeconfig on the disk of a simulated host. */
export async function connectFrom(host: ProgramHost, kubeconfigPath: string, userAgent: string): Promise<Client> {
  const { ports, clock, log } = host;
  const kubeconfig = new KubeconfigFile(kubeconfigPath, { files: ports.files, clock, log });
  return createClient(await kubeconfig.connection(), { clock, log, userAgent, pingIntervalMs: 60_000 });
}
