import { generateKeyPairSync } from 'node:crypto';
import { type Clock, systemClock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { Secret } from '#base/secret.ts';
import { defaultNamespace } from '#contract/names.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import type { Connect } from '#host/host.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import type { Resolver } from '#host/resolver.ts';
import { connect } from '#host/ssh/connect.ts';
import { createAuthority, issueServerPair } from './apiserver/auth/ca.ts';
import type { Controller } from './apiserver/ports.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts';
import { clusterControllers } from './machines/cluster/all.ts';
import { scaledClock } from './machines/clocks.ts';
import { assignFaults, type Fault } from './machines/faults.ts';
import { dnsNameOf, Fleet, type HostWish } from './machines/fleet.ts';
import { ContentStore } from './machines/host/content-store.ts';
import type { SimulatedHost } from './machines/host/host.ts';
import { publishNetwork } from './machines/published-network.ts';
import { routedConnect } from './machines/routes.ts';
import { type Times, defaultTimes } from './machines/times.ts';
import { createInitialObjects } from './machines/initial-objects/install.ts';
import type { InitialFacts } from './machines/initial-objects/objects.ts';

export interface SandboxOptions {
  /** How many hosts stand there waiting to be listed: `win-1`, `win-2` and so on. Every third is known by a DNS name. */
  hosts?: number;
  /** How many Machines a MachineSet wants. */
  machines?: number;
  /** `fault` or `fault@host`; Machines are `machine-1`, `machine-2` and so on. */
  faults?: readonly string[];
  /** How much faster than in reality simulated work goes. */
  speed?: number;
  times?: Partial<Times>;
  platform?: (typeof sandboxPlatforms)[number];
  /** Of the operator. */
  namespace?: string;
  /** Of agents whose file does not tell. */
  agentVersion?: string;
  /** False when nobody has listed the hosts in windows-instances yet. */
  listsHosts?: boolean;
  /** Of the API server; any when absent. */
  port?: number;
  /** Where files of hosts are kept while it runs; the usual place for temporary files when absent. */
  folder?: string;
  clock?: Clock;
  log?: Log;
}

/** Other clouds tell their machines who they are by a service that only exists there. */
export const sandboxPlatforms = ['None', 'VSphere', 'Nutanix', 'Azure'] as const;

/** A cluster with Windows machines, in this process. The operator is somebody else's to start. */
export interface Sandbox extends AsyncDisposable {
  /** Of the API server. */
  readonly url: string;
  readonly ca: string;
  readonly namespace: string;
  /** Of the administrator. */
  readonly kubeconfig: string;
  kubeconfigFor: EmbeddedCluster['kubeconfigFor'];
  /** The one with which hosts are reached, in PEM form. */
  readonly privateKey: Secret;
  /** Reaches the hosts by the addresses and names they have in the sandbox. */
  readonly connect: Connect;
  readonly resolver: Resolver;
  readonly hosts: readonly SimulatedHost[];
  /** By its name. */
  host(name: string): SimulatedHost;
  addHost(wish: Omit<HostWish, 'user' | 'authorizedKeys'>): Promise<SimulatedHost>;
  removeHost(name: string): Promise<void>;
  /** Ends everything and leaves nothing behind. */
  stop(): Promise<void>;
}

/** Everything that has to be closed. */
interface Parts {
  cluster: EmbeddedCluster;
  store: ContentStore;
  fleet: Fleet;
  controllers: readonly Controller[];
  clock: Clock;
  namespace: string;
  privateKey: Secret;
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { hosts = 0, machines = 0, platform = 'None' } = options;
  for (const count of [hosts, machines])
    if (!Number.isInteger(count) || count < 0) throw usage(`${shown(count)} hosts`);
  if (!sandboxPlatforms.includes(platform)) throw usage(`platform ${shown(platform)}`);
  const hostNames = Array.from({ length: hosts }, (_, index) => `win-${index + 1}`);
  const machineNames = Array.from({ length: machines }, (_, index) => `machine-${index + 1}`);
  const faults = assignFaults(options.faults ?? [], hostNames, machineNames);
  const machineFaults = machineNames.map(name => faults.get(name) ?? []);
  const parts = await openParts({ ...options, platform, machineFaults });
  const addHost = hostAdder(parts);
  try {
    await Promise.all(
      hostNames.map((name, index) => addHost({ name, hasDnsName: index % 3 === 2, faults: faults.get(name) ?? [] })),
    );
    await createInitialObjects(parts.cluster.api, worldFacts(parts, options), parts.clock);
    publishNetwork(parts.cluster.api, parts.fleet);
    for (const controller of parts.controllers) controller.start(parts.cluster.api);
  } catch (error) {
    await close(parts);
    throw error;
  }
  return sandboxOf(parts, addHost);
}

async function openParts(
  options: SandboxOptions & { platform: string; machineFaults: readonly (readonly Fault[])[] },
): Promise<Parts> {
  const { clock = systemClock, log = silentLog, speed = 1, platform, machineFaults, port } = options;
  const delays = scaledClock(clock, speed);
  const times = { ...defaultTimes, ...options.times };
  const [major = '1', minor = '0'] = payloadKubeletVersion.slice(1).split('.');
  const version = { major, minor, gitVersion: payloadKubeletVersion };
  const cluster = await startEmbeddedCluster({ clock, log, version, ...(port === undefined ? {} : { port }) });
  const store = await ContentStore.open(options.folder);
  const onChange = once(() => publishNetwork(cluster.api, fleet));
  const fleet = new Fleet({ store, clock, delays, agentVersion: options.agentVersion ?? 'sandbox', onChange }, times);
  const controllers = clusterControllers({ fleet, platform, machineFaults, times, clock, speed, log });
  const { namespace = defaultNamespace } = options;
  return { cluster, store, fleet, controllers, clock, namespace, privateKey: newPrivateKey() };
}

function hostAdder({ fleet, privateKey }: Parts): Sandbox['addHost'] {
  const authorizedKeys = [parsePrivateKey(privateKey.reveal()).publicKey];
  return async wish => {
    const host = fleet.add({ ...wish, user: 'Administrator', authorizedKeys });
    await host.start();
    return host;
  };
}

function worldFacts({ cluster, fleet, clock, namespace, privateKey }: Parts, options: SandboxOptions): InitialFacts {
  const { platform = 'None', machines = 0, listsHosts = true } = options;
  const listed = fleet.hosts.map(host => [dnsNameOf(host) ?? host.spec.address, `username=${host.spec.user}`]);
  const service = `windows-exporter.${namespace}.svc`;
  return {
    namespace,
    platform,
    apiServerUrl: cluster.url,
    ca: cluster.ca,
    privateKey: privateKey.reveal(),
    tls: issueServerPair(createAuthority('service-ca', clock), [service], clock),
    instances: listsHosts ? (Object.fromEntries(listed) as Record<string, string>) : undefined,
    machines,
    nowMs: clock.now(),
  };
}

function sandboxOf(parts: Parts, addHost: Sandbox['addHost']): Sandbox {
  const { cluster, fleet, clock, namespace, privateKey } = parts;
  let closing: Promise<void> | undefined;
  const stop = () => (closing ??= close(parts));
  return {
    url: cluster.url,
    ca: cluster.ca,
    namespace,
    kubeconfig: cluster.kubeconfigFor(),
    kubeconfigFor: user => cluster.kubeconfigFor(user),
    privateKey,
    connect: routedConnect(fleet.findRoute, connect, clock),
    resolver: fleet.names,
    get hosts() {
      return fleet.hosts;
    },
    host: name => fleet.host(name),
    addHost,
    removeHost: name => fleet.remove(name),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Whoever still speaks to the API server ends before it does. */
async function close({ cluster, store, fleet, controllers }: Parts): Promise<void> {
  for (const controller of controllers) controller.stop();
  await fleet.stop();
  await cluster.close();
  await store.close();
}

/** However often it is called in one go, what has to be done is done once, a moment later. */
function once(act: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      act();
    });
  };
}

function newPrivateKey(): Secret {
  return new Secret(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
}

function usage(what: string): AppError {
  return new AppError('USAGE', `a sandbox cannot have ${what}`, {
    remedy: `Give whole numbers of hosts and Machines, and one of the platforms ${sandboxPlatforms.join(', ')}.`,
  });
}
