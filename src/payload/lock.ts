import { parseDocument } from 'yaml';
import { AppError, shown } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';
import { hasCollectionKeys } from '#base/yaml-keys.ts';

/** The files of a payload for one Kubernetes minor, with their sources and checksums. */
export interface PayloadLock {
  /** `v1.36`. */
  kubernetes: string;
  sources: readonly LockSource[];
}

/** Something that is downloaded or built, with the files of the payload in it. */
export interface LockSource {
  name: string;
  version: string;
  /** SPDX expression. */
  license: string;
  origin: Origin;
  files: readonly LockFile[];
}

export type Origin =
  | { kind: 'archive'; url: string; sha256: LockedSum }
  | { kind: 'file'; url: string }
  | { kind: 'image'; reference: string; platform: string; digest: LockedSum }
  | { kind: 'built'; what: 'agent' };

export interface LockFile {
  /** Below the payload folder. */
  path: string;
  /** Path in the archive or image; '' for other sources. */
  member: string;
  sha256: LockedSum;
}

/** 64 hex digits, or `unverified`. */
export type LockedSum = string;
export const unverified = 'unverified';

/** A path that a lock must have. */
export interface WantedFile {
  source: string;
  /** It may be left out. */
  isOptional?: true;
}

/** Parses a lock that has each of the wanted paths once, and no other. */
export function parseLock(text: string, label: string, wanted: readonly WantedFile[]): PayloadLock {
  const value = valueIn(text);
  if (value === undefined) throw invalid(label, 'is not valid YAML, or has a key twice or an alias');
  const root = strict(new Fields(value, label), ['kubernetes', 'sources']);
  const kubernetes = matching(root, 'kubernetes', /^v1\.\d{1,3}$/, 'a Kubernetes minor such as v1.36');
  const sources = root.objects('sources').map(readSource);
  const paths = sources.flatMap(({ files }) => files.map(({ path }) => path));
  checkUnique(paths, 'file', label);
  checkUnique(
    sources.map(({ name }) => name),
    'source',
    label,
  );
  for (const { origin, files } of sources)
    if (origin.kind === 'archive' || origin.kind === 'image')
      checkUnique(
        files.map(({ member }) => member),
        'member',
        label,
      );
  const unknown = paths.find(path => !wanted.some(({ source }) => source === path));
  if (unknown !== undefined) throw invalid(label, `has the file ${shown(unknown)}, which is not part of a payload`);
  const missing = wanted.filter(({ source, isOptional }) => isOptional !== true && !paths.includes(source));
  if (missing.length > 0) throw invalid(label, `has no source of ${missing.map(({ source }) => source).join(', ')}`);
  return { kubernetes, sources };
}

