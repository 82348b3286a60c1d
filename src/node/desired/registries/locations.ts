import { isNodeName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { redacted } from '#base/secret.ts';

/** Where images lie: a registry, and a path in it. */
export interface Location {
  /** `host` or `host:port`, in lower case. */
  host: string;
  path: readonly string[];
}

/** The name under which images of Docker Hub are known, and the host that really serves them. */
export const dockerHub = { name: 'docker.io', server: 'registry-1.docker.io' } as const;

const remedy =
  'Write a registry as host[:port][/path], for example mirror.example.com:5000/team, without blanks or quotes.';

/** Reads a source or mirror. A scheme is dropped; whatever could break a URL, a TOML text or a Windows path is refused. */
export function parseLocation(text: string, where: string): Location {
  const [host = '', ...path] = text
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/\/$/, '')
    .split('/');
  const problem = hostProblem(host) ?? path.map(segmentProblem).find(found => found !== undefined);
  if (problem !== undefined) throw invalidMirrorSet(`${where}: ${display(text)} ${problem}`, remedy);
  return { host: host.toLowerCase(), path };
}

/** A source names a directory on the node, which a mirror does not, so more names are refused. */
export function parseSource(text: string, where: string): Location {
  if (text.includes('*')) {
    throw invalidMirrorSet(
      `${where}: ${display(text)} has a wildcard, which Windows nodes cannot mirror`,
      'Add one entry for each registry that the wildcard stands for.',
    );
  }
  const location = parseLocation(text, where);
  if (!reservedByWindows.test(location.host)) return location;
  throw invalidMirrorSet(
    `${where}: ${display(text)} begins with a name that Windows keeps for devices, so it cannot be a directory`,
    'Give the registry another host name.',
  );
}

/**
 * What of a mirror comes before the part it shares with the source: `quay.io/team` for `quay.io/team/os/pause` as mirror
 * of `mcr.microsoft.com/os/pause`. containerd adds the rest of the path itself. The host always stays.
 */
export function mirrorPrefix(source: Location, mirror: Location): Location {
  const rest = [...source.path];
  const kept = [...mirror.path];
  while (kept.length > 0 && rest.length > 0 && kept.at(-1) === rest.at(-1)) {
    kept.pop();
    rest.pop();
  }
  // Both spellings are one registry; as two mirrors they would give one table twice, which is no valid TOML.
  const host = mirror.host === dockerHub.server ? dockerHub.name : mirror.host;
  return { host, path: kept };
}

export function printLocation({ host, path }: Location): string {
  return [host, ...path].join('/');
}

/** The error for anything wrong with an entry of a mirror set. */
export function invalidMirrorSet(message: string, remedy: string): AppError {
  return new AppError('MIRROR_SET_INVALID', message, { remedy });
}

/** Windows takes these for devices, with or without something after a dot. A port makes `con:5000` harmless as `con_5000_`. */
const reservedByWindows = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;

function hostProblem(host: string): string | undefined {
  if (host === '') return 'has no registry host';
  const [name = '', port, ...rest] = host.split(':');
  if (rest.length > 0 || !isRegistryHost(name.toLowerCase())) {
    return `has ${display(host)}, which is no host name, before the path`;
  }
  if (port === undefined || (/^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535)) return undefined;
  return `has port ${display(port)}, which is no number from 1 to 65535`;
}

/** An underscore is refused as well: it would let a host name take the directory of another host's port. */
function isRegistryHost(name: string): boolean {
  const endsInNumber = /(^|\.)\d+$/.test(name);
  return endsInNumber ? isIpv4(name) : isNodeName(name);
}

function segmentProblem(segment: string): string | undefined {
  if (segment === '') return 'has an empty part in its path';
  if (segment === '.' || segment === '..') return `has ${display(segment)} in its path`;
  return /^[A-Za-z0-9._:@~+-]+$/.test(segment) ? undefined : `has ${display(segment)} in its path`;
}

/** A text for a message, without the password that somebody may have put before an @. */
function display(text: string): string {
  const parts = text.split('/').map(part => {
    const at = part.lastIndexOf('@');
    return at === -1 ? part : redacted + part.slice(at);
  });
  return shown(parts.join('/'));
}
