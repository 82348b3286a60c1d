import { generateKeyPairSync } from 'node:crypto';
import { type Clock, systemClock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { Secret } from '#base/secret.ts';
import { defaultNamespace } from '#contract/names.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import type { DialTcp } from '#host/dial-tcp.ts';
import type { Connect } from '#host/host.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import type { Resolver } from '#host/resolver.ts';
import { connect } from '#host/ssh/connect.ts';
import type { ServerVersion } from './apiserver/discovery.ts';
import type { RequestHook } from './apiserver/pipeline.ts';
import type { Controller } from './apiserver/ports.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts';
import { clusterControllers } from './machines/cluster/all.ts';
import { scaledClock } from './machines/clocks.ts';
import { assignFaults, type FaultName } from './machines/faults.ts';
import { dnsNameOf, Fleet, type NewHost } from './machines/fleet.ts';
import { ContentStore } from './machines/host/content-store.ts';
import type { SimulatedHost } from './machines/host/host.ts';
import { publishNetwork } from './machines/published-network.ts';
import { routedConnect } from './machines/routes.ts';
import { type Times, defaultTimes } from './machines/times.ts';
import { createInitialObjects } from './machines/initial-objects/install.ts';
import { type ClusterKind, type InitialFacts, machineSetName } from './machines/initial-objects/objects.ts';

export interface SandboxOptions {
  /** Number of hosts: `win-1`, `win-2` and so on. */
  hosts?: number;
  /** Replicas of the MachineSet. */
  machines?: number;
  /** `fault` or `fault@host`; Machines are `winworker-1`, `winworker-2` and so on. */
  faults?: readonly string[];
  /** Speed of simulated delays. */
  speed?: number;
  times?: Partial<Times>;
  platform?: (typeof sandboxPlatforms)[number];
  /** OpenShift by default; a Kubernetes cluster has no Machines and no service CA. */
  kind?: ClusterKind;
  /** Namespace of the operator. */
  namespace?: string;
  /** gitVersion of the API server; that of the payload's kubelet by default. */
  serverVersion?: string;
  /** Version of agents whose file has no stamp. */
  agentVersion?: string;
  /** Whether to list the hosts in windows-instances; true by default. */
  listsHosts?: boolean;
  /** Lists hosts by name; otherwise every third by its DNS name and the others by address. */
  listsNames?: boolean;
  /** Port of the API server; any free one by default. */
  port?: number;
  /** Parent of the folder with the files of hosts; the system's temporary folder by default. */
  folder?: string;
  /** To measure or disturb requests to the API server. */
  beforeRequest?: RequestHook;
  clock?: Clock;
  log?: Log;
}

/** Other clouds have a metadata service, which is not simulated. */
export const sandboxPlatforms = ['None', 'VSphere', 'Nutanix', 'Azure'] as const;

/** A cluster with simulated Windows hosts in this process. The caller starts the operator. */
export interface Sandbox extends AsyncDisposable {
  /** URL of the API server. */
  readonly url: string;
  readonly ca: string;
  readonly namespace: string;
  /** For the administrator. */
  readonly kubeconfig: string;
  kubeconfigFor: EmbeddedCluster['kubeconfigFor'];
  /** SSH key of the hosts (PEM). */
  readonly privateKey: Secret;
  /** Connects to hosts by their sandbox addresses and names. */
  readonly connect: Connect;
  readonly dialTcp: DialTcp;
  readonly resolver: Resolver;
  readonly hosts: readonly SimulatedHost[];
  host(name: string): SimulatedHost;
  addHost(host: Omit<NewHost, 'user' | 'authorizedKeys'>): Promise<SimulatedHost>;
  removeHost(name: string): Promise<void>;
  /** Gives a host another address and returns it; its DNS name resolves to it. */
  moveHost(name: string): string;
  /** Brings the API server to another version, as `v1.38.0`; connections to it break. */
  upgradeServer(gitVersion: string): void;
  /** The faults of a host that have not ended. */
  faultsOf(name: string): readonly FaultName[];
  /** Changes a host as an administrator does who follows the remedy of the fault. */
  endFault(name: string, fault: FaultName): void;
  /** Stops everything and deletes temporary files. */
  stop(): Promise<void>;
}

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
  const machineNames = Array.from({ length: machines }, (_, index) => `${machineSetName}-${index + 1}`);
  const faults = assignFaults(options.faults ?? [], hostNames, machineNames);
  const parts = await openParts({ ...options, platform, machineFaults: faults });
  const addHost = hostAdder(parts);
  try {
    await Promise.all(
      hostNames.map((name, index) => addHost({ name, hasDnsName: index % 3 === 2, faults: faults.get(name) ?? [] })),
    );
    await createInitialObjects(parts.cluster.api, initialFacts(parts, options), parts.clock);
    publishNetwork(parts.cluster.api, parts.fleet);
    for (const controller of parts.controllers) controller.start(parts.cluster.api);
  } catch (error) {
    await close(parts);
    throw error;
  }
  return sandboxOf(parts, addHost);
}

