import type { AppError } from '#base/errors.ts';
import type { Secret } from '#base/secret.ts';
import type { KubeObject } from '#contract/object.ts';
import { readCredentials } from './credentials.ts';
import { hostsToml, registryDirectory } from './hosts-toml.ts';
import { invalidMirrorSet } from './locations.ts';
import { type MergedMirrorSet, mergeEntries } from './merge.ts';
import { readMirrorEntries } from './mirror-sets.ts';

export interface RegistryFiles {
  sets: MergedMirrorSet[];
  /** By path below the registries directory. May contain logins: print them with redactHostsToml. */
  files: Record<string, string>;
  /** Entries that were ignored, and logins that cannot be read. */
  warnings: AppError[];
}

/** Creates the registry configuration of containerd from mirror sets and pull secret, one file per source registry. */
export function registryFiles(mirrorObjects: readonly KubeObject[], pullSecret: Secret | undefined): RegistryFiles {
  const { entries, warnings } = readMirrorEntries(mirrorObjects);
  const sets = mergeEntries(entries);
  const logins = pullSecret === undefined ? undefined : readCredentials(pullSecret);
  const files = sets.map(set => [
    `${registryDirectory(set.source)}\\hosts.toml`,
    hostsToml(set, logins?.byHost ?? new Map()),
  ]);
  return {
    sets,
    files: Object.fromEntries(files) as Record<string, string>,
    warnings: [...warnings, ...sets.flatMap(policyWarning), ...(logins?.warnings ?? [])],
  };
}

/** Without a mirror the file is empty, and containerd contacts the source whatever the policy is. */
function policyWarning({ source, mirrors, sourcePolicy }: MergedMirrorSet): AppError[] {
  if (sourcePolicy === 'AllowContactingSource' || mirrors.length > 0) return [];
  return [
    invalidMirrorSet(
      `mirror sets: ${source} has the policy NeverContactSource but no usable mirror, so Windows nodes still contact it`,
      `Add a mirror for ${source}, or remove its entries.`,
    ),
  ];
}
