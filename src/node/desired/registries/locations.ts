import { isNodeName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { redacted } from '#base/secret.ts';
import { dir } from '#contract/paths.ts';

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
  // A part does not show where a login begins and ends, so none is quoted of a text that may have one.
  const quote = (part: string) => shown(/[@?]/.test(text) ? redacted : part);
  const problem =
    hostProblem(host, quote) ?? path.map(segment => segmentProblem(segment, quote)).find(found => found !== undefined);
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
  const problem = directoryProblem(location.host);
  if (problem === undefined) return location;
  throw invalidMirrorSet(`${where}: ${display(text)} ${problem.why}`, problem.remedy);
}

/** Directory of a registry for containerd on Windows, where file names have no colon. */
export function registryDirectory(source: string): string {
  return source.replace(/:(\d+)$/, '_$1_');
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

/** Quotes a source or mirror for messages, without what stands before its last @ or after a question mark. */
export function display(text: string): string {
  const at = text.lastIndexOf('@');
  const query = text.indexOf('?');
  if (query !== -1 && query < at) return shown(redacted);
  const login = at === -1 ? '' : redacted;
  const end = query === -1 ? text.length : query;
  return shown(`${login}${text.slice(Math.max(at, 0), end)}${query === -1 ? '' : `?${redacted}`}`);
}

/** The error for anything wrong with an entry of a mirror set. */
export function invalidMirrorSet(message: string, remedy: string): AppError {
  return new AppError('MIRROR_SET_INVALID', message, { remedy });
}

/** Device names of Windows, with or without an extension. With a port, `con:5000` becomes `con_5000_`, which is valid. */
const reservedByWindows = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;

/** Longest path that every program on Windows supports. */
const maxPath = 259;
/** Room for the suffix of a temporary file. */
const suffixRoom = 20;

/** One path that is too long would stop all files of a host. */
function directoryProblem(host: string): { why: string; remedy: string } | undefined {
  if (reservedByWindows.test(host)) {
    return {
      why: 'begins with a reserved device name of Windows, so it cannot be a directory',
      remedy: 'Use another host name for the registry.',
    };
  }
  const rest = `${dir.registries}\\\\hosts.toml`.length + suffixRoom;
  const max = maxPath - rest;
  if (registryDirectory(host).length <= max) return undefined;
  return {
    why: `has a host of ${host.length} characters, so the path of its file on Windows would be too long`,
    remedy: `Use a host name for the registry of at most ${max} characters, or ${max - '_65535_'.length} with a port.`,
  };
}

type Quote = (part: string) => string;

function hostProblem(host: string, quote: Quote): string | undefined {
  if (host === '') return 'has no registry host';
  const [name = '', port, ...rest] = host.split(':');
  if (rest.length > 0 || !isRegistryHost(name.toLowerCase())) {
    return `has ${quote(host)}, which is not a host name`;
  }
  if (port === undefined || (/^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535)) return undefined;
  return `has port ${quote(port)}, which is not a number from 1 to 65535`;
}

/** No underscore: it could name the directory of another host with port. */
function isRegistryHost(name: string): boolean {
  const endsInNumber = /(^|\.)\d+$/.test(name);
  return endsInNumber ? isIpv4(name) : isNodeName(name);
}

/** An @ begins a digest; anything else before it may be a login. */
const plainSegment = /^[A-Za-z0-9._:~+-]+(@sha(256|384|512):[0-9a-f]+)?$/;

function segmentProblem(segment: string, quote: Quote): string | undefined {
  if (segment === '') return 'has an empty part in its path';
  const isPlain = segment !== '.' && segment !== '..' && plainSegment.test(segment);
  return isPlain ? undefined : `has ${quote(segment)} in its path`;
}
