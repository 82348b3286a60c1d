import { byteOrder } from '#base/compare.ts';
import { AppError, attempt } from '#base/errors.ts';
import type { KubeObject } from '#contract/object.ts';
import { pauseImage } from '../containerd-config.ts';
import { display, dockerHub, parseSource } from './locations.ts';

/** The registries that the image configuration of the cluster trusts, forbids and allows. Names are `host[:port]`. */
export interface ImageRules {
  /** Certificates are not verified. */
  isInsecure: (host: string) => boolean;
  /** Must not be contacted; its mirrors may be. */
  isBlocked: (host: string) => boolean;
  /** The entry that blocks it, by the name that it has in the list. */
  blockingEntry: (host: string) => string | undefined;
  /** Not in the list of allowed registries: no image with this name is pulled, from no mirror either. */
  isRefused: (host: string) => boolean;
  /** Whether registries without a rule are refused. */
  refusesOthers: boolean;
  /** Registries that are named without a wildcard, sorted. */
  hosts: string[];
  /** Entries that containerd cannot follow. */
  problems: AppError[];
}

/** The one object whose rules count. */
export function isImageConfig({ kind, apiVersion, meta }: KubeObject): boolean {
  return kind === 'Image' && apiVersion.startsWith('config.openshift.io/') && meta.name === 'cluster';
}

/** Rules of the image configuration among the objects; without one, or without rules in it, everything is allowed. */
export function readImageRules(objects: readonly KubeObject[]): ImageRules {
  const object = objects.find(isImageConfig);
  const problems: AppError[] = [];
  const listOf = (name: keyof typeof limits) => (object === undefined ? noHosts : readList(object, name, problems));
  const [insecure, blocked, allowed] = [
    listOf('insecureRegistries'),
    listOf('blockedRegistries'),
    listOf('allowedRegistries'),
  ];
  const isNamed = (host: string) => entryFor(allowed, host) !== undefined;
  const isRefused = (host: string) => allowed.isSet && host !== pauseRegistry && !isNamed(host);
  if (allowed.isSet && !isNamed(pauseRegistry)) problems.push(pauseNotListed(object?.label ?? ''));
  return {
    isInsecure: host => entryFor(insecure, host) !== undefined,
    isBlocked: host => entryFor(blocked, host) !== undefined,
    blockingEntry: host => entryFor(blocked, host),
    isRefused,
    refusesOthers: allowed.isSet,
    hosts: namesOf({ insecure, blocked, allowed }),
    problems,
  };
}

/** With a list of allowed registries, the one of the pause image needs a file of its own. */
function namesOf({ insecure, blocked, allowed }: Record<'insecure' | 'blocked' | 'allowed', HostList>): string[] {
  const named = [insecure, blocked, allowed].flatMap(({ hosts }) => [...hosts.keys()]);
  return [...new Set(allowed.isSet ? [...named, pauseRegistry] : named)].sort(byteOrder);
}

export const pauseRegistry = pauseImage.slice(0, pauseImage.indexOf('/'));

interface HostList {
  isSet: boolean;
  /** The listed name by each name of its registry. */
  hosts: ReadonlyMap<string, string>;
  /** From wildcards: `example.com` for `*.example.com`. */
  domains: readonly string[];
}

const noHosts: HostList = { isSet: false, hosts: new Map(), domains: [] };

function readList(object: KubeObject, name: keyof typeof limits, problems: AppError[]): HostList {
  const list = attempt(() => object.fields.object('spec').object('registrySources').strings(name));
  if (!list.ok) {
    problems.push(list.error);
    return noHosts;
  }
  const hosts = new Map<string, string>();
  const domains: string[] = [];
  list.value.forEach((text, index) => {
    const where = `${object.label}: spec.registrySources.${name}[${index}]`;
    const isWildcard = text.startsWith('*.');
    const parsed = attempt(() => parseSource(isWildcard ? text.slice(2) : text, where));
    if (!parsed.ok) {
      const { code, effect } = limits[name].unreadable;
      problems.push(unsupported(code, `${parsed.error.message}; ${effect}`, parsed.error.remedy));
      return;
    }
    const { host, path } = parsed.value;
    const form = formOf(isWildcard, path.length > 0);
    if (form !== 'registry') {
      const limit = limits[name][form];
      problems.push(unsupported(limit.code, `${where}: ${display(text)} ${limit.why}`, limit.remedy));
    }
    if (form === 'wildcard') domains.push(host);
    // Of the repositories of a registry, only a list of allowed ones may stand for the whole registry.
    else if (form === 'registry' || (form === 'repository' && name === 'allowedRegistries')) addHost(hosts, host);
  });
  return { isSet: list.value.length > 0, hosts, domains };
}

