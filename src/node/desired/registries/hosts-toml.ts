import { redacted } from '#base/secret.ts';
import { dockerHub } from './locations.ts';
import type { MergedMirror, MergedMirrorSet } from './merge.ts';

/** Base64 of `user:password` by registry `host[:port]`. */
type Logins = ReadonlyMap<string, string>;

/** The directory in which containerd on Windows looks for a registry; a colon cannot be in a file name. */
export function registryDirectory(source: string): string {
  return source.replace(/:(\d+)$/, '_$1_');
}

/** containerd tries the hosts in the order of the file and then the server. Without mirrors there is nothing to say. */
export function hostsToml(set: MergedMirrorSet, logins: Logins): string {
  const [first] = set.mirrors;
  if (first === undefined) return '';
  const fallback = set.sourcePolicy === 'NeverContactSource' ? first.host : set.source;
  const blocks = set.mirrors.map(mirror => hostBlock(mirror, logins));
  return `server = "${endpoint(fallback)}"\n\noverride_path = true\n\n${blocks.join('\n')}`;
}

/** The same text for people's eyes: no login in it. */
export function redactHostsToml(text: string): string {
  return text.replaceAll(/^([ \t]*authorization = ")[^"]*"/gm, `$1${redacted}"`);
}

function hostBlock({ host: prefix, canResolveTags }: MergedMirror, logins: Logins): string {
  const table = `host."${endpoint(prefix)}"`;
  const login = logins.get(hostOf(prefix));
  const header = `  [${table}.header]\n    authorization = "Basic ${login}"\n`;
  return [
    `[${table}]\n`,
    `  capabilities = [${canResolveTags ? '"pull", "resolve"' : '"pull"'}]\n`,
    '  override_path = true\n',
    ...(login === undefined ? [] : [header]),
  ].join('');
}

/** The path of a registry's namespace goes after the version of its protocol. */
function endpoint(prefix: string): string {
  const host = hostOf(prefix);
  return `https://${host === dockerHub.name ? dockerHub.server : host}/v2${prefix.slice(host.length)}`;
}

function hostOf(prefix: string): string {
  return prefix.split('/', 1)[0] ?? prefix;
}
