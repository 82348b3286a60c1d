import { AppError } from '#base/errors.ts';
import { Fields, isRecord, jsonIn } from '#base/fields.ts';
import { isVersionText } from './version.ts';

/** The result of the agent command `inventory`. */
export interface Inventory {
  agentVersion: string;
  hostName: string;
  fqdn: string;
  /** Name under which the kubelet registers, in lower case; '' when unknown. */
  nodeName: string;
  os: { product: string; build: string; installationType: string };
  bootId: string;
  /** Why Windows needs a reboot. */
  pendingReboot: string[];
  containersFeature: string;
  adapters: InventoryAdapter[];
  /** Whether the SSH user has administrator rights. */
  isAdministrator: boolean;
  /** TCP ports of our services on which a program listens. */
  portsInUse: number[];
  /** Services that the operator manages, and others with the same names. */
  services: InventoryService[];
  /** SHA-256 of the operator's files by path; missing files are not listed. */
  files: Record<string, string>;
  /** Operator version of the files that were staged last; may be empty. */
  stagedVersion: string;
  /** The sets of files on the host. */
  sets: InventorySets;
  /** Hashes of files of which a packed copy is on the host: they need not be uploaded. */
  copies: string[];
  /** Sizes of complete bundles that are not staged yet, by hash. */
  bundles: Record<string, number>;
  networks: InventoryNetwork[];
  /** RFC 3339 with milliseconds, by the clock of the host. */
  time: string;
  /** On the disk of the operator's files. */
  freeBytes: number;
  /** Expiry of the agent's client certificate, RFC 3339. */
  certificateExpires?: string;
  /** Client certificates that the agent maintains; those without a key are missing. */
  identities?: InventoryIdentities;
  /** Connection of the host to the API server; missing when it was not requested. */
  probe?: InventoryProbe;
  /** Why some of the parts above are empty. */
  problems: string[];
}

/** `current` is in place; `next` is complete; `previous` can be put back without an upload. */
export interface InventorySets {
  current?: InventorySet;
  next?: InventorySet;
  previous?: InventorySet;
}

export interface InventorySet {
  /** '' when it is not known. */
  version: string;
  /** SHA-256 of its agent program; '' when it is not known. */
  agent: string;
  /** Hash of the bundle that completed it. */
  bundle: string;
}

export interface InventoryIdentities {
  agent?: InventoryIdentity;
  cloudNode?: InventoryIdentity;
}

export interface InventoryIdentity {
  /** SHA-256 of the public key (SubjectPublicKeyInfo in DER), in lower-case hex, as `install` prints it. */
  keyHash: string;
  /** Expiry of the current certificate of this key, RFC 3339; missing without one. */
  certificateEnds?: string;
}

export interface InventoryAdapter {
  name: string;
  mac: string;
  /** IPv4 and IPv6 as `address/length`. */
  addresses: string[];
  isUp: boolean;
  hasDefaultRoute: boolean;
}

export interface InventoryService {
  name: string;
  state: string;
  command: string;
  isManaged: boolean;
}

export interface InventoryNetwork {
  name: string;
  subnets: string[];
  managementIp: string;
}

export interface InventoryProbe {
  url: string;
  /** How far the clock of the host is ahead of the server's; missing when the server did not send its time. */
  clockAheadMs?: number;
  /** Why the server is not reachable. */
  problem?: string;
}

/** Room for hundreds of files. */
const maxCharacters = 4 * 1024 * 1024;

/** Parses the output of the agent. `host` names the host in messages. */
export function parseInventory(text: string, host: string): Inventory {
  const fields = new Fields(parseJson(text, host), `inventory of ${host}`);
  const certificateExpires = fields.string('certificateExpires');
  const probe = fields.object('probe');
  return {
    agentVersion: fields.requiredString('agentVersion'),
    hostName: fields.requiredString('hostName'),
    fqdn: fields.requiredString('fqdn'),
    nodeName: fields.string('nodeName') ?? '',
    os: parseOs(fields.object('os')),
    bootId: fields.requiredString('bootId'),
    pendingReboot: fields.strings('pendingReboot'),
    containersFeature: fields.requiredString('containersFeature'),
    adapters: fields.objects('adapters').map(parseAdapter),
    isAdministrator: fields.boolean('isAdministrator') ?? false,
    portsInUse: parseNumbers(fields, 'portsInUse'),
    services: fields.objects('services').map(parseService),
    files: fields.stringMap('files'),
    stagedVersion: fields.string('stagedVersion') ?? '',
    sets: parseSets(fields.object('sets')),
    copies: fields.strings('copies'),
    bundles: parseSizes(fields.object('bundles')),
    networks: fields.objects('networks').map(parseNetwork),
    time: parseTime(fields, 'time'),
    freeBytes: fields.number('freeBytes') ?? 0,
    ...(certificateExpires !== undefined && { certificateExpires: parseTime(fields, 'certificateExpires') }),
    ...parseIdentities(fields.raw('identities')),
    ...(probe.names().length > 0 && { probe: parseProbe(probe) }),
    problems: fields.strings('problems'),
  };
}

