import { redacted } from '#base/secret.ts';
import { dockerHub } from './locations.ts';
import type { MergedMirror, MergedMirrorSet } from './merge.ts';

/** Base64 of `user:password` by registry `host[:port]`. */
type Logins = ReadonlyMap<string, string>;

/** Directory of a registry for containerd on Windows, where file names have no colon. */
export function registryDirectory(source: string): string {
  return source.replace(/:(\d+)$/, '_$1_');
}

/** containerd tries the hosts in the order of the file and then the server. Empty without mirrors. */
export function hostsToml(set: MergedMirrorSet, logins: Logins): string {
  const [first] = set.mirrors;
  if (first === undefined) return '';
  const fallback = set.sourcePolicy === 'NeverContactSource' ? first.host : set.source;
  const blocks = set.mirrors.map(mirror => hostBlock(mirror, logins));
  return `server = "${endpoint(fallback)}"\n\noverride_path = true\n\n${blocks.join('\n')}`;
}

/** Redacts the logins. */
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

/** The path goes after the API version. */
function endpoint(prefix: string): string {
  const host = hostOf(prefix);
  return `https://${host === dockerHub.name ? dockerHub.server : host}/v2${prefix.slice(host.length)}`;
}

function hostOf(prefix: string): string {
  return prefix.split('/', 1)[0] ?? prefix;
}
