import { timestamp } from '#base/clock.ts';
import { byteOrder } from '#base/compare.ts';
import { isRecord, jsonIn } from '#base/fields.ts';
import { type JourneyName, journeyNames } from './windows-instance/resource.ts';

/** What takes a node out of service: a journey, or the replacement of its Machine. */
export type GrantJourney = JourneyName | 'replace';

/** Journeys that need a grant. One that runs without a grant has lost it. */
export const grantedJourneys: ReadonlySet<GrantJourney> = new Set<GrantJourney>([
  'remove',
  'upgrade',
  'rollback',
  'reboot',
  'restart',
  'replace',
]);

/** A node that is out of service by permission of the disruption budget. */
export interface Grant {
  /** Name of the WindowsInstance. */
  instance: string;
  /** Of the WindowsInstance: one that is created again under the name does not inherit the grant. */
  uid: string;
  node: string;
  journey: GrantJourney;
  sinceMs: number;
  /** Of a Machine that is replaced: until the new one works it counts as granted, and not as missing in its set. */
  machineSet?: string;
}

/** How long a node was out of service, not by the operator, while a host waited for a grant. */
export interface UnavailableTime {
  ms: number;
  /** When it was last increased. */
  lastMs: number;
}

export interface RolloutGrants {
  grants: readonly Grant[];
  /** By name of the Node. */
  unavailable: ReadonlyMap<string, UnavailableTime>;
  /** Names of instances whose grants cannot be read. */
  unreadable: readonly string[];
}

/** Names of instances have no underscore. */
const unavailableKey = '_unavailable';
const maxGrants = 5000;
const maxNodes = 5000;
const maxValue = 2000;
const maxUnavailableValue = 500_000;

/** Parses the data of `windows-rollout-grants`. */
export function parseGrants(data: Readonly<Record<string, string>> = {}): RolloutGrants {
  const keys = Object.keys(data)
    .filter(key => key !== unavailableKey)
    .toSorted(byteOrder)
    .slice(0, maxGrants);
  const read = keys.map(key => ({ key, grant: parseGrant(key, data[key] ?? '') }));
  return {
    grants: read.flatMap(({ grant }) => (grant === undefined ? [] : [grant])),
    unavailable: parseUnavailable(data[unavailableKey] ?? ''),
    unreadable: read.flatMap(({ key, grant }) => (grant === undefined ? [instanceOf(key)] : [])),
  };
}

export function printGrants({ grants, unavailable }: Omit<RolloutGrants, 'unreadable'>): Record<string, string> {
  const data: Record<string, string> = {};
  for (const grant of grants.toSorted(byInstance).slice(0, maxGrants)) {
    // A former instance of the same name can still have a node out of service.
    const key = Object.hasOwn(data, grant.instance) ? `${grant.instance}_${grant.uid}` : grant.instance;
    data[key] = printGrant(grant);
  }
  if (unavailable.size > 0) data[unavailableKey] = printUnavailable(unavailable);
  return data;
}

function byInstance(one: Grant, other: Grant): number {
  return byteOrder(one.instance, other.instance) || one.sinceMs - other.sinceMs || byteOrder(one.uid, other.uid);
}

function instanceOf(key: string): string {
  const [instance = ''] = key.split('_', 1);
  return instance;
}

function printGrant({ uid, node, journey, sinceMs, machineSet }: Grant): string {
  return JSON.stringify({ node, journey, since: timestamp(sinceMs), machineSet, uid });
}

function parseGrant(key: string, text: string): Grant | undefined {
  const value = text.length > maxValue ? undefined : jsonIn(text);
  if (!isRecord(value)) return undefined;
  const { node, journey: name, uid, since, machineSet } = value;
  const journey = [...journeyNames, 'replace' as const].find(each => each === name);
  const sinceMs = timeOf(since);
  if (typeof node !== 'string' || node === '' || typeof uid !== 'string') return undefined;
  if (journey === undefined || sinceMs === undefined) return undefined;
  return {
    instance: instanceOf(key),
    uid,
    node,
    journey,
    sinceMs,
    ...(typeof machineSet === 'string' && { machineSet }),
  };
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function printUnavailable(unavailable: RolloutGrants['unavailable']): string {
  const latest = [...unavailable].toSorted(([, one], [, other]) => other.lastMs - one.lastMs).slice(0, maxNodes);
  const times = latest
    .toSorted(([one], [other]) => byteOrder(one, other))
    .map(([node, { ms, lastMs }]) => [node, { seconds: Math.ceil(ms / 1000), last: timestamp(lastMs) }] as const);
  return JSON.stringify(Object.fromEntries(times));
}

function parseUnavailable(text: string): Map<string, UnavailableTime> {
  const value = text.length > maxUnavailableValue ? undefined : jsonIn(text);
  if (!isRecord(value)) return new Map();
  return new Map(
    Object.entries(value)
      .slice(0, maxNodes)
      .flatMap(([node, time]): [string, UnavailableTime][] => {
        const { seconds, last } = isRecord(time) ? time : {};
        const lastMs = timeOf(last);
        if (typeof seconds !== 'number' || !(seconds >= 0) || lastMs === undefined) return [];
        return [[node, { ms: seconds * 1000, lastMs }]];
      }),
  );
}
