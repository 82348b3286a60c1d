import { Secret } from '../../src/base/secret.ts';
import { type KubeObject, readObject } from '../../src/contract/object.ts';

/** An entry as people write it; tests of bad input put anything into it. */
export interface EntryText {
  source?: unknown;
  mirrors?: unknown;
  mirrorSourcePolicy?: unknown;
}

export const allow = 'AllowContactingSource';
export const never = 'NeverContactSource';

export function entry(source: string, mirrors: string[], mirrorSourcePolicy?: string): EntryText {
  return { source, mirrors, ...(mirrorSourcePolicy !== undefined && { mirrorSourcePolicy }) };
}

export function digestSet(name: string, imageDigestMirrors: unknown): KubeObject {
  return mirrorSet('ImageDigestMirrorSet', name, { imageDigestMirrors });
}

export function tagSet(name: string, imageTagMirrors: unknown): KubeObject {
  return mirrorSet('ImageTagMirrorSet', name, { imageTagMirrors });
}

export function mirrorSet(kind: string, name: string, spec: unknown): KubeObject {
  return readObject({ apiVersion: 'config.openshift.io/v1', kind, metadata: { name }, spec });
}

/** The image configuration of the cluster with these rules. */
export function imageConfig(registrySources: unknown): KubeObject {
  return mirrorSet('Image', 'cluster', { registrySources });
}

/** The text of a pull secret with these entries. */
export function pullSecret(auths: Record<string, unknown>): Secret {
  return new Secret(JSON.stringify({ auths }));
}
