import { byteOrder } from '#base/compare.ts';
import { AppError, shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import { closestWord } from '#base/closest.ts';
import { configMapName, defaultNamespace } from './names.ts';

/** How many nodes may be out of service at once. */
export type MaxUnavailable = { count: number } | { percent: number };

/** Settings of the ConfigMap `windows-rollout`. */
export interface RolloutSettings {
  maxUnavailable: MaxUnavailable;
  /** No further node is taken out of service. */
  isPaused: boolean;
  /** Hosts that must have soaked before others follow. */
  first: number;
  /** How long an upgraded node must stay healthy before the next one follows; undefined for the defaults. */
  soakMs: number | undefined;
  /** After this time a drain reports what blocks it; `continue`: goes on without the pods that cannot be evicted. */
  drainTimeout: number | 'continue';
  /** Nodes that a user cordoned count without a limit in time. */
  countsCordoned: boolean;
  /** Hosts are rebooted when machine variables have changed, so that programs of others see them. */
  rebootsForVariables: boolean;
  /** A new node takes pods when this DaemonSet has pulled its images there; undefined for none. */
  prePull: DaemonSetName | undefined;
}

export interface DaemonSetName {
  namespace: string;
  name: string;
}

export const defaultRollout: RolloutSettings = {
  maxUnavailable: { count: 1 },
  isPaused: false,
  first: 1,
  soakMs: undefined,
  drainTimeout: 600_000,
  countsCordoned: false,
  rebootsForVariables: false,
  prePull: undefined,
};

/** Problems of a new version are found on the first hosts; the others need only prove that they work. */
const [firstSoakMs, soakMs] = [600_000, 120_000];

/** How long an upgraded node soaks, if so many others have soaked with this version. */
export function soakTimeMs(settings: Pick<RolloutSettings, 'soakMs' | 'first'>, othersSoaked: number): number {
  return settings.soakMs ?? (othersSoaked < settings.first ? firstSoakMs : soakMs);
}

export const rolloutKeys = [
  'maxUnavailable',
  'paused',
  'first',
  'soak',
  'drainTimeout',
  'countCordoned',
  'rebootForVariables',
  'prePull',
] as const;
type RolloutKey = (typeof rolloutKeys)[number];

export interface RolloutResult {
  settings: RolloutSettings;
  /** Keys whose values are invalid. */
  invalid: ReadonlyMap<RolloutKey, AppError>;
  /** One for each key that is invalid or unknown. */
  problems: AppError[];
}

export interface RolloutContext {
  /** Values that were valid before. */
  last?: RolloutSettings | undefined;
  /** Of the operator; for remedies. */
  namespace?: string;
}

/** More keys are not reported. */
const maxProblems = 20;
const maxLength = 64;

/**
 * Parses the data of `windows-rollout`; a missing or empty value is the default. An invalid value keeps the last valid one and does
 * not affect the others; only an invalid `paused` counts as true, because whoever writes it wants to stop the operator.
 */
export function parseRollout(
  data: Readonly<Record<string, string>> = {},
  { last, namespace = defaultNamespace }: RolloutContext = {},
): RolloutResult {
  const edit = `\`kubectl edit configmap ${configMapName.rollout} -n ${namespace}\``;
  const invalid = new Map<RolloutKey, AppError>();
  function read<T>(key: RolloutKey, values: { parse: Parse<T>; fix: string; unset: T; last?: T }): T {
    const text = (ownMember(data, key) ?? '').trim();
    if (text === '') return values.unset;
    const value = text.length > maxLength ? undefined : values.parse(text);
    if (value !== undefined) return value;
    invalid.set(key, invalidValue(key, text, { fix: values.fix, edit }));
    return values.last ?? values.unset;
  }
  const unset = defaultRollout;
  const settings: RolloutSettings = {
    maxUnavailable: read('maxUnavailable', {
      parse: parseMaxUnavailable,
      fix: 'a number of at least 1, or a percentage such as 10%',
      unset: unset.maxUnavailable,
      ...(last && { last: last.maxUnavailable }),
    }),
    isPaused: read('paused', { parse: parseBoolean, fix: 'true or false', unset: unset.isPaused, last: true }),
    first: read('first', {
      parse: text => parseNumber(text, 0),
      fix: 'a number',
      unset: unset.first,
      ...(last && { last: last.first }),
    }),
    soakMs: read<number | undefined>('soak', {
      parse: parseDuration,
      fix: durationFix,
      unset: unset.soakMs,
      ...(last && { last: last.soakMs }),
    }),
    drainTimeout: read<number | 'continue'>('drainTimeout', {
      parse: text => (text === 'continue' ? text : parseDuration(text)),
      fix: `${durationFix}, or continue`,
      unset: unset.drainTimeout,
      ...(last && { last: last.drainTimeout }),
    }),
    countsCordoned: read('countCordoned', {
      parse: text => (text === 'always' ? true : undefined),
      fix: 'always, or remove it',
      unset: unset.countsCordoned,
      ...(last && { last: last.countsCordoned }),
    }),
    rebootsForVariables: read('rebootForVariables', {
      parse: parseBoolean,
      fix: 'true or false',
      unset: unset.rebootsForVariables,
      ...(last && { last: last.rebootsForVariables }),
    }),
    prePull: read<DaemonSetName | undefined>('prePull', {
      parse: parseDaemonSet,
      fix: 'NAMESPACE/NAME of a DaemonSet',
      unset: unset.prePull,
      ...(last && { last: last.prePull }),
    }),
  };
  const unknown = Object.keys(data)
    .filter(key => !rolloutKeys.some(known => known === key))
    .toSorted(byteOrder);
  const problems = [...invalid.values(), ...unknown.map(key => unknownKey(key, edit))].slice(0, maxProblems);
  return { settings, invalid, problems };
}

/** How many of so many nodes may be out of service: a percentage is rounded down, to at least one. */
export function allowedUnavailable({ maxUnavailable }: Pick<RolloutSettings, 'maxUnavailable'>, nodes: number): number {
  if ('count' in maxUnavailable) return maxUnavailable.count;
  return Math.max(1, Math.floor((nodes * maxUnavailable.percent) / 100));
}

type Parse<T> = (text: string) => T | undefined;

function parseMaxUnavailable(text: string): MaxUnavailable | undefined {
  const isPercentage = text.endsWith('%');
  const value = parseNumber(isPercentage ? text.slice(0, -1) : text, 1);
  if (value === undefined) return undefined;
  if (!isPercentage) return { count: value };
  return value <= 100 ? { percent: value } : undefined;
}

function parseNumber(text: string, min: number): number | undefined {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : undefined;
  return value !== undefined && value >= min ? value : undefined;
}

function parseBoolean(text: string): boolean | undefined {
  return text === 'true' || text === 'false' ? text === 'true' : undefined;
}

function parseDaemonSet(text: string): DaemonSetName | undefined {
  const [, namespace, name] = /^([a-z0-9-]+)\/([a-z0-9.-]+)$/.exec(text) ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

const durationFix = 'a duration of at most 4h, such as 10m';

function parseDuration(text: string): number | undefined {
  const ms = parseGoDuration(text);
  return ms !== undefined && ms >= 0 && ms <= 4 * 3_600_000 ? ms : undefined;
}

function invalidValue(key: RolloutKey, text: string, { fix, edit }: { fix: string; edit: string }): AppError {
  const value = shown(text.slice(0, maxLength));
  const effect = key === 'paused' ? ', and counts as true' : '';
  const message = `ConfigMap ${configMapName.rollout}: ${key} is ${value}, not ${fix}${effect}`;
  return new AppError('ROLLOUT_SETTING_INVALID', message, { remedy: `Set ${key} to ${fix}: ${edit}.` });
}

function unknownKey(key: string, edit: string): AppError {
  const similar = closestWord(key, rolloutKeys);
  const hint = similar === undefined ? `one of ${rolloutKeys.join(', ')}` : similar;
  return new AppError('ROLLOUT_SETTING_UNKNOWN', `ConfigMap ${configMapName.rollout}: unknown key ${shown(key)}`, {
    remedy: `Remove the key or rename it to ${hint}: ${edit}.`,
  });
}
