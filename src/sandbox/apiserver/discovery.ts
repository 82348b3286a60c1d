import { reviews } from './handlers/reviews.ts';
import type { Kind } from './kind.ts';
import type { Kinds } from './kinds.ts';
import { compareVersions } from './kinds/custom.ts';
import { openApiText } from './openapi.ts';
import { openApiDocument, openApiIndex } from './openapi-v3.ts';
import type { Answer } from './router.ts';
import { methodNotAllowed } from './status.ts';

export interface ServerVersion {
  major: string;
  minor: string;
  gitVersion: string;
}

/** The version that this server follows. */
export const newestVersion: ServerVersion = { major: '1', minor: '36', gitVersion: 'v1.36.4' };

interface Discovery {
  kinds: Kinds;
  version: ServerVersion;
  /** Address of the server for clients. */
  address: string;
}

/** Answers non-resource paths: discovery, health and version; undefined for an unknown path. */
export function routePath(discovery: Discovery, method: string, path: string, accept: string): Answer | undefined {
  const parts = path.split('/').filter(part => part !== '');
  const answer = answerTo(discovery, parts, accept);
  if (answer !== undefined && method !== 'GET' && method !== 'HEAD') throw methodNotAllowed();
  return answer;
}

function answerTo(discovery: Discovery, parts: readonly string[], accept: string): Answer | undefined {
  const { kinds, version, address } = discovery;
  const [first = '', second = ''] = parts;
  switch (first) {
    case 'healthz':
    case 'livez':
    case 'readyz':
      return { is: 'text', code: 200, text: 'ok' };
    case 'version':
      return parts.length === 1 ? json(versionBody(version)) : undefined;
    case 'openapi':
      return second === 'v3' ? openApiV3(discovery, parts.slice(2)) : openApiV2(discovery, parts, accept);
    case 'api':
      if (parts.length === 1) return json(coreVersions(address));
      return parts.length === 2 ? resourceList(kinds, '', second) : undefined;
    case 'apis':
      return groupAnswer(kinds, parts.slice(1));
    default:
      return undefined;
  }
}

function openApiV2({ version }: Discovery, parts: readonly string[], accept: string): Answer | undefined {
  return parts.length === 2 && parts[1] === 'v2' ? openApiText(accept, version.gitVersion) : undefined;
}

function openApiV3({ kinds, version }: Discovery, root: readonly string[]): Answer | undefined {
  if (root.length === 0) return json(openApiIndex(kinds.all()));
  const document = openApiDocument(kinds.all(), root.join('/'), version.gitVersion);
  return document === undefined ? undefined : json(document);
}

function groupAnswer(kinds: Kinds, parts: readonly string[]): Answer | undefined {
  const [name = '', version = ''] = parts;
  if (parts.length === 0) return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(kinds) });
  if (parts.length === 2) return resourceList(kinds, name, version);
  const group = groupsOf(kinds).find(item => item.name === name);
  return group && json({ kind: 'APIGroup', apiVersion: 'v1', ...group });
}

function json(body: unknown): Answer {
  return { is: 'body', code: 200, body };
}

function versionBody({ major, minor, gitVersion }: ServerVersion): Record<string, string> {
  return {
    major,
    minor,
    gitVersion,
    gitCommit: 'sandbox',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'none',
    platform: 'linux/amd64',
  };
}

function coreVersions(address: string): unknown {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }];
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs };
}

interface Group {
  name: string;
  versions: { groupVersion: string; version: string }[];
  preferredVersion: { groupVersion: string; version: string };
}

function groupsOf(kinds: Kinds): Group[] {
  const found = new Map<string, Set<string>>();
  const all = [...kinds.all(), ...reviews.map(({ group }) => ({ group, version: 'v1' }))];
  for (const { group, version } of all)
    if (group !== '') found.set(group, (found.get(group) ?? new Set()).add(version));
  return [...found.entries()].flatMap(([name, set]) => {
    const versions = [...set].sort(compareVersions).map(version => ({ groupVersion: `${name}/${version}`, version }));
    const [preferredVersion] = versions;
    return preferredVersion === undefined ? [] : [{ name, versions, preferredVersion }];
  });
}

function resourceList(kinds: Kinds, group: string, version: string): Answer | undefined {
  const own = kinds.all().filter(kind => kind.group === group && kind.version === version);
  const asked = version === 'v1' ? reviews.filter(review => review.group === group) : [];
  if (own.length + asked.length === 0) return undefined;
  const reviewResources = asked.map(({ plural, kind, namespaced }) => ({
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs: ['create'],
  }));
  return json({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: [...own.flatMap(resourcesOf), ...reviewResources],
  });
}

function resourcesOf(kind: Kind): unknown[] {
  const { plural, singular, namespaced, verbs, shortNames, categories } = kind;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind: kind.kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...kind.subresources.map(subresource => ({
      name: `${plural}/${subresource.name}`,
      singularName: '',
      namespaced,
      ...(subresource.group === undefined ? {} : { group: subresource.group, version: subresource.version }),
      kind: subresource.kind ?? kind.kind,
      verbs: subresource.verbs,
    })),
  ];
}
