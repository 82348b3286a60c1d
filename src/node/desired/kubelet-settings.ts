import { closestWord } from '#base/closest.ts';
import { byteOrder } from '#base/compare.ts';
import { AppError, shown } from '#base/errors.ts';
import { isRecord, ownMember } from '#base/fields.ts';
import { yamlIn } from '#base/yaml-text.ts';
import { kubeletConflicts } from './kubelet-conflicts.ts';
import { kubeletFields, refusedFields, type SettingValue } from './kubelet-fields.ts';

/** Fields of the KubeletConfiguration by name; all of them are in `kubeletFields`. */
export type KubeletSettings = Readonly<Record<string, SettingValue>>;

/** One key of the ConfigMap `windows-kubelet-config`. */
export interface KubeletProfile {
  name: string;
  /** Higher wins; then the later name. */
  priority: number;
  /** Labels that a host must have; empty for all hosts. */
  selector: Readonly<Record<string, string>>;
  settings: KubeletSettings;
  /** The ConfigMap and the key, for messages. */
  label: string;
}

export interface KubeletProfiles {
  /** In the order in which they apply. */
  profiles: KubeletProfile[];
  /** Of profiles that are left out. */
  problems: AppError[];
}

const [maxProfiles, maxCharacters, maxProblems] = [100, 10_000, 20];

/** Parses the data of `windows-kubelet-config`. A profile with any problem is left out as a whole, and the others apply. */
export function readKubeletProfiles(
  data: Readonly<Record<string, string>> | undefined,
  label: string,
): KubeletProfiles {
  const entries = Object.entries(data ?? {}).toSorted(([one], [other]) => byteOrder(one, other));
  const read = entries.slice(0, maxProfiles).map(([name, text]) => readProfile(name, text, label));
  const tooMany = entries.length > maxProfiles ? [tooManyProfiles(label, entries.length)] : [];
  return {
    profiles: read.flatMap(({ profile }) => profile ?? []).toSorted((one, other) => one.priority - other.priority),
    problems: [...tooMany, ...read.flatMap(({ problems }) => problems)].slice(0, maxProblems),
  };
}

export interface ChosenSettings {
  settings: KubeletSettings;
  /** Names of the profiles that apply, in their order. */
  applied: string[];
  /** Of profiles that are left out because they conflict with those before them. */
  problems: AppError[];
}

/** The settings of a host with these labels. A later profile replaces fields of earlier ones; maps are merged by key. */
export function kubeletSettingsFor(
  profiles: readonly KubeletProfile[],
  labels: Readonly<Record<string, string>> = {},
): ChosenSettings {
  const chosen: ChosenSettings = { settings: {}, applied: [], problems: [] };
  for (const { name, label, selector, settings } of profiles) {
    if (!Object.entries(selector).every(([key, value]) => ownMember(labels, key) === value)) continue;
    const merged = mergeSettings(chosen.settings, settings);
    const [conflict] = kubeletConflicts(merged);
    if (conflict === undefined) {
      chosen.settings = merged;
      chosen.applied.push(name);
    } else {
      const others = chosen.applied.join(', ');
      chosen.problems.push(
        invalid(`${label}: with ${others}, which apply to the same hosts, ${conflict.what}`, name, conflict.fix),
      );
    }
  }
  return chosen;
}

/** All problems: of profiles, and of those that conflict on hosts with these labels; each once. */
export function kubeletProblems(
  { profiles, problems }: KubeletProfiles,
  labelsOfHosts: Iterable<Readonly<Record<string, string>> | undefined>,
): AppError[] {
  const all = new Map(problems.map(error => [error.message, error]));
  for (const labels of labelsOfHosts) {
    for (const error of kubeletSettingsFor(profiles, labels).problems) all.set(error.message, error);
    if (all.size >= maxProblems) break;
  }
  return [...all.values()].slice(0, maxProblems);
}

/** In the order of the allow-list, so that the same settings are the same file. */
export function mergeSettings(base: KubeletSettings, over: KubeletSettings): KubeletSettings {
  const merged = kubeletFields.flatMap(({ name }) => {
    const [old, value] = [ownMember(base, name), ownMember(over, name)];
    const both = isRecord(old) && isRecord(value) ? sortedMap({ ...old, ...value }) : (value ?? old);
    return both === undefined ? [] : [[name, both] as const];
  });
  return Object.fromEntries(merged) as KubeletSettings;
}

