import { byteOrder } from '#base/compare.ts';
import { type AppError, attempt, shown } from '#base/errors.ts';
import { Fields } from '#base/fields.ts';
import type { KubeObject } from '#contract/object.ts';
import { invalidMirrorSet, type Location, parseLocation, parseSource } from './locations.ts';

export type SourcePolicy = 'AllowContactingSource' | 'NeverContactSource';

/** One usable entry of an ImageDigestMirrorSet or ImageTagMirrorSet. */
export interface MirrorEntry {
  /** Names object and entry in messages. */
  where: string;
  source: Location;
  /** In the order listed. */
  mirrors: Location[];
  policy: SourcePolicy;
  /** Tag mirrors may resolve tags to digests; digest mirrors only serve content. */
  resolvesTags: boolean;
}

export interface MirrorEntries {
  entries: MirrorEntry[];
  /** Entries that were ignored. */
  warnings: AppError[];
}

const kinds: ReadonlyMap<string, { list: string; resolvesTags: boolean }> = new Map([
  ['ImageDigestMirrorSet', { list: 'imageDigestMirrors', resolvesTags: false }],
  ['ImageTagMirrorSet', { list: 'imageTagMirrors', resolvesTags: true }],
]);

/** Reads all mirror sets, sorted by kind and name so that the order of a list does not matter; ignores objects of other kinds. */
export function readMirrorEntries(objects: readonly KubeObject[]): MirrorEntries {
  const result: MirrorEntries = { entries: [], warnings: [] };
  for (const object of objects.toSorted(byKindAndName)) {
    const kind = kinds.get(object.kind);
    if (kind === undefined) continue;
    const items = attempt(() => listOf(object, kind.list));
    if (!items.ok) result.warnings.push(items.error);
    else items.value.forEach((item, index) => addEntry(result, object, { ...kind, item, index }));
  }
  return result;
}

/** The order of objects decides only where their lists of mirrors contradict each other. */
function byKindAndName(one: KubeObject, other: KubeObject): number {
  return byteOrder(one.kind, other.kind) || byteOrder(one.meta.name, other.meta.name);
}

interface RawEntry {
  item: unknown;
  index: number;
  list: string;
  resolvesTags: boolean;
}

function listOf(object: KubeObject, name: string): unknown[] {
  const spec = object.fields.object('spec');
  const list = spec.raw(name) ?? [];
  if (Array.isArray(list)) return list;
  throw invalidMirrorSet(
    `${object.label}: spec.${name} is ${shown(list)}, not a list`,
    `Make spec.${name} a list of entries.`,
  );
}

function addEntry(result: MirrorEntries, object: KubeObject, raw: RawEntry): void {
  const path = `spec.${raw.list}[${raw.index}]`;
  const read = attempt(() => {
    const fields = new Fields(raw.item, object.label, path);
    const text = fields.string('source') ?? '';
    const source = parseSource(text, `${object.label}: ${path}.source`);
    return { source, mirrors: fields.strings('mirrors'), policy: fields.string('mirrorSourcePolicy') ?? '' };
  });
  if (!read.ok) {
    result.warnings.push(read.error);
    return;
  }
  const { source, mirrors, policy } = read.value;
  const where = `${object.label}: ${path}`;
  result.entries.push({
    where,
    source,
    mirrors: mirrors.flatMap((text, index) => mirrorOf(result, text, `${where}.mirrors[${index}]`)),
    policy: policyOf(result, policy, where),
    resolvesTags: raw.resolvesTags,
  });
}

function mirrorOf(result: MirrorEntries, text: string, where: string): Location[] {
  const mirror = attempt(() => parseLocation(text, where));
  if (mirror.ok) return [mirror.value];
  result.warnings.push(mirror.error);
  return [];
}

function policyOf(result: MirrorEntries, policy: string, where: string): SourcePolicy {
  if (policy === 'NeverContactSource') return policy;
  if (policy !== '' && policy !== 'AllowContactingSource') {
    result.warnings.push(
      invalidMirrorSet(
        `${where}.mirrorSourcePolicy is ${shown(policy)} and was read as AllowContactingSource`,
        'Set it to AllowContactingSource or NeverContactSource.',
      ),
    );
  }
  return 'AllowContactingSource';
}
