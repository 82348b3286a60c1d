import { byteOrder } from '#base/compare.ts';
import { isNodeName } from '#base/dns-name.ts';
import { AppError, type attempt, shown } from '#base/errors.ts';
import { isRecord, jsonIn } from '#base/fields.ts';
import { configMapName } from './names.ts';

/** A host that was removed by force, so that its kubelet may still run. Stored in the ConfigMap `windows-removed-hosts`. */
export interface RemovedHost {
  /** Key of the ConfigMap's data. */
  node: string;
  /** RFC 3339 time of the removal. */
  removed: string;
  /** At which the operator connected to it. */
  address: string;
  /** Name of its WindowsInstance. */
  instance: string;
}

type RemovedHostResult = ReturnType<typeof attempt<RemovedHost>>;

/** A ConfigMap holds 1 MiB; a note has at most 1 KiB. */
export const maxRemovedHosts = 1000;
const maxCharacters = 1024;
/** As of the fields of a WindowsInstance. */
const maxText = 253;
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** One result per key, sorted by key. */
export function parseRemovedHosts(data: Readonly<Record<string, string>> = {}): RemovedHostResult[] {
  return Object.keys(data)
    .sort(byteOrder)
    .map(node => parseRemovedHost(node, data[node] ?? ''));
}

/** Value of the key, for a merge patch of the ConfigMap's data. */
export function printRemovedHost({ removed, address, instance }: RemovedHost): string {
  return JSON.stringify({ removed, address, instance });
}

/** Names of the oldest hosts beyond the limit. */
export function surplusHosts(hosts: readonly RemovedHost[], limit = maxRemovedHosts): string[] {
  return [...hosts]
    .sort((one, other) => byteOrder(other.removed, one.removed) || byteOrder(one.node, other.node))
    .slice(limit)
    .map(({ node }) => node);
}

function parseRemovedHost(node: string, text: string): RemovedHostResult {
  const value = text.length > maxCharacters ? undefined : jsonIn(text);
  const { removed, address, instance } = isRecord(value) ? value : {};
  const isValid = isNodeName(node) && isTime(removed) && isText(address) && isText(instance);
  return isValid
    ? { ok: true, value: { node, removed, address, instance } }
    : { ok: false, error: malformed(node, text) };
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && rfc3339.test(value) && !Number.isNaN(Date.parse(value));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxText;
}

function malformed(node: string, text: string): AppError {
  const { removedHosts } = configMapName;
  return new AppError('REMOVED_HOST_MALFORMED', `ConfigMap ${removedHosts}: ${shown(node)} is ${shown(text)}`, {
    remedy: `Delete the key, or set it to {"removed":"<RFC 3339 time>","address":"<address>","instance":"<name>"}.`,
  });
}
