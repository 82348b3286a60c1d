import { identity } from '../../src/contract/names.ts';
import { dir } from '../../src/contract/paths.ts';
import { systemClock } from '../../src/base/clock.ts';
import { Overload } from '../../src/sandbox/apiserver/overload.ts';
import type { RequestHook } from '../../src/sandbox/apiserver/pipeline.ts';
import { administrator } from '../../src/sandbox/embedded-cluster.ts';
import type { HostStats } from '../../src/sandbox/machines/host/spec.ts';
import { measuredTimes } from '../../src/sandbox/machines/times.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
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

/**
 * `latencyMs`, `isBusy`: changes how the API server treats everyone but the administrator. `off`: the names of the hosts that are off
 * from now on.
 */
export type HostsRequest = 'figures' | Pick<Overload, 'latencyMs' | 'isBusy'> | { off: readonly string[] };

/** Sent on request. */
export interface HostsFigures {
  hosts: Record<string, HostStats>;
  cpuSeconds: number;
  /** Requests answered with 429. */
  rejected: number;
  /** Writes of operator and agents but Leases, by verb and resource. */
  writes: Record<string, number>;
  /** What is on the hosts, by name. */
  states: Record<string, HostState>;
}

export interface HostState {
  isOn: boolean;
  /** Text of each `hosts.toml`, by path. */
  mirrors: Record<string, string>;
  /** Of each service, by name: another one after a restart. */
  pids: Record<string, number>;
}

/** Simulated hosts and their cluster in a separate process, with the delays of the measurement of the Go operator. */
const { hosts, faults, folder } = JSON.parse(process.argv[2] ?? '{}') as HostsOptions;
const operatorName = 'bench-operator';
const writes: Record<string, number> = {};
const overload = new Overload(systemClock, [administrator.commonName]);
const sandbox = await startSandbox({
  hosts,
  faults,
  folder,
  times: measuredTimes,
  listsHosts: false,
  beforeRequest: request => {
    countWrite(request);
    return overload.hook(request);
  },
});

const ready: HostsReady = {
  kubeconfig: sandbox.kubeconfig,
  operatorKubeconfig: sandbox.kubeconfigFor({ commonName: operatorName, organizations: ['system:masters'] }),
  namespace: sandbox.namespace,
  entries: sandbox.hosts.map(({ spec: { name, address, user, dnsSuffix } }) => [
    dnsSuffix === '' ? address : `${name}.${dnsSuffix}`,
    `username=${user}`,
  ]),
};
process.send?.(ready);

process.on('message', (request: HostsRequest) => void answer(request));

async function answer(request: HostsRequest): Promise<void> {
  if (request !== 'figures' && 'off' in request) switchHosts(request.off);
  else if (request !== 'figures') Object.assign(overload, request);
  const { user, system } = process.cpuUsage();
  const stats = sandbox.hosts.map(host => [host.spec.name, host.stats] as const);
  const { rejected } = overload;
  const cpuSeconds = (user + system) / 1e6;
  const states = await Promise.all(sandbox.hosts.map(async host => [host.spec.name, await stateOf(host)] as const));
  const figures = {
    hosts: Object.fromEntries(stats),
    states: Object.fromEntries(states),
    writes,
    cpuSeconds,
    rejected,
  };
  process.send?.(figures satisfies HostsFigures);
}

function countWrite({ user, info }: Parameters<RequestHook>[0]): void {
  const isOurs = user.username === operatorName || user.username.startsWith(identity.agentUserPrefix);
  if (!isOurs || info.resource === 'leases' || ['get', 'list', 'watch'].includes(info.verb)) return;
  const write = `${info.verb} ${info.resource}`;
  writes[write] = (writes[write] ?? 0) + 1;
}

function switchHosts(off: readonly string[]): void {
  for (const host of sandbox.hosts) {
    if (off.includes(host.spec.name)) host.switchOff();
    else host.switchOn();
  }
}

async function stateOf({ isOn, files, services }: SimulatedHost): Promise<HostState> {
  const paths = files.paths().filter(path => path.startsWith(`${dir.registries}\\`));
  const texts = await Promise.all(paths.map(async path => [path, (await files.read(path)) ?? ''] as const));
  const pids = (await services.list()).map(({ name, pid }) => [name, pid] as const);
  return { isOn, mirrors: Object.fromEntries(texts), pids: Object.fromEntries(pids) };
}

process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());
