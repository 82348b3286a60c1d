import { byteOrder } from '#base/compare.ts';
import type { AppError } from '#base/errors.ts';
import type { Secret } from '#base/secret.ts';
import type { KubeObject } from '#contract/object.ts';
import { readCredentials } from './credentials.ts';
import { blockedToml, directToml, hostOf, hostsToml } from './hosts-toml.ts';
import { type ImageRules, pauseRegistry, readImageRules } from './image-rules.ts';
import { invalidMirrorSet, printLocation, registryDirectory } from './locations.ts';
import { type MergedMirrorSet, mergeEntries } from './merge.ts';
import { type MirrorEntry, readMirrorEntries } from './mirror-sets.ts';

export interface RegistryFiles {
  sets: MergedMirrorSet[];
  /** By path below the registries directory. May contain logins: print them with redactHostsToml. */
  files: Record<string, string>;
  /** Entries that were ignored, registries that stay without a mirror, and logins that cannot be read. */
  warnings: AppError[];
}

/** Directory that containerd reads for registries without a directory of their own. */
const otherRegistries = '_default';

/**
 * Creates the registry configuration of containerd, one file per registry, from mirror sets, the image configuration and the pull
 * secret. Objects of other kinds are ignored.
 */
export function registryFiles(objects: readonly KubeObject[], pullSecret: Secret | undefined): RegistryFiles {
  const { entries, warnings } = readMirrorEntries(objects);
  const rules = readImageRules(objects);
  const sets = mergeEntries(entries);
  const used = registriesOf(sets, rules);
  const logins = pullSecret === undefined ? undefined : readCredentials(pullSecret);
  const files = used.map(set => [
    `${registryDirectory(set.source)}\\hosts.toml`,
    contentOf(set, rules, logins?.byHost ?? new Map()),
  ]);
  if (rules.refusesOthers) files.unshift([`${otherRegistries}\\hosts.toml`, blockedToml()]);
  return {
    sets,
    files: Object.fromEntries(files) as Record<string, string>,
    warnings: [
      ...warnings,
      ...entries.flatMap(entry => blockedMirrors(entry, rules)),
      ...used.flatMap(set => unreachable(set, rules)),
      ...rules.problems,
      ...(logins?.warnings ?? []),
    ],
  };
}

/** The mirrors that are used, of every registry that needs a file. */
export function registriesOf(sets: readonly MergedMirrorSet[], rules: ImageRules): MergedMirrorSet[] {
  const known = new Set(sets.map(({ source }) => source));
  const others = rules.hosts
    .filter(host => !known.has(host))
    .map((source): MergedMirrorSet => ({ source, mirrors: [], sourcePolicy: 'AllowContactingSource' }));
  return [...sets, ...others]
    .map(set => ({
      ...set,
      mirrors: set.mirrors.filter(({ host }) => !rules.isBlocked(hostOf(host))),
      ...(rules.isBlocked(set.source) && { sourcePolicy: 'NeverContactSource' as const }),
    }))
    .sort((one, other) => byteOrder(one.source, other.source));
}

function contentOf(set: MergedMirrorSet, rules: ImageRules, logins: ReadonlyMap<string, string>): string {
  if (rules.isRefused(set.source)) return blockedToml();
  if (set.mirrors.length > 0) return hostsToml(set, logins, rules.isInsecure);
  if (set.sourcePolicy === 'NeverContactSource') return blockedToml();
  return rules.refusesOthers || rules.isInsecure(set.source) ? directToml(set.source, rules.isInsecure) : '';
}

/** Mirrors of the entry that the image configuration blocks, both by the names that the administrator wrote. */
export function blockedMirrors({ where, mirrors }: MirrorEntry, rules: ImageRules): AppError[] {
  const blocking = new Map(mirrors.map(mirror => [printLocation(mirror), rules.blockingEntry(mirror.host)]));
  return [...blocking].flatMap(([mirror, rule]) =>
    rule === undefined
      ? []
      : [
          invalidMirrorSet(
            `${where}: mirror ${mirror} is not used: ${rule} is in blockedRegistries of Image cluster`,
            `Remove the mirror, or ${rule} from blockedRegistries.`,
          ),
        ],
  );
}

/** Images of the registry cannot be pulled although a mirror set or pods need them. */
export function unreachable({ source, mirrors, sourcePolicy }: MergedMirrorSet, rules: ImageRules): AppError[] {
  if (sourcePolicy === 'AllowContactingSource' || mirrors.length > 0 || rules.isRefused(source)) return [];
  const isBlocked = rules.isBlocked(source);
  // A registry that is only blocked is what the administrator wants, unless every pod needs it.
  if (isBlocked && source !== pauseRegistry) return [];
  const why = isBlocked ? 'is in blockedRegistries of Image cluster' : 'has the policy NeverContactSource';
  const effect = source === pauseRegistry ? ': no new pod starts without its pause image' : '';
  return [
    invalidMirrorSet(
      `mirror sets: ${source} ${why} but has no usable mirror, so Windows nodes cannot pull from it${effect}`,
      `Add a mirror for ${source}, or allow ${source}.`,
    ),
  ];
}
