import type { HostStats } from '../../src/sandbox/machines/host/spec.ts';
import { measuredTimes } from '../../src/sandbox/machines/times.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';

export interface HostsOptions {
  hosts: number;
  /** Options of `startSandbox`. */
  faults: readonly string[];
  /** For uploads to hosts. */
  folder: string;
}

/** Sent when all hosts run. */
export interface HostsReady {
  kubeconfig: string;
  namespace: string;
  /** Key of each host in windows-instances. */
  entries: [name: string, value: string][];
}

/** Sent on request. */
export interface HostsFigures {
  hosts: Record<string, HostStats>;
  cpuSeconds: number;
}

/** Simulated hosts and their cluster in a separate process, with the delays of the measurement of the Go operator. */
const { hosts, faults, folder } = JSON.parse(process.argv[2] ?? '{}') as HostsOptions;
const sandbox = await startSandbox({ hosts, faults, folder, times: measuredTimes, listsHosts: false });

const ready: HostsReady = {
  kubeconfig: sandbox.kubeconfig,
  namespace: sandbox.namespace,
  entries: sandbox.hosts.map(({ spec: { name, address, user, dnsSuffix } }) => [
    dnsSuffix === '' ? address : `${name}.${dnsSuffix}`,
    `username=${user}`,
  ]),
};
process.send?.(ready);

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const stats = sandbox.hosts.map(host => [host.spec.name, host.stats] as const);
  process.send?.({ hosts: Object.fromEntries(stats), cpuSeconds: (user + system) / 1e6 } satisfies HostsFigures);
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());
