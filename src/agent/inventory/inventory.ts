import { X509Certificate } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { messageOf } from '#base/errors.ts';
import { scanPem } from '#base/pem.ts';
import type { Inventory, InventoryAdapter, InventoryNetwork, InventoryService } from '#contract/inventory.ts';
import { agentName, managedTag, ports as portNumbers, serviceName } from '#contract/names.ts';
import { bundlePath, dir, file } from '#contract/paths.ts';
import type { HostVariableSource } from '#contract/services/manifest.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { findNodeName } from '../node-name.ts';
import type { Adapter, Files, HnsNetwork, HostFiles, HostPorts, HostValues, InstalledService } from '../ports.ts';
import { serviceKey } from '../services/order.ts';
import type { HashOf } from '../stage/hash-cache.ts';
import { readRecord } from '../stage/record.ts';
import { probeServer } from './probe.ts';

export interface InventoryOptions {
  agentVersion: string;
  /** Path of the program that runs; its hash is told beside those of our files. */
  program: string;
  /** By reading the file when missing. */
  hashOf?: HashOf | undefined;
  /** Address of an API server that the host should be able to reach. */
  probeUrl?: string;
  /** Where the kubelet's `--hostname-override` will come from on a host that is not configured; the computer name when missing. */
  nameSource?: HostVariableSource;
  clock: Clock;
  signal: AbortSignal;
}

/** For each part; reading all of our files takes longest. */
const partLimitMs = 60_000;

/** Everything the operator wants to know about the host. What cannot be found out is told, and takes nothing else along. */
export async function inventory(
  ports: HostPorts & { host: Pick<HostValues, 'resolve'> },
  options: InventoryOptions,
): Promise<Inventory> {
  const { system, files, network } = ports;
  const { agentVersion, program, probeUrl, nameSource, clock, signal } = options;
  const { hashOf = (path: string) => files.sha256(path) } = options;
  // Asked for twice, read once: there are hundreds.
  let listing: Promise<InstalledService[]> | undefined;
  const services = { list: () => (listing ??= ports.services.list()) };
  const problems: string[] = [];
  const part = async <T>(what: string, find: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      const error = () => new Error(`not known within ${partLimitMs} ms`);
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
    portsInUse: part('ports', async () => (await system.listeningPorts()).filter(port => ourPorts.has(port)), []),
    services: part('services', async () => (await services.list()).filter(isOurs).map(shownService), []),
    files: part(
      'files',
      async () => hashFiles([program, ...(await ourFiles(files))], hashOf, what => problems.push(what)),
      {},
    ),
    stagedVersion: part('staged files', async () => (await readRecord(files)).version, ''),
    bundles: part('bundles', () => findBundles(files), {}),
    networks: part('networks', async () => (await network.networks()).map(shownNetwork), []),
    freeBytes: part('free disk', () => system.freeBytes(dir.k), 0),
    certificateExpires: part('client certificate', () => certificateExpiry(files), undefined),
    probe: part('API server', async () => probeUrl && (await probeServer(probeUrl, clock, signal)), undefined),
  };
  const { certificateExpires, probe, ...known } = await settled(parts);
  return {
    agentVersion,
    ...known,
    time: new Date(clock.now()).toISOString(),
    ...(certificateExpires !== undefined && { certificateExpires }),
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

const ourNames = new Set([agentName, ...Object.values(serviceName)].map(serviceKey));

const ourPorts = new Set<number>([portNumbers.kubelet, portNumbers.exporter]);

function isOurs(service: InstalledService): boolean {
  return isManaged(service) || ourNames.has(serviceKey(service.name));
}

function isManaged({ config }: InstalledService): boolean {
  return config.description.includes(managedTag);
}

function shownService(service: InstalledService): InventoryService {
  const { name, state, config } = service;
  return { name, state, command: config.command, isManaged: isManaged(service) };
}

/** Whatever the operator writes, and whatever was staged; logs are nobody's business here. */
async function ourFiles(files: HostFiles): Promise<string[]> {
  const fixed = Object.values(file).filter(path => !path.startsWith(`${dir.log}\\`) && path !== file.stagedRecord);
  return [...(await readRecord(files)).files.map(({ path }) => path), ...fixed];
}

async function hashFiles(
  paths: readonly string[],
  hashOf: HashOf,
  note: (what: string) => void,
): Promise<Record<string, string>> {
  const hashes = new Map<string, string>();
  for (const path of new Set(paths)) {
    try {
      const hash = await hashOf(path);
      if (hash !== undefined) hashes.set(path, hash);
    } catch (error) {
      note(`file ${path}: ${messageOf(error)}`);
    }
  }
  return Object.fromEntries(hashes);
}

/** Only what has come to its end bears the name of a hash. */
async function findBundles(files: HostFiles): Promise<Record<string, number>> {
  const names = (await files.list(dir.incoming)).filter(name => /^[0-9a-f]{64}$/.test(name));
  const sizes = names.map(async name => [name, (await files.stat(bundlePath(name)))?.bytes ?? 0]);
  return Object.fromEntries(await Promise.all(sizes));
}

async function certificateExpiry(files: Files): Promise<string | undefined> {
  const text = await files.read(file.agentCertificate);
  if (text === undefined) return undefined;
  const der = scanPem(text).blocks.find(({ type }) => type === 'CERTIFICATE')?.der;
  if (der === undefined) throw new Error(`${file.agentCertificate} holds no certificate`);
  return new X509Certificate(der).validToDate.toISOString();
}
