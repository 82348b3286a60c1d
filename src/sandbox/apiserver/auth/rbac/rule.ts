import { trimEndOf } from '#base/trim-end.ts';
import { listAt } from '../../object.ts';
import type { AccessRequest } from '../../ports.ts';

/** A rule of a role; missing lists are empty. */
export interface PolicyRule {
  verbs: readonly string[];
  apiGroups: readonly string[];
  resources: readonly string[];
  /** Empty for all names. */
  resourceNames: readonly string[];
  nonResourceURLs: readonly string[];
}

type RequestedAccess = Omit<AccessRequest, 'user' | 'version' | 'namespace'>;

/** The namespace of a rule is that of its binding. */
export function ruleAllows(rule: PolicyRule, request: RequestedAccess): boolean {
  if (!includesOrAll(rule.verbs, request.verb)) return false;
  if (request.path !== '') return rule.nonResourceURLs.some(url => urlCovers(url, request.path));
  return (
    includesOrAll(rule.apiGroups, request.group) &&
    rule.resources.some(resource => resourceMatches(resource, request)) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(request.name))
  );
}

/** Reads `rules` of a role; malformed rules grant nothing. */
export function readRules(value: unknown): PolicyRule[] {
  return (Array.isArray(value) ? value : []).map(rule => ({
    verbs: texts(rule, 'verbs'),
    apiGroups: texts(rule, 'apiGroups'),
    resources: texts(rule, 'resources'),
    resourceNames: texts(rule, 'resourceNames'),
    nonResourceURLs: texts(rule, 'nonResourceURLs'),
  }));
}

/** The URL of a rule may end in a star. */
export function urlCovers(url: string, other: string): boolean {
  return url === other || (url.endsWith('*') && other.startsWith(trimEndOf(url, '*')));
}

export function includesOrAll(list: readonly string[], item: string): boolean {
  return list.includes('*') || list.includes(item);
}

function resourceMatches(resource: string, request: RequestedAccess): boolean {
  if (resource === '*') return true;
  if (request.subresource === '') return resource === request.resource;
  return resource === `${request.resource}/${request.subresource}` || resource === `*/${request.subresource}`;
}

function texts(rule: unknown, member: string): string[] {
  return listAt(rule, member).filter(item => typeof item === 'string');
}
