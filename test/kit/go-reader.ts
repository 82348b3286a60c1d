import { createHash, createPublicKey } from 'node:crypto';
import * as openpgp from 'openpgp';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';

/**
 * Reads the objects of a cluster as the Go operator does when it starts: by the formats alone, with nothing of this operator. The
 * names are spelled out for the same reason.
 */
export interface GoView {
  nodes: GoNodeView[];
  /** Entries of windows-instances: address and user. */
  entries: Record<string, string>;
  /** Names of the services in the ConfigMap of each version that a Node has, in the order in which they start. */
  services: Record<string, string[]>;
  /** Whether a leader would get the lock at once. */
  isLockFree: boolean;
  userData: string;
}

export interface GoNodeView {
  name: string;
  isByoh: boolean;
  version: string;
  username: string;
  address: string;
  /** Its key is the current one, so that a Machine is kept. */
  hasCurrentKey: boolean;
  hostKey: string;
  upgrading: boolean;
  rebootRequired: boolean;
}

const prefix = 'windowsmachineconfig.openshift.io';

export async function readAsGoOperator(client: Client, namespace: string): Promise<GoView> {
  const pem = textOf(await client.get(kinds.secrets, 'cloud-private-key', { namespace }), 'private-key.pem');
  const hash = keyHash(pem);
  const { items } = await client.list(kinds.nodes, { labelSelector: 'kubernetes.io/os=windows' });
  const nodes = await Promise.all(items.map(node => readNode(node, pem, hash)));
  const entries = await client.get(kinds.configMaps, 'windows-instances', { namespace });
  const versions = [...new Set(nodes.map(({ version }) => version))];
  const services: Record<string, string[]> = {};
  for (const version of versions) {
    const { data = {} } = await client.get(kinds.configMaps, `windows-services-${version}`, { namespace });
    services[version] = readServices(data);
  }
  const userData = await client.get(kinds.secrets, 'windows-user-data', { namespace: 'openshift-machine-api' });
  return {
    nodes,
    entries: Object.fromEntries(Object.entries(entries.data ?? {}).map(([at, text]) => [at, readEntry(text)])),
    services,
    isLockFree: await isLockFree(client, namespace),
    userData: textOf(userData, 'userData'),
  };
}

async function readNode({ metadata, status }: kinds.Node, pem: string, hash: string): Promise<GoNodeView> {
  const { name = '', labels = {}, annotations = {} } = metadata;
  const mark = (key: string) => annotations[`${prefix}/${key}`] ?? '';
  const address = (status?.addresses ?? []).find(
    each => ['InternalIP', 'InternalDNS'].includes(each.type) && !each.address.includes(':'),
  );
  return {
    name,
    isByoh: labels[`${prefix}/byoh`] === 'true',
    version: mark('version'),
    username: await openUser(mark('username'), pem),
    address: address?.address ?? '',
    hasCurrentKey: mark('pub-key-hash') === hash,
    hostKey: mark('ssh-host-key'),
    upgrading: labels[`${prefix}/upgrading`] !== undefined,
    rebootRequired: Object.hasOwn(annotations, `${prefix}/reboot-required`),
  };
}

/** By another implementation of OpenPGP, with the whole text of the key as the passphrase. */
async function openUser(annotation: string, pem: string): Promise<string> {
  const armored = annotation.replaceAll('<wmcoMarker>', '\n');
  const body = armored.slice(0, armored.lastIndexOf('\n='));
  const message = await openpgp.readMessage({
    binaryMessage: Uint8Array.from(Buffer.from(body.replaceAll('\n', ''), 'base64')),
  });
  const { data } = await openpgp.decrypt({ message, passwords: [pem] });
  return String(data);
}

/** Of an Ed25519 key: the authorized_keys line without comment and line end. */
function keyHash(pem: string): string {
  const { x = '' } = createPublicKey(pem).export({ format: 'jwk' });
  const parts = [Buffer.from('ssh-ed25519'), Buffer.from(x, 'base64url')];
  const wire = Buffer.concat(parts.flatMap(part => [Buffer.from([0, 0, 0, part.length]), part]));
  return createHash('sha256')
    .update(`ssh-ed25519 ${wire.toString('base64')}`)
    .digest('hex');
}

interface Service {
  name: string;
  path: string;
  nodeVariablesInCommand?: { name: string; nodeObjectJsonPath: string }[];
  powershellPreScripts?: { variableName?: string; path: string; NodeArgs: unknown }[];
  dependencies?: string[];
  bootstrap: boolean;
  priority: number;
}

/** With the rules by which the Go agent refuses a ConfigMap as a whole. */
function readServices(data: Readonly<Record<string, string>>): string[] {
  const keys = Object.keys(data);
  if (keys.length < 2 || keys.length > 4) throw new Error(`${keys.length} keys`);
  const services = JSON.parse(data['services'] ?? '') as Service[];
  if (!Array.isArray(JSON.parse(data['files'] ?? ''))) throw new Error('files is no list');
  const watched = JSON.parse(data['watchedEnvironmentVars'] ?? '[]') as string[];
  if (watched.some(name => typeof name !== 'string')) throw new Error('watchedEnvironmentVars is no list of names');
  const sorted = services.toSorted((one, other) => one.priority - other.priority);
  checkOrder(sorted);
  return sorted.map(({ name }) => name);
}

function checkOrder(sorted: readonly Service[]): void {
  const first = sorted.filter(({ bootstrap }) => bootstrap);
  const names = new Set(first.map(({ name }) => name));
  const others = new Set(sorted.filter(({ bootstrap }) => !bootstrap).map(({ name }) => name));
  const last = Math.max(...first.map(({ priority }) => priority));
  for (const { name, path, priority, bootstrap } of sorted) {
    if (name === '' || path === '' || !Number.isInteger(priority) || priority < 0) throw new Error(`service ${name}`);
    if (!bootstrap && priority <= last) throw new Error(`${name} starts with ${[...names].join()}`);
  }
  for (const { name, dependencies = [], nodeVariablesInCommand = [] } of first) {
    if (nodeVariablesInCommand.length > 0) throw new Error(`${name} has node variables`);
    if (dependencies.some(needed => others.has(needed))) throw new Error(`${name} needs a later service`);
  }
}

function readEntry(text: string): string {
  const at = text.indexOf('=');
  if (text.slice(0, at) !== 'username') throw new Error(`entry ${text}`);
  return text.slice(at + 1);
}

/** Nobody has it, or its owner is gone, so that it is garbage collected. */
async function isLockFree(client: Client, namespace: string): Promise<boolean> {
  const lock = await client.find(kinds.configMaps, 'windows-machine-config-operator-lock', { namespace });
  const [owner] = lock?.metadata.ownerReferences ?? [];
  return owner === undefined || (await client.find(kinds.pods, owner.name, { namespace })) === undefined;
}

function textOf({ data = {} }: KubeResource & { data?: Record<string, string> }, key: string): string {
  return Buffer.from(data[key] ?? '', 'base64').toString();
}
