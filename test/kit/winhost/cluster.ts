import type { Client } from '../../../src/kube/client.ts';
import { createClient } from '../../../src/kube/http-client.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../cluster/cluster.ts';
import { startRelay } from '../tcp-relay.ts';
import type { WindowsLab } from './lab.ts';

/** A real cluster that the hosts of a lab reach as https://apiserver.test:6443. */
export interface LabCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  /** Of the administrator, from this machine. */
  readonly client: Client;
  /** As hosts know it. */
  readonly url: string;
  /** Kubeconfig for use on a host, by a client certificate. */
  kubeconfigFor(user: string, groups?: readonly string[]): string;
  /** Hosts cannot reach the API server any more; connections that are open end. This machine still can. */
  cut(): void;
  /** Drops all traffic without closing connections, as when a cable is pulled. */
  freeze(): void;
  /** Ends both. */
  restore(): void;
  stop(): Promise<void>;
}

const name = 'apiserver.test';
const port = 6443;

export async function startLabCluster(lab: WindowsLab, options: ClusterOptions = {}): Promise<LabCluster> {
  const cluster = await startCluster({ ...options, names: [name, ...(options.names ?? [])] });
  // The API server listens on loopback, which hosts do not share with us.
  const relay = await startRelay(Number(new URL(cluster.url).port), { host: lab.address, port });
  const client = createClient(cluster.adminConfig);
  const url = `https://${name}:${port}`;
  const stop = async () => {
    await Promise.all([client.close(), relay.stop()]);
    await cluster.stop();
  };
  return {
    cluster,
    client,
    url,
    kubeconfigFor: (user, groups = []) => cluster.kubeconfigFor(user, groups, url),
    cut: () => {
      relay.refuse(true);
      relay.reset();
    },
    freeze: () => relay.freeze(),
    restore: () => {
      relay.refuse(false);
      relay.thaw();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
