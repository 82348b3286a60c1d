import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { ClientOptions } from '#kube/http-client.ts';
import type { HostPorts, HostValues } from '../ports.ts';

/** Options of the command line. */
export interface ControllerOptions {
  kubeconfigPath: string;
  namespace: string;
  /** Name of the Node of this host. */
  nodeName: string;
  /** Also maintain a certificate for cloud-node-manager. */
  cloudNode: boolean;
  /** Path of the trusted CA bundle; '' when none is expected. */
  caBundle: string;
  certDir: string;
  certDurationMs: number;
}

export interface ControllerDeps {
  ports: HostPorts & { host: HostValues };
  client: ClientOptions;
  clock: Clock;
  log: Log;
}
