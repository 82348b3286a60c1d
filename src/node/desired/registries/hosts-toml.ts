import { redacted } from '#base/secret.ts';
import { dockerHub } from './locations.ts';
import type { MergedMirror, MergedMirrorSet } from './merge.ts';

/** Base64 of `user:password` by registry `host[:port]`. */
type Logins = ReadonlyMap<string, string>;

/** Whether certificates of a registry `host[:port]` are not verified. */
type IsInsecure = (host: string) => boolean;

/** containerd tries the hosts in the order of the file and then the server. Empty without mirrors. */
export function hostsToml(set: MergedMirrorSet, logins: Logins, isInsecure: IsInsecure = () => false): string {
  const [first] = set.mirrors;
  if (first === undefined) return '';
  const fallback = set.sourcePolicy === 'NeverContactSource' ? first.host : set.source;
  return fileOf(fallback, set.mirrors, logins, isInsecure);
}

/** A registry without mirrors. Older versions of containerd ignore a file without a host table. */
export function directToml(source: string, isInsecure: IsInsecure): string {
  return fileOf(source, [{ host: source, canResolveTags: true }], new Map(), isInsecure);
}

/**
 * No host of the file can pull, so containerd refuses an image of the registry and contacts no host. The name is reserved and
 * never resolves, in case a version ignores `capabilities`; without a server containerd would take the registry itself.
 */
export function blockedToml(): string {
  const nowhere = endpoint('blocked.invalid');
  return `server = "${nowhere}"\n\ncapabilities = ["push"]\n\n[host."${nowhere}"]\n  capabilities = ["push"]\n`;
}

function fileOf(server: string, hosts: readonly MergedMirror[], logins: Logins, isInsecure: IsInsecure): string {
  const blocks = hosts.map(host => hostBlock(host, logins, isInsecure));
  const skip = isInsecure(hostOf(server)) ? 'skip_verify = true\n' : '';
  return `server = "${endpoint(server)}"\n\noverride_path = true\n${skip}\n${blocks.join('\n')}`;
}

/** Redacts the logins. */
export function redactHostsToml(text: string): string {
  return text.replaceAll(/^([ \t]*authorization = ")[^"]*"/gm, `$1${redacted}"`);
}

function hostBlock({ host: prefix, canResolveTags }: MergedMirror, logins: Logins, isInsecure: IsInsecure): string {
  const table = `host."${endpoint(prefix)}"`;
  const login = logins.get(hostOf(prefix));
  const header = `  [${table}.header]\n    authorization = "Basic ${login}"\n`;
  return [
    `[${table}]\n`,
    `  capabilities = [${canResolveTags ? '"pull", "resolve"' : '"pull"'}]\n`,
    '  override_path = true\n',
    ...(isInsecure(hostOf(prefix)) ? ['  skip_verify = true\n'] : []),
    ...(login === undefined ? [] : [header]),
  ].join('');
}

/** The path goes after the API version. */
function endpoint(prefix: string): string {
  const host = hostOf(prefix);
  return `https://${host === dockerHub.name ? dockerHub.server : host}/v2${prefix.slice(host.length)}`;
}

/** `host[:port]` of a mirror. */
export function hostOf(prefix: string): string {
  return prefix.split('/', 1)[0] ?? prefix;
}
