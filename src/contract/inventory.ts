import { AppError } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';

/** What `inventory` tells about a host in one document, so that the operator need not ask twice. */
export interface Inventory {
  agentVersion: string;
  hostName: string;
  fqdn: string;
  /** Name under which the kubelet registers, in lower case; '' when it is not known. */
  nodeName: string;
  os: { product: string; build: string; installationType: string };
  bootId: string;
  /** Reasons why Windows wants a reboot. */
  pendingReboot: string[];
  containersFeature: string;
  adapters: InventoryAdapter[];
  /** Whether the user of the operator has the rights of an administrator. */
  isAdministrator: boolean;
  /** TCP ports that our services need and on which somebody listens. */
  portsInUse: number[];
  /** Services that bear our mark, and those of the names we use that do not. */
  services: InventoryService[];
  /** SHA-256 of our files by path; absent ones are not listed. */
  files: Record<string, string>;
  /** Version of the operator whose files were staged last; empty when there were none. */
  stagedVersion: string;
  /** Bundles that are complete and wait to be staged: their size by hash. */
  bundles: Record<string, number>;
  networks: InventoryNetwork[];
  /** RFC 3339 with milliseconds, of the host's own clock. */
  time: string;
  /** On the disk where our files are. */
  freeBytes: number;
  /** Expiry of the agent's client certificate, RFC 3339; absent without one. */
  certificateExpires?: string;
  /** What the host sees of the API server; absent when it was not asked. */
  probe?: InventoryProbe;
  /** What could not be found out, and why; the parts in question are empty. */
  problems: string[];
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
  /** By how much the clock of the host is ahead of the one of the server; absent when the server did not tell its time. */
  clockAheadMs?: number;
  /** Why the server could not be reached; absent when it could. */
  problem?: string;
}

/** Hundreds of files fit; a host that sends more is not the one we know. */
const maxCharacters = 4 * 1024 * 1024;

/** Reads what the agent of a host has printed. `host` is how messages name it. */
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
    bundles: parseSizes(fields.object('bundles')),
    networks: fields.objects('networks').map(parseNetwork),
    time: parseTime(fields, 'time'),
    freeBytes: fields.number('freeBytes') ?? 0,
    ...(certificateExpires !== undefined && { certificateExpires: parseTime(fields, 'certificateExpires') }),
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

function parseNumbers(fields: Fields, name: string): number[] {
  const value = fields.raw(name) ?? [];
  if (Array.isArray(value) && value.every(item => Number.isInteger(item))) return value as number[];
  throw new AppError('FIELD_INVALID', `${fields.label}: ${name} is no list of whole numbers`, {
    remedy: `Set ${name} to a list of whole numbers.`,
  });
}

function parseSizes(fields: Fields): Record<string, number> {
  return Object.fromEntries(fields.names().map(name => [name, fields.number(name) ?? 0]));
}

function parseTime(fields: Fields, name: string): string {
  const text = fields.requiredString(name);
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw invalid(`${fields.label}: ${name} is no time`);
}

/** Not a word of the text itself: nobody knows what a host prints when something is wrong with it. */
function parseJson(text: string, host: string): unknown {
  if (text.length > maxCharacters) throw invalid(`inventory of ${host} has ${text.length} characters`);
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`inventory of ${host} is no JSON but ${text.length} characters of something else`);
  }
}

function invalid(message: string): AppError {
  return new AppError('AGENT_ANSWER_INVALID', message, {
    remedy: 'Run the agent with `inventory` on the host to see what it prints; it is asked again.',
  });
}
