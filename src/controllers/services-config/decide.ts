import { attempt } from '#base/errors.ts';
import { checkContent } from '#contract/services/compare.ts';
import type { ServicesManifest } from '#contract/services/manifest.ts';
import { servicesHash } from '#contract/services/hash.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { printManifest } from '#contract/services/print.ts';
import { servicesConfigMapName, versionOfServicesConfigMap } from '#contract/version.ts';

export interface StoredServices {
  name: string;
  data: Readonly<Record<string, string>>;
  /** Of the hash of its content; may be empty. */
  salt: string;
  immutable: boolean;
  /** It has a deletionTimestamp. */
  isDeleting: boolean;
}

export interface ServicesConfigFacts {
  /** Of this operator. */
  version: string;
  /** Undefined while facts of the cluster are missing. */
  wanted: ServicesManifest | undefined;
  /** That it should have. */
  salt: string;
  /** All services ConfigMaps of the namespace. */
  stored: readonly StoredServices[];
  /** Versions that hosts run or are being configured with, by the records; those of Nodes without a record, too. */
  inUse: readonly string[];
  /** Those of the records alone. */
  recorded: readonly string[];
}

export interface Decision {
  /** For the ConfigMap of this version. It is immutable, so `replace` deletes and creates it. */
  own: { do: 'keep' } | { do: 'create' } | { do: 'replace'; why: string } | { do: 'wait'; why: string };
  /** Names of ConfigMaps of unused versions. */
  outdated: string[];
  /** Names of ConfigMaps of other versions that hosts need and that do not exist. */
  lost: string[];
}

export function decide({ version, wanted, salt, stored, inUse, recorded }: ServicesConfigFacts): Decision {
  const names = new Set(stored.map(({ name }) => name));
  const isOutdated = ({ name, isDeleting }: StoredServices) => {
    const its = versionOfServicesConfigMap(name);
    return its !== undefined && its !== version && !inUse.includes(its) && !isDeleting;
  };
  return {
    own: decideOwn(
      wanted && { manifest: wanted, salt },
      stored.find(({ name }) => versionOfServicesConfigMap(name) === version),
    ),
    outdated: stored.filter(isOutdated).map(({ name }) => name),
    lost: recorded
      .filter(its => its !== version)
      .map(servicesConfigMapName)
      .filter(name => !names.has(name)),
  };
}

function decideOwn(
  wanted: { manifest: ServicesManifest; salt: string } | undefined,
  stored: StoredServices | undefined,
): Decision['own'] {
  if (wanted === undefined) return { do: 'wait', why: 'the facts of the cluster are not complete' };
  if (stored === undefined) return { do: 'create' };
  if (stored.isDeleting) return { do: 'wait', why: `ConfigMap ${stored.name} is being deleted` };
  const label = `ConfigMap ${stored.name}`;
  const same = attempt(() => checkContent(parseManifest(stored.data, label), wanted.manifest, label));
  if (!same.ok) return { do: 'replace', why: same.error.message };
  // Agents apply exactly the text whose hash was released for their Node.
  if (servicesHash(stored.data, stored.salt) !== servicesHash(printManifest(wanted.manifest), wanted.salt))
    return { do: 'replace', why: `${label} has the same content in another form` };
  return stored.immutable ? { do: 'keep' } : { do: 'replace', why: `${label} is not immutable` };
}
