import type { Clock } from '#base/clock.ts';
import type { HostVariableSource, Preparation } from '#contract/services/manifest.ts';
import type { HostPorts, HostValues } from '../ports.ts';
import { awsLocalHostname, gcpHostname } from './cloud-name.ts';
import { excludeFromDefender, includeInDefender } from './defender.ts';
import { hostNameOf } from './host-name.ts';
import { httpMetadata, type Metadata } from './metadata.ts';
import { writeNetworkFiles } from './network-files.ts';
import { nodeIp } from './node-ip.ts';

export interface HostValuesOptions {
  clock: Clock;
  /** How the cloud is asked about this machine; by plain HTTP unless somebody knows better. */
  metadata?: Metadata;
}

/** The values and preparations that a manifest may ask for, found out and brought about natively. */
export function createHostValues(ports: HostPorts, { clock, metadata }: HostValuesOptions): HostValues {
  const waitings = (signal: AbortSignal) => ({ clock, signal });
  const cloud = metadata ?? httpMetadata(clock);
  /** A cloud never renames a machine that runs, so it is asked once. */
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
        return cloudName(source, () => awsLocalHostname(cloud, waitings(signal)));
      case 'gcpHostname':
        return cloudName(source, () => gcpHostname(cloud, waitings(signal)));
      default:
        return source satisfies never;
    }
  }

  return {
    resolve,
    async prepare(preparation: Preparation, node, signal) {
      switch (preparation.kind) {
        case 'cni-and-kube-proxy':
          return writeNetworkFiles(preparation.arguments, node, ports, waitings(signal));
        case 'defender-exclusion':
          await excludeFromDefender(preparation.arguments['path'] ?? '', ports, waitings(signal));
          return false;
        default:
          return preparation.kind satisfies never;
      }
    },
    takeBack: signal => includeInDefender(ports, waitings(signal)),
    bootId: () => ports.system.bootId(),
  };
}