type Form = 'registry' | 'repository' | 'wildcard' | 'wildcardPath';

function formOf(isWildcard: boolean, hasPath: boolean): Form {
  if (isWildcard) return hasPath ? 'wildcardPath' : 'wildcard';
  return hasPath ? 'repository' : 'registry';
}

/** Images may be named by either name of Docker Hub, so the listed one needs a file as well. */
function addHost(hosts: Map<string, string>, host: string): void {
  hosts.set(host, host);
  if (!hosts.has(canonical(host))) hosts.set(canonical(host), host);
}

interface Limit {
  code: 'REGISTRY_SOURCE_UNSUPPORTED' | 'REGISTRY_NOT_BLOCKED';
  why: string;
  remedy: string;
}

type Limits = Record<Exclude<Form, 'registry'>, Limit> & { unreadable: { code: Limit['code']; effect: string } };

const byName = 'List each registry of the domain by its name.';

const limits = {
  insecureRegistries: {
    repository: {
      code: 'REGISTRY_SOURCE_UNSUPPORTED',
      why: 'is a repository; Windows nodes know only whole registries and verify its certificate',
      remedy: 'List the registry without a path, or add its CA to the trusted CAs of the image configuration.',
    },
    wildcard: {
      code: 'REGISTRY_SOURCE_UNSUPPORTED',
      why: 'is a wildcard; on Windows nodes it holds only for registries that a mirror set or the image configuration names',
      remedy: byName,
    },
    wildcardPath: {
      code: 'REGISTRY_SOURCE_UNSUPPORTED',
      why: 'is a wildcard with a path, which is not used on Windows nodes: they verify the certificates of the domain',
      remedy: byName,
    },
    unreadable: { code: 'REGISTRY_SOURCE_UNSUPPORTED', effect: 'Windows nodes verify its certificate' },
  },
  blockedRegistries: {
    repository: {
      code: 'REGISTRY_NOT_BLOCKED',
      why: 'is a repository; Windows nodes block only whole registries and still pull from it',
      remedy: 'Block the registry without a path, or forbid such images by an admission policy.',
    },
    wildcard: {
      code: 'REGISTRY_NOT_BLOCKED',
      why: 'is a wildcard; Windows nodes block only registries that a mirror set or the image configuration names, and still pull from others of the domain',
      remedy: byName,
    },
    wildcardPath: {
      code: 'REGISTRY_NOT_BLOCKED',
      why: 'is a wildcard with a path, which is not used on Windows nodes: it blocks nothing, and they still pull from the domain',
      remedy: byName,
    },
    unreadable: { code: 'REGISTRY_NOT_BLOCKED', effect: 'Windows nodes do not block it' },
  },
  allowedRegistries: {
    repository: {
      code: 'REGISTRY_NOT_BLOCKED',
      why: 'is a repository; Windows nodes allow only whole registries and pull from other repositories of it as well',
      remedy: 'Allow the registry without a path, or forbid other images by an admission policy.',
    },
    wildcard: {
      code: 'REGISTRY_SOURCE_UNSUPPORTED',
      why: 'is a wildcard; Windows nodes allow only registries that a mirror set or the image configuration names, and refuse others of the domain',
      remedy: byName,
    },
    wildcardPath: {
      code: 'REGISTRY_SOURCE_UNSUPPORTED',
      why: 'is a wildcard with a path, which is not used on Windows nodes: it allows nothing',
      remedy: byName,
    },
    unreadable: { code: 'REGISTRY_SOURCE_UNSUPPORTED', effect: 'Windows nodes do not allow it' },
  },
} satisfies Record<string, Limits>;

/** Pods cannot start without it, so the registry stays allowed, as the release image does on Linux nodes. */
function pauseNotListed(label: string): AppError {
  return unsupported(
    'REGISTRY_NOT_BLOCKED',
    `${label}: ${pauseRegistry} is not in spec.registrySources.allowedRegistries, but stays allowed on Windows nodes: every pod needs ${pauseImage}`,
    `Add ${pauseRegistry} to the list.`,
  );
}

/** The entry that names the registry, as it is listed. */
function entryFor({ hosts, domains }: HostList, host: string): string | undefined {
  const domain = domains.find(name => isIn(name, host));
  return hosts.get(host) ?? hosts.get(canonical(host)) ?? (domain === undefined ? undefined : `*.${domain}`);
}

function isIn(domain: string, host: string): boolean {
  return host.split(':', 1)[0]?.endsWith(`.${domain}`) ?? false;
}

/** Both names of Docker Hub are one registry. */
function canonical(host: string): string {
  return host === dockerHub.server ? dockerHub.name : host;
}

function unsupported(code: Limit['code'], message: string, remedy: string): AppError {
  return new AppError(code, message, { remedy });
}
