import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import type {
  Inventory,
  InventoryAdapter,
  InventoryNetwork,
  InventoryService,
  InventorySets,
} from '#contract/inventory.ts';
import { agentName, ports as portNumbers, serviceName } from '#contract/names.ts';
import { agentProgram, bundlePath, dir, file } from '#contract/paths.ts';
import type { HostVariableSource } from '#contract/services/manifest.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { findNodeName } from '../node-name.ts';
import type { Adapter, Files, HnsNetwork, HostFiles, HostPorts, HostValues, InstalledService } from '../ports.ts';
import { factsOf } from '../identity/certificate.ts';
import { findIdentities } from './identities.ts';
import { isManaged, serviceKey } from '../services/order.ts';
import type { HashOf } from '../stage/hash-cache.ts';
import { isSetRecord, readRecord, readSets, type StagedRecord } from '../stage/record.ts';
import { probeServer } from './probe.ts';

export interface InventoryOptions {
  agentVersion: string;
  /** Path of the running program; its hash is part of the inventory. */
  program: string;
  /** Reads the file by default. */
  hashOf?: HashOf | undefined;
  /** API server that the host has to reach. */
  probeUrl?: string;
  /** Source of `--hostname-override` on a host that is not configured; the computer name by default. */
  nameSource?: HostVariableSource;
  clock: Clock;
  signal: AbortSignal;
}

/** For each part; hashing all files takes longest. */
const partLimitMs = 60_000;