/** Each value once, and where it is used: a reader must see what counts, and `pinLock` replaces it there. */
function valueIn(text: string): unknown {
  const document = parseDocument(text, { logLevel: 'error', prettyErrors: false });
  if (document.errors.length > 0 || hasCollectionKeys(document)) return undefined;
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

function checkUnique(names: readonly string[], what: string, label: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(label, `has the ${what} ${shown(twice)} twice`);
}

const sum = /^(?:[0-9a-f]{64}|unverified)$/;
const sumText = '64 hex digits or unverified';

function readSource(fields: Fields): LockSource {
  const { label, path } = fields;
  const kinds = (['archive', 'file', 'image', 'built'] as const).filter(kind => fields.raw(kind) !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw invalid(label, `${path} must have exactly one of archive, file, image and built`);
  const own = { archive: ['sha256'], file: [], image: ['digest', 'platform'], built: [] }[kind];
  strict(fields, ['name', 'version', 'license', 'files', kind, ...own]);
  const hasMembers = kind === 'archive' || kind === 'image';
  const files = fields.objects('files').map(each => readFile(each, hasMembers));
  if (files.length === 0 || (!hasMembers && files.length > 1))
    throw invalid(label, `${path}.files has ${files.length} files, not ${hasMembers ? 'one or more' : 'one'}`);
  return {
    name: matching(fields, 'name', /^[a-z0-9][a-z0-9-]{0,62}$/, 'a lower-case name'),
    version: matching(fields, 'version', /^[\w.+-]{1,128}$/, 'a version'),
    license: matching(
      fields,
      'license',
      /^[\w.+-]{1,64}(?: (?:AND|OR|WITH) [\w.+-]{1,64}){0,8}$/,
      'an SPDX expression',
    ),
    origin: readOrigin(fields, kind),
    files,
  };
}

function readOrigin(fields: Fields, kind: Origin['kind']): Origin {
  switch (kind) {
    case 'archive':
      return { kind, url: url(fields, kind), sha256: matching(fields, 'sha256', sum, sumText) };
    case 'file':
      return { kind, url: url(fields, kind) };
    case 'image':
      return {
        kind,
        reference: image(fields, kind),
        platform: matching(
          fields,
          'platform',
          /^(?:windows|linux)\/(?:amd64|arm64)$/,
          'a platform such as windows/amd64',
        ),
        digest: matching(
          fields,
          'digest',
          /^(?:sha256:[0-9a-f]{64}|unverified)$/,
          'sha256: and 64 hex digits, or unverified',
        ),
      };
    case 'built':
    default:
      matching(fields, kind, /^agent$/, 'agent');
      return { kind, what: 'agent' };
  }
}

function readFile(fields: Fields, hasMember: boolean): LockFile {
  strict(fields, ['path', 'sha256', ...(hasMember ? ['member'] : [])]);
  const safePath = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.-]+(?:\/[\w.-]+){0,15}$/;
  return {
    path: matching(fields, 'path', safePath, 'a relative path'),
    member: hasMember ? matching(fields, 'member', safePath, 'a relative path') : '',
    sha256: matching(fields, 'sha256', sum, sumText),
  };
}

function image(fields: Fields, name: string): string {
  const pattern =
    /^(?!.*[/:]\.{1,2}(?:[/:]|$))[a-z0-9.-]{1,253}(?::\d{1,5})?(?:\/[a-z0-9._-]{1,128}){1,8}:[\w.-]{1,128}$/;
  const text = matching(fields, name, pattern, 'an image with registry and tag');
  // The pattern allows ports and hosts that do not exist.
  if (URL.canParse(`https://${text}`)) return text;
  throw invalid(fields.label, `${fields.path}.${name} is ${shown(text)}, not an image with registry and tag`);
}

function url(fields: Fields, name: string): string {
  const text = fields.requiredString(name);
  const parsed = URL.parse(text);
  const isPlain = parsed !== null && parsed.username === '' && parsed.password === '' && parsed.hash === '';
  if (!isPlain || !['https:', 'http:'].includes(parsed.protocol))
    throw invalid(fields.label, `${fields.path}.${name} is ${shown(text)}, not an https URL without a login`);
  return parsed.href;
}

function matching(fields: Fields, name: string, pattern: RegExp, expected: string): string {
  const text = fields.requiredString(name);
  const at = fields.path === '' ? name : `${fields.path}.${name}`;
  if (!pattern.test(text)) throw invalid(fields.label, `${at} is ${shown(text)}, not ${expected}`);
  return text;
}

/** A misspelled key must not leave out a check. */
function strict(fields: Fields, known: readonly string[]): Fields {
  const unknown = fields.names().find(name => !known.includes(name));
  if (unknown !== undefined)
    throw invalid(fields.label, `${fields.path}: unknown key ${shown(unknown)}; known are ${known.join(', ')}`);
  return fields;
}

function invalid(label: string, problem: string): AppError {
  return new AppError('PAYLOAD_LOCK_INVALID', `${label}: ${problem}`, {
    remedy: 'Correct the lock; docs/payload.md has its format.',
  });
}