function sortedMap(map: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).toSorted(([one], [other]) => byteOrder(one, other)));
}

interface ProfileResult {
  profile?: KubeletProfile;
  problems: AppError[];
}

/** A profile in messages. */
type Place = Pick<KubeletProfile, 'label' | 'name'>;

const members = ['selector', 'priority', 'kubelet'];

function readProfile(name: string, text: string, map: string): ProfileResult {
  const label = `${map}: ${shown(name)}`;
  const place = { label, name };
  const value = text.length > maxCharacters ? undefined : yamlIn(text);
  if (!isRecord(value)) {
    const what = text.length > maxCharacters ? `has more than ${maxCharacters} characters` : 'is not a YAML object';
    return { problems: [invalid(`${label} ${what}`, name, `write members ${members.join(', ')}`)] };
  }
  const unknown = Object.keys(value)
    .filter(member => !members.includes(member))
    .map(member =>
      invalid(`${label}: ${shown(member)} is not a member of a profile`, name, unknownFix(member, members)),
    );
  const { fields, problems } = readFields(ownMember(value, 'kubelet'), place);
  const [selector, priority] = [ownMember(value, 'selector') ?? {}, ownMember(value, 'priority') ?? 0];
  const all = [
    ...unknown,
    ...(isLabels(selector) ? [] : [wrongValue(place, 'selector', selector, 'a map of labels to their values')]),
    ...(isPriority(priority) ? [] : [wrongValue(place, 'priority', priority, 'an integer from -1000 to 1000')]),
    ...problems,
  ];
  if (all.length > 0 || !isLabels(selector) || !isPriority(priority)) return { problems: all };
  return { profile: { name, priority, selector, settings: fields, label }, problems: [] };
}

function readFields(value: unknown, place: Place): { fields: KubeletSettings; problems: AppError[] } {
  if (!isRecord(value) || Object.keys(value).length === 0) {
    return {
      fields: {},
      problems: [wrongValue(place, 'kubelet', value, 'a map of at least one kubelet setting')],
    };
  }
  const problems: AppError[] = [];
  const entries = Object.entries(value).flatMap(([field, given]) => {
    const known = kubeletFields.find(each => each.name === field);
    const parsed = known?.parse(given);
    if (parsed !== undefined) return [[field, parsed] as const];
    problems.push(
      known === undefined ? unknownField(place, field) : wrongValue(place, `kubelet.${field}`, given, known.allowed),
    );
    return [];
  });
  const fields = mergeSettings({}, Object.fromEntries(entries));
  if (problems.length > 0) return { fields, problems };
  const conflicts = kubeletConflicts(fields).map(({ what, fix }) =>
    invalid(`${place.label}: ${what}`, place.name, fix),
  );
  return { fields, problems: conflicts };
}

function unknownField({ label, name }: Place, field: string): AppError {
  const why = ownMember(refusedFields, field);
  if (why !== undefined) return invalid(`${label}: kubelet.${field} cannot be set: ${why}`, name, `remove ${field}`);
  const known = kubeletFields.map(each => each.name);
  return invalid(`${label}: ${shown(field)} is not a kubelet setting of Windows nodes`, name, unknownFix(field, known));
}

function unknownFix(word: string, known: readonly string[]): string {
  const closest = closestWord(word, known);
  return closest === undefined ? `use ${known.join(', ')}` : `use ${closest}`;
}

function wrongValue({ label, name }: Place, field: string, value: unknown, allowed: string): AppError {
  return invalid(`${label}: ${field} is ${shown(value)}, not ${allowed}`, name, `set ${field} to ${allowed}`);
}

function tooManyProfiles(label: string, count: number): AppError {
  const message = `${label} has ${count} profiles; only the first ${maxProfiles} by name are used`;
  return new AppError('KUBELET_SETTING_INVALID', message, { remedy: 'Merge profiles with the same selector.' });
}

function invalid(message: string, name: string, fix: string): AppError {
  return new AppError('KUBELET_SETTING_INVALID', message, {
    remedy: `In profile ${shown(name)}, ${fix}; until then the whole profile is ignored.`,
  });
}

function isLabels(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every(each => typeof each === 'string');
}

function isPriority(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(Number(value)) <= 1000;
}