/** Everything the operator needs to know about the host. A part that fails is listed in `problems`. */
export async function inventory(
  ports: HostPorts & { host: Pick<HostValues, 'resolve'> },
  options: InventoryOptions,
): Promise<Inventory> {
  const { system, files, network } = ports;
  const { agentVersion, program, probeUrl, nameSource, clock, signal } = options;
  const { hashOf = (path: string) => files.sha256(path) } = options;
  // Used twice but read once: there are hundreds of services.
  let listing: Promise<InstalledService[]> | undefined;
  const services = { list: () => (listing ??= ports.services.list()) };
  const problems: string[] = [];
  const part = async <T>(what: string, find: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      const error = () => new Error(`no result within ${partLimitMs / 1000} s`);
      return await withDeadline({ clock, ms: partLimitMs, error, signal }, find);
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${what}: ${messageOf(error)}`);
      return otherwise;
    }
  };
  const unknownOs = { product: '', build: '', installationType: '' };
  const parts = {
    hostName: part('host name', () => system.hostName(), ''),
    fqdn: part('full host name', () => system.fqdn(), ''),
    nodeName: part('node name', () => findNodeName({ ...ports, services }, nameSource, signal), ''),
    os: part('operating system', () => system.operatingSystem(), unknownOs),
    bootId: part('boot id', () => system.bootId(), ''),
    pendingReboot: part('pending reboot', () => system.pendingReboot(), []),
    containersFeature: part('Containers feature', () => system.containersFeature(), 'unknown'),
    adapters: part('adapters', async () => (await system.adapters()).map(shownAdapter), []),
    isAdministrator: part('rights', () => system.isAdministrator(), false),
    portsInUse: part('ports', async () => (await system.listeningPorts()).filter(port => relevantPorts.has(port)), []),
    services: part('services', async () => (await services.list()).filter(isRelevant).map(shownService), []),
    files: part(
      'files',
      async () => hashFiles([program, ...(await knownFiles(files))], hashOf, what => problems.push(what)),
      {},
    ),
    stagedVersion: part('staged files', async () => (await readRecord(files)).version, ''),
    sets: part('sets of files', () => findSets(files), {}),
    copies: part('copies', () => findCopies(files), []),
    bundles: part('bundles', () => findBundles(files), {}),
    networks: part('networks', async () => (await network.networks()).map(shownNetwork), []),
    freeBytes: part('free disk', () => system.freeBytes(dir.k), 0),
    certificateExpires: part('client certificate', () => certificateExpiry(files), undefined),
    identities: part('identities', () => findIdentities(files), undefined),
    probe: part('API server', async () => probeUrl && (await probeServer(probeUrl, clock, signal)), undefined),
  };
  const { certificateExpires, identities, probe, ...known } = await settled(parts);
  return {
    agentVersion,
    ...known,
    time: new Date(clock.now()).toISOString(),
    ...(certificateExpires !== undefined && { certificateExpires }),
    ...(identities && { identities }),
    ...(probe && { probe }),
    problems,
  };
}

type Settled<T> = { [K in keyof T]: Awaited<T[K]> };

async function settled<T extends Record<string, Promise<unknown>>>(parts: T): Promise<Settled<T>> {
  const entries = Object.entries(parts).map(async ([name, value]) => [name, await value]);
  return Object.fromEntries(await Promise.all(entries)) as Settled<T>;
}

function shownAdapter({ name, mac, addresses, isUp, defaultRouteMetric }: Adapter): InventoryAdapter {
  return { name, mac, addresses, isUp, hasDefaultRoute: defaultRouteMetric !== undefined };
}

function shownNetwork({ name, subnets, managementIp }: HnsNetwork): InventoryNetwork {
  return { name, subnets, managementIp };
}

const serviceNames = new Set([agentName, ...Object.values(serviceName)].map(serviceKey));

const relevantPorts = new Set<number>([portNumbers.kubelet, portNumbers.exporter]);

function isRelevant(service: InstalledService): boolean {
  return isManaged(service) || serviceNames.has(serviceKey(service.name));
}

function shownService(service: InstalledService): InventoryService {
  const { name, state, config } = service;
  return { name, state, command: config.command, isManaged: isManaged(service) };
}

/** Files that the operator writes and staged files, without logs. */
async function knownFiles(files: HostFiles): Promise<string[]> {
  const fixed = Object.values(file).filter(path => !path.startsWith(`${dir.log}\\`) && !isSetRecord(path));
  return [...(await readRecord(files)).files.map(({ path }) => path), ...fixed];
}

async function hashFiles(
  paths: readonly string[],
  hashOf: HashOf,
  onProblem: (what: string) => void,
): Promise<Record<string, string>> {
  const hashes = new Map<string, string>();
  for (const path of new Set(paths)) {
    try {
      const hash = await hashOf(path);
      if (hash !== undefined) hashes.set(path, hash);
    } catch (error) {
      onProblem(`file ${path}: ${messageOf(error)}`);
    }
  }
  return Object.fromEntries(hashes);
}

/** Complete uploads are named by their hash. */
async function findBundles(files: HostFiles): Promise<Record<string, number>> {
  const names = (await files.list(dir.incoming)).filter(name => /^[0-9a-f]{64}$/.test(name));
  const sizes = names.map(async name => [name, (await files.stat(bundlePath(name)))?.bytes ?? 0]);
  return Object.fromEntries(await Promise.all(sizes));
}

/** The previous set is listed only with its agent, which puts it back. */
async function findSets(files: HostFiles): Promise<InventorySets> {
  const { current, next, previous } = await readSets(files);
  const shown = ({ version, agent, bundle }: StagedRecord) => ({ version, agent, bundle });
  const hasAgent = previous !== undefined && (await files.stat(agentProgram(previous.agent))) !== undefined;
  return {
    ...(current.version !== '' && { current: shown(current) }),
    ...(next && { next: shown(next) }),
    ...(hasAgent && { previous: shown(previous) }),
  };
}

async function findCopies(files: HostFiles): Promise<string[]> {
  const names = await files.list(dir.staged);
  return [...new Set(names.flatMap(name => /^([0-9a-f]{64})(\.zst)?$/.exec(name)?.[1] ?? []))];
}

async function certificateExpiry(files: Files): Promise<string | undefined> {
  const text = await files.read(file.agentCertificate);
  return text === undefined ? undefined : new Date(factsOf(text).notAfterMs).toISOString();
}
