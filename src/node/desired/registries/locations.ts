import { isNodeName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { redacted } from '#base/secret.ts';

/** A registry and a path in it. */
export interface Location {
  /** `host` or `host:port`, in lower case. */
  host: string;
  path: readonly string[];
}

/** Name of Docker Hub in image references, and the host that serves it. */
export const dockerHub = { name: 'docker.io', server: 'registry-1.docker.io' } as const;

const remedy =
  'Write registries as host[:port][/path], for example mirror.example.com:5000/team, without spaces or quotes.';

/** Parses a source or mirror without its scheme; rejects what could break a URL, a TOML string or a Windows path. */
export function parseLocation(text: string, where: string): Location {
  const [host = '', ...path] = text
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/\/$/, '')
    .split('/');
  const problem = hostProblem(host) ?? path.map(segmentProblem).find(found => found !== undefined);
  if (problem !== undefined) throw invalidMirrorSet(`${where}: ${display(text)} ${problem}`, remedy);
  return { host: host.toLowerCase(), path };
}

/** A source becomes a directory name on the node, so more names are invalid than for a mirror. */
export function parseSource(text: string, where: string): Location {
  if (text.includes('*')) {
    throw invalidMirrorSet(
      `${where}: ${display(text)} has a wildcard, which Windows nodes cannot mirror`,
      'Add one entry for each registry that the wildcard matches.',
    );
  }
  const location = parseLocation(text, where);
  if (!reservedByWindows.test(location.host)) return location;
  throw invalidMirrorSet(
    `${where}: ${display(text)} begins with a reserved device name of Windows, so it cannot be a directory`,
    'Use another host name for the registry.',
  );
}

/**
 * The part of a mirror before the path that it shares with the source: `quay.io/team` for `quay.io/team/os/pause` as mirror
 * of `mcr.microsoft.com/os/pause`. containerd adds the rest of the path itself. The host always stays.
 */
export function mirrorPrefix(source: Location, mirror: Location): Location {
  const rest = [...source.path];
  const kept = [...mirror.path];
  while (kept.length > 0 && rest.length > 0 && kept.at(-1) === rest.at(-1)) {
    kept.pop();
    rest.pop();
  }
  // Both names are one registry; two mirrors would give the same TOML table twice.
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

/** Device names of Windows, with or without an extension. With a port, `con:5000` becomes `con_5000_`, which is valid. */
const reservedByWindows = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;

function hostProblem(host: string): string | undefined {
  if (host === '') return 'has no registry host';
  const [name = '', port, ...rest] = host.split(':');
  if (rest.length > 0 || !isRegistryHost(name.toLowerCase())) {
    return `has ${display(host)}, which is not a host name`;
  }
  if (port === undefined || (/^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535)) return undefined;
  return `has port ${display(port)}, which is not a number from 1 to 65535`;
}

/** No underscore: it could name the directory of another host with port. */
function isRegistryHost(name: string): boolean {
  const endsInNumber = /(^|\.)\d+$/.test(name);
  return endsInNumber ? isIpv4(name) : isNodeName(name);
}

function segmentProblem(segment: string): string | undefined {
  if (segment === '') return 'has an empty part in its path';
  if (segment === '.' || segment === '..') return `has ${display(segment)} in its path`;
  return /^[A-Za-z0-9._:@~+-]+$/.test(segment) ? undefined : `has ${display(segment)} in its path`;
}

/** Quotes a text for messages, without a password before an @. */
function display(text: string): string {
  const parts = text.split('/').map(part => {
    const at = part.lastIndexOf('@');
    return at === -1 ? part : redacted + part.slice(at);
  });
  return shown(parts.join('/'));
}
