import type { Clock } from '#base/clock.ts';
import type { HostVariableSource, Preparation } from '#contract/services/manifest.ts';
import type { HostPorts, HostValues } from '../ports.ts';
import { awsLocalHostname, gcpHostname, hostNameOf } from './cloud-name.ts';
import { excludeFromDefender, includeInDefender } from './defender.ts';
import { ensureHostRoute } from './host-route.ts';
import { httpMetadata, type Metadata } from './metadata.ts';
import { writeNetworkFiles } from './network-files.ts';
import { nodeIp } from './node-ip.ts';

export interface HostValuesOptions {
  clock: Clock;
  /** Plain HTTP by default. */
  metadata?: Metadata;
}

/** The native values and preparations of a manifest. */
export function createHostValues(ports: HostPorts, { clock, metadata }: HostValuesOptions): HostValues {
  const limits = (signal: AbortSignal) => ({ clock, signal });
  const cloud = metadata ?? httpMetadata(clock);
  /** A cloud never renames a running machine, so its name is requested once. */
  const names = new Map<HostVariableSource, string>();

  async function cloudName(source: HostVariableSource, ask: () => Promise<string>): Promise<string> {
    const name = names.get(source) ?? (await ask());
    names.set(source, name);
    return name;
  }

  async function resolve(source: HostVariableSource, signal: AbortSignal): Promise<string> {
    switch (source) {
      case 'nodeIP':
        return nodeIp(await ports.system.adapters());
      case 'fqdn':
        return hostNameOf(await ports.system.fqdn(), 'Windows');
      case 'awsLocalHostname':
        return cloudName(source, () => awsLocalHostname(cloud, limits(signal)));
      case 'gcpHostname':
        return cloudName(source, () => gcpHostname(cloud, limits(signal)));
      default:
        return source satisfies never;
    }
  }

  return {
    resolve,
    async prepare(preparation: Preparation, node, signal) {
      switch (preparation.kind) {
        case 'cni-and-kube-proxy':
          return writeNetworkFiles(preparation.arguments, node, ports, limits(signal));
        case 'defender-exclusion':
          await excludeFromDefender(preparation.arguments['path'] ?? '', ports, limits(signal));
          return false;
        case 'host-route':
          await ensureHostRoute(preparation.arguments['address'] ?? '', ports);
          return false;
        default:
          return preparation.kind satisfies never;
      }
    },
    revertPreparations: signal => includeInDefender(ports, limits(signal)),
    bootId: () => ports.system.bootId(),
  };
}