async function openParts(
  options: SandboxOptions & { platform: string; machineFaults: ReadonlyMap<string, readonly FaultName[]> },
): Promise<Parts> {
  const { clock = systemClock, log = silentLog, speed = 1, platform, machineFaults, port, beforeRequest } = options;
  const delays = scaledClock(clock, speed);
  const times = { ...defaultTimes, ...options.times };
  const version = serverVersion(options.serverVersion ?? payloadKubeletVersion);
  const optional = { ...(port !== undefined && { port }), ...(beforeRequest && { beforeRequest }) };
  const cluster = await startEmbeddedCluster({ clock, log, version, ...optional });
  const store = await ContentStore.open(options.folder);
  const onChange = coalesce(() => publishNetwork(cluster.api, fleet));
  const fleet = new Fleet({ store, clock, delays, agentVersion: options.agentVersion ?? 'sandbox', onChange }, times);
  const { kind = 'openshift' } = options;
  const controllers = clusterControllers({ kind, fleet, platform, machineFaults, times, clock, speed, log });
  const { namespace = defaultNamespace } = options;
  return { cluster, store, fleet, controllers, clock, namespace, privateKey: newPrivateKey() };
}

function serverVersion(gitVersion: string): ServerVersion {
  const [major = '1', minor = '0'] = gitVersion.slice(1).split('.');
  return { major, minor, gitVersion };
}

function hostAdder({ fleet, privateKey }: Parts): Sandbox['addHost'] {
  const authorizedKeys = [parsePrivateKey(privateKey.reveal()).publicKey];
  return async added => {
    const host = fleet.add({ ...added, user: 'Administrator', authorizedKeys });
    await host.start();
    return host;
  };
}

function initialFacts({ cluster, fleet, clock, namespace, privateKey }: Parts, options: SandboxOptions): InitialFacts {
  const { kind = 'openshift', platform = 'None', machines = 0, listsHosts = true, listsNames = false } = options;
  const keyOf = (host: SimulatedHost) => (listsNames ? host.spec.name : (dnsNameOf(host) ?? host.spec.address));
  const listed = fleet.hosts.map(host => [keyOf(host), `username=${host.spec.user}`]);
  return {
    kind,
    namespace,
    platform,
    apiServerUrl: cluster.url,
    ca: cluster.ca,
    privateKey: privateKey.reveal(),
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
    dialTcp: fleet.dialTcp,
    resolver: fleet.names,
    get hosts() {
      return fleet.hosts;
    },
    host: name => fleet.host(name),
    addHost,
    removeHost: name => fleet.remove(name),
    moveHost: name => fleet.move(name),
    upgradeServer: gitVersion => cluster.upgrade(serverVersion(gitVersion)),
    faultsOf: name => fleet.faultsOf(name),
    endFault: (name, fault) => fleet.endFault(name, fault),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Clients of the API server stop before it does. */
async function close({ cluster, store, fleet, controllers }: Parts): Promise<void> {
  for (const controller of controllers) controller.stop();
  await fleet.stop();
  await cluster.close();
  await store.close();
}

/** Coalesces calls: runs once, in the next tick. */
function coalesce(act: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      act();
    });
  };
}

function newPrivateKey(): Secret {
  return new Secret(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
}

function usage(what: string): AppError {
  return new AppError('USAGE', `invalid sandbox option: ${what}`, {
    remedy: `Give whole numbers of hosts and Machines, and one of the platforms ${sandboxPlatforms.join(', ')}.`,
  });
}