function parseOs(fields: Fields): Inventory['os'] {
  return {
    product: fields.requiredString('product'),
    build: fields.requiredString('build'),
    installationType: fields.requiredString('installationType'),
  };
}

function parseAdapter(fields: Fields): InventoryAdapter {
  return {
    name: fields.requiredString('name'),
    mac: fields.string('mac') ?? '',
    addresses: fields.strings('addresses'),
    isUp: fields.boolean('isUp') ?? false,
    hasDefaultRoute: fields.boolean('hasDefaultRoute') ?? false,
  };
}

function parseService(fields: Fields): InventoryService {
  return {
    name: fields.requiredString('name'),
    state: fields.requiredString('state'),
    command: fields.string('command') ?? '',
    isManaged: fields.boolean('isManaged') ?? false,
  };
}

function parseNetwork(fields: Fields): InventoryNetwork {
  return {
    name: fields.requiredString('name'),
    subnets: fields.strings('subnets'),
    managementIp: fields.string('managementIp') ?? '',
  };
}

function parseProbe(fields: Fields): InventoryProbe {
  const [clockAheadMs, problem] = [fields.number('clockAheadMs'), fields.string('problem')];
  return {
    url: fields.requiredString('url'),
    ...(clockAheadMs !== undefined && { clockAheadMs }),
    ...(problem !== undefined && { problem }),
  };
}

/** Invalid values are ignored: without an identity the host is connected again. */
function parseIdentities(value: unknown): Pick<Inventory, 'identities'> {
  const given = isRecord(value) ? value : {};
  const [agent, cloudNode] = [parseIdentity(given['agent']), parseIdentity(given['cloudNode'])];
  if (agent === undefined && cloudNode === undefined) return {};
  return { identities: { ...(agent && { agent }), ...(cloudNode && { cloudNode }) } };
}

function parseIdentity(value: unknown): InventoryIdentity | undefined {
  const { keyHash, certificateEnds } = isRecord(value) ? value : {};
  if (typeof keyHash !== 'string' || !/^[0-9a-f]{64}$/.test(keyHash)) return undefined;
  return { keyHash, ...(isTime(certificateEnds) && { certificateEnds }) };
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
}

function parseNumbers(fields: Fields, name: string): number[] {
  const value = fields.raw(name) ?? [];
  if (Array.isArray(value) && value.every(item => Number.isInteger(item))) return value as number[];
  throw new AppError('FIELD_INVALID', `${fields.label}: ${name} is not a list of integers`, {
    remedy: `Set ${name} to a list of integers.`,
  });
}

function parseSizes(fields: Fields): Record<string, number> {
  return Object.fromEntries(fields.names().map(name => [name, fields.number(name) ?? 0]));
}

function parseTime(fields: Fields, name: string): string {
  const text = fields.requiredString(name);
  if (isTime(text)) return text;
  throw invalid(`${fields.label}: ${name} is not a time`);
}

/** Does not quote the text, which may be anything. */
function parseJson(text: string, host: string): unknown {
  if (text.length > maxCharacters) throw invalid(`inventory of ${host} has ${text.length} characters`);
  const value = jsonIn(text);
  if (value === undefined) throw invalid(`inventory of ${host} is not JSON (${text.length} characters)`);
  return value;
}

function invalid(message: string): AppError {
  return new AppError('AGENT_ANSWER_INVALID', message, {
    remedy: 'Run the agent with `inventory` on the host and check its output.',
  });
}

function parseSets(fields: Fields): InventorySets {
  const read = (name: keyof InventorySets) => {
    if (fields.raw(name) === undefined) return {};
    const set = fields.object(name);
    const text = (key: keyof InventorySet) => set.string(key) ?? '';
    const version = isVersionText(text('version')) ? text('version') : '';
    return { [name]: { version, agent: text('agent'), bundle: text('bundle') } };
  };
  return { ...read('current'), ...read('next'), ...read('previous') };
}
