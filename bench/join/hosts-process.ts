import { systemClock } from '../../src/base/clock.ts';
import { Overload } from '../../src/sandbox/apiserver/overload.ts';
import { administrator } from '../../src/sandbox/embedded-cluster.ts';
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
  /** Of the administrator, who measures. */
  kubeconfig: string;
  operatorKubeconfig: string;
  namespace: string;
  /** Key of each host in windows-instances. */
  entries: [name: string, value: string][];
}

/** Changes how the API server treats everyone but the administrator. */
export type HostsRequest = 'figures' | Pick<Overload, 'latencyMs' | 'isBusy'>;

/** Sent on request. */
export interface HostsFigures {
  hosts: Record<string, HostStats>;
  cpuSeconds: number;
  /** Requests answered with 429. */
  rejected: number;
}

/** Simulated hosts and their cluster in a separate process, with the delays of the measurement of the Go operator. */
const { hosts, faults, folder } = JSON.parse(process.argv[2] ?? '{}') as HostsOptions;
const overload = new Overload(systemClock, [administrator.commonName]);
const sandbox = await startSandbox({
  hosts,
  faults,
  folder,
  times: measuredTimes,
  listsHosts: false,
  beforeRequest: overload.hook,
});

const ready: HostsReady = {
  kubeconfig: sandbox.kubeconfig,
  operatorKubeconfig: sandbox.kubeconfigFor({ commonName: 'bench-operator', organizations: ['system:masters'] }),
  namespace: sandbox.namespace,
  entries: sandbox.hosts.map(({ spec: { name, address, user, dnsSuffix } }) => [
    dnsSuffix === '' ? address : `${name}.${dnsSuffix}`,
    `username=${user}`,
  ]),
};
process.send?.(ready);

process.on('message', (request: HostsRequest) => {
  if (request !== 'figures') Object.assign(overload, request);
  const { user, system } = process.cpuUsage();
  const stats = sandbox.hosts.map(host => [host.spec.name, host.stats] as const);
  const { rejected } = overload;
  const cpuSeconds = (user + system) / 1e6;
  process.send?.({ hosts: Object.fromEntries(stats), cpuSeconds, rejected } satisfies HostsFigures);
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());
