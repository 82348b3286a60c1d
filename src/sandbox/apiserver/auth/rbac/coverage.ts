import { byteOrder } from '#base/compare.ts';
import { includesOrAll, type PolicyRule, urlCovers } from './rule.ts';

/** The single permissions of `wanted` that no held rule covers. */
export function missingPermissions(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter(part => !held.some(rule => covers(rule, part)));
}

/** Permissions in the notation of the API server, merged by verb and sorted. */
export function describePermissions(parts: readonly PolicyRule[]): string[] {
  const merged = new Map<string, PolicyRule>();
  for (const part of parts) {
    // Only resource rules are merged; URLs get one line for each verb.
    const { verbs, ...rest } = part;
    const key = JSON.stringify(part.nonResourceURLs.length > 0 ? part : rest);
    const known = merged.get(key);
    merged.set(key, known === undefined ? part : { ...known, verbs: [...known.verbs, ...verbs] });
  }
  return [...new Set([...merged.values()].map(describe))].toSorted(byteOrder);
}

/** Splits a rule into single permissions. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const empty = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map(name => [name]);
  return [
    ...apiGroups.flatMap(group =>
      resources.flatMap(resource =>
        verbs.flatMap(verb =>
          names.map(name => ({
            ...empty,
            apiGroups: [group],
            resources: [resource],
            verbs: [verb],
            resourceNames: name,
          })),
        ),
      ),
    ),
    ...nonResourceURLs.flatMap(url => verbs.map(verb => ({ ...empty, nonResourceURLs: [url], verbs: [verb] }))),
  ];
}

function covers(held: PolicyRule, part: PolicyRule): boolean {
  return (
    part.verbs.every(verb => includesOrAll(held.verbs, verb)) &&
    part.apiGroups.every(group => includesOrAll(held.apiGroups, group)) &&
    part.resources.every(resource => coversResource(held.resources, resource)) &&
    part.nonResourceURLs.every(url => held.nonResourceURLs.some(owned => urlCovers(owned, url))) &&
    coversNames(held.resourceNames, part.resourceNames)
  );
}

function coversResource(held: readonly string[], resource: string): boolean {
  const slash = resource.indexOf('/');
  return includesOrAll(held, resource) || (slash !== -1 && held.includes(`*${resource.slice(slash)}`));
}

function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  return held.length === 0 || (wanted.length > 0 && wanted.every(name => held.includes(name)));
}

function describe(rule: PolicyRule): string {
  const lists: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = lists.filter(([, items]) => items.length > 0).map(([name, items]) => `${name}:${quotedList(items)}`);
  return `{${shown.join(', ')}}`;
}

/** Go notation of a string list. */
export function quotedList(items: readonly string[]): string {
  return `[${items.map(item => JSON.stringify(item)).join(' ')}]`;
}
