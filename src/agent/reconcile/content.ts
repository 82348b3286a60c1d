import { AppError, attempt, shown } from '#base/errors.ts';
import { servicesAnnotation } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import {
  type DesiredServices,
  parseDesiredServices,
  printDesiredServices,
  servicesHash,
} from '#contract/services/hash.ts';
import type { ServicesManifest } from '#contract/services/manifest.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import { acceptedFile, readAccepted, saveAccepted } from '../accepted.ts';
import type { Files, ManifestSource } from '../ports.ts';

/** What a pass applies. */
export interface Content {
  version: string;
  manifest: ServicesManifest;
  /** Of the data of the ConfigMap. */
  hash: string;
  /** What the operator has released for the Node, for this version; undefined when it has not. */
  released: DesiredServices | undefined;
}

/**
 * The content of the services ConfigMap, if it is the one that the operator has released for this Node; otherwise the content
 * that was accepted last. A host that has accepted none of this version has nothing to lose and takes what there is.
 */
export async function chooseContent(
  version: string,
  annotation: string | undefined,
  { cluster, files }: { cluster: ManifestSource; files: Files },
): Promise<Content> {
  const source = await readSource(version, cluster);
  const desired = parseDesiredServices(annotation);
  const released = desired?.version === version ? desired : undefined;
  const found = source && { ...source, hash: servicesHash(source.data, source.salt) };
  const isReleased = found !== undefined && found.hash === released?.hash;
  if (released !== undefined && !isReleased) {
    const kept = await readKept(version, files);
    if (kept !== undefined) return { ...kept, version, released };
  }
  if (found === undefined) return missing(version);
  const manifest = parseManifest(found.data, found.label);
  if (isReleased) await saveAccepted({ version, data: found.data, salt: found.salt }, files);
  return { version, manifest, hash: found.hash, released };
}

export async function readManifest(version: string, cluster: ManifestSource): Promise<ServicesManifest> {
  const { data, label } = (await readSource(version, cluster)) ?? missing(version);
  return parseManifest(data, label);
}

/** What to report as applied: the released settings, or nothing unless what was reported before is still true. */
export function appliedServices({ version, hash, released }: Content, reported: string): string {
  if (released?.hash === hash) return printDesiredServices(released);
  const before = parseDesiredServices(reported);
  return before?.version === version && before.hash === hash ? reported : '';
}

interface Source {
  data: Record<string, string>;
  salt: string;
  label: string;
}

async function readSource(version: string, cluster: ManifestSource): Promise<Source | undefined> {
  const object = await cluster.servicesConfigMap(version);
  if (object === undefined) return undefined;
  const { fields, label } = readObject(object);
  const { [servicesAnnotation.salt]: salt = '' } = fields.object('metadata').stringMap('annotations');
  return { data: fields.stringMap('data'), salt, label };
}

/** Undefined when nothing of this version was accepted, or when it cannot be parsed. */
async function readKept(version: string, files: Files): Promise<Pick<Content, 'manifest' | 'hash'> | undefined> {
  const kept = await readAccepted(files);
  if (kept?.version !== version) return undefined;
  const parsed = attempt(() => parseManifest(kept.data, acceptedFile));
  return parsed.ok ? { manifest: parsed.value, hash: servicesHash(kept.data, kept.salt) } : undefined;
}

function missing(version: string): never {
  throw new AppError('OBJECT_MISSING', `ConfigMap ${shown(servicesConfigMapName(version))} does not exist`, {
    remedy: 'Restore it, or install the operator of that version, which creates it. A newer one upgrades the host.',
  });
}
