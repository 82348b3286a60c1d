import { fromBase64, toBase64 } from '#base/bytes.ts';
import { byteOrder } from '#base/compare.ts';
import { AppError, attempt, shown } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import type { Secret } from '#base/secret.ts';
import { dockerHub } from './locations.ts';

export interface Credentials {
  /** Base64 of `user:password` by registry `host[:port]`. */
  byHost: ReadonlyMap<string, string>;
  /** Entries that cannot be read; messages contain no values. */
  warnings: AppError[];
}

const label = 'pull secret';
const remedy =
  'Set .dockerconfigjson of the Secret openshift-config/pull-secret to {"auths": {…}} as written by `podman login`.';

/** Reads a `.dockerconfigjson`. Of several keys for one registry the first of these is used: `host` over `https://host` over `host/path`. */
export function readCredentials(pullSecret: Secret): Credentials {
  const auths = readAuths(pullSecret);
  const keys = auths.names().map(registryKey);
  keys.sort((one, other) => one.rank - other.rank || byteOrder(one.key, other.key));
  const byHost = new Map<string, string>();
  const warnings: AppError[] = [];
  for (const { key, host } of keys) {
    const login = attempt(() => basicLogin(auths, key, host));
    if (!login.ok) warnings.push(login.error);
    else if (login.value !== undefined && !byHost.has(host)) byHost.set(host, login.value);
  }
  return { byHost, warnings };
}

function readAuths(pullSecret: Secret): Fields {
  const parsed = jsonIn(pullSecret.reveal());
  const config = attempt(() => new Fields(parsed === undefined ? '' : parsed, label).object('auths'));
  if (config.ok) return config.value;
  // No cause, because it would show the secret value.
  throw malformed(`${label}: .dockerconfigjson is not a JSON object with an object "auths"`, remedy);
}

const dockerHubHosts: readonly string[] = [dockerHub.name, dockerHub.server, 'index.docker.io'];

interface RegistryKey {
  key: string;
  host: string;
  rank: number;
}

/** Keys come as `host`, `https://host`, `host/path` and, for Docker Hub, `https://index.docker.io/v1/`. */
function registryKey(key: string): RegistryKey {
  const [authority = '', ...path] = key.replace(/^https?:\/\//i, '').split('/');
  const written = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  const host = dockerHubHosts.includes(written) ? dockerHub.name : written;
  const pathless = path.every(part => part === '' || part === 'v1' || part === 'v2');
  return { key, host, rank: rankOf(key === host, pathless) };
}

function rankOf(exact: boolean, pathless: boolean): number {
  if (exact) return 0;
  return pathless ? 1 : 2;
}

/** `auth` before `username` and `password`, as the kubelet reads them; undefined when the entry holds neither. */
function basicLogin(auths: Fields, key: string, host: string): string | undefined {
  const entry = auths.raw(key);
  if (entry === undefined) return undefined;
  if (typeof entry !== 'object' || Array.isArray(entry)) throw badEntry(host, 'is not an object');
  const { auth, username, password, identitytoken } = entry as Record<string, unknown>;
  if ([auth, username, password].some(value => value !== undefined && value !== null && typeof value !== 'string')) {
    throw badEntry(host, 'has a member that is not a string');
  }
  if (typeof auth === 'string' && auth !== '') return decodeAuth(auth, host, Boolean(identitytoken));
  if (typeof username !== 'string' || username === '') return undefined;
  return toBase64(`${username}:${typeof password === 'string' ? password : ''}`);
}

function decodeAuth(auth: string, host: string, hasIdentityToken: boolean): string | undefined {
  // Some tools omit the padding.
  const bytes = fromBase64(auth.trim().padEnd(Math.ceil(auth.trim().length / 4) * 4, '='));
  const colon = bytes?.indexOf(0x3a) ?? -1;
  if (bytes === undefined || colon === -1) throw badEntry(host, 'has an "auth" that is not base64 of user:password');
  const noPassword = colon === bytes.length - 1;
  // containerd cannot use an identity token, which has a user name but no password.
  if (bytes.length === 1 || (noPassword && hasIdentityToken)) return undefined;
  return toBase64(bytes);
}

function badEntry(host: string, why: string): AppError {
  return malformed(
    `${label}: the entry for ${shown(host)} ${why}; mirrors there are used without a login`,
    `Log in to ${host} again and update the pull secret.`,
  );
}

function malformed(message: string, remedy: string): AppError {
  return new AppError('PULL_SECRET_MALFORMED', message, { remedy });
}
