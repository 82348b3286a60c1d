import { type CommandLine, usage } from '#base/command-line.ts';
import { shown } from '#base/errors.ts';
import type { Mirror } from '#payload/fetch/mirror.ts';

/** The value of --mirror: a folder or a base URL. */
export function mirrorIn(line: CommandLine, text: string): Mirror | undefined {
  if (text === '') return undefined;
  if (!hasScheme(text)) return { kind: 'folder', path: text };
  const base = plainUrl(text);
  if (base !== undefined) return { kind: 'url', base };
  throw usage(line, `--mirror is ${shown(text)}, neither a folder nor an http or https URL without login and query`);
}

/** The value of --registry-mirror: a host with an optional path, or a URL. */
export function registryMirrorIn(line: CommandLine, text: string): URL | undefined {
  if (text === '') return undefined;
  const url = plainUrl(hasScheme(text) ? text : `https://${text}`);
  if (url?.pathname.split('/').every(part => /^[a-z0-9._-]*$/.test(part)) === true) return url;
  throw usage(
    line,
    `--registry-mirror is ${shown(text)}, not a host with an optional path, or such a URL without login`,
  );
}

function hasScheme(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function plainUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return isPlain && ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}
