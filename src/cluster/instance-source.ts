import { normalHostName } from '#base/dns-name.ts';
import { sha256 } from '#base/sha256.ts';
import { trimEndOf } from '#base/trim-end.ts';
import type { WindowsInstance } from './windows-instance-resource.ts';
import type { InstanceSource } from '#contract/windows-instance/resource.ts';

/** The owner of a WindowsInstance: a Machine, or an entry of windows-instances by its key. */
export interface SourceRef {
  kind: Exclude<InstanceSource, 'Direct'>;
  name: string;
}

/** Undefined for an instance that a user created. */
export function sourceOf({ spec }: WindowsInstance): SourceRef | undefined {
  const { kind, name } = spec.source ?? {};
  return kind === undefined || kind === 'Direct' ? undefined : { kind, name: name ?? '' };
}

/** Same text for all spellings of one source. */
export function sourceText({ kind, name }: SourceRef): string {
  return `${kind}/${normalHostName(name)}`;
}

/**
 * Names for the instance of a source: the plain one is how users call the host. The distinct one, which no other source can get, is
 * used when the plain one is taken.
 */
export function instanceNames(source: SourceRef): [plain: string, distinct: string] {
  const plain = normalHostName(source.name);
  const suffix = `-${sha256(sourceText(source)).slice(0, 8)}`;
  return [plain, `${trimEndOf(plain.slice(0, maxNameLength - suffix.length), '.-')}${suffix}`];
}

const maxNameLength = 253;

/** Index of the store of instances by their source. */
export const bySource = 'source';

export function indexBySource(instance: WindowsInstance): string[] {
  const source = sourceOf(instance);
  return source === undefined ? [] : [sourceText(source)];
}
