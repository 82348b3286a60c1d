import { configMapName } from './names.ts';

/** Version of the kubelet in the payload; the version skew policy decides which clusters it supports. */
export const payloadKubeletVersion = 'v1.36.2';

/** `<semver>-<first 7 digits of the commit>[-dirty]`. Compared only for equality. */
export function versionString(semver: string, commit: string, dirty: boolean): string {
  return `${semver}-${commit.slice(0, 7)}${dirty ? '-dirty' : ''}`;
}

/** Recorded for a host that was adopted, and whose Node claims a version that it cannot have. */
export const unknownVersion = 'unknown';

/** What hosts and Nodes claim gets into commands that administrators run, so that only such text counts as a version. */
export function isVersionText(text: string | undefined): text is string {
  return /^[\w.+-]{1,128}$/.test(text ?? '');
}

export function servicesConfigMapName(version: string): string {
  return `${configMapName.servicesPrefix}${version}`;
}

/** The version in the name of a services ConfigMap; undefined for any other ConfigMap. */
export function versionOfServicesConfigMap(name: string): string | undefined {
  const version = name.slice(configMapName.servicesPrefix.length);
  return name.startsWith(configMapName.servicesPrefix) && version !== '' ? version : undefined;
}

/** The line `wmco version` prints; scripts search it for `version: "<version>"`. */
export function versionLine(program: string, version: string, runtime: string): string {
  return `${program} version: "${version}", node version: "${runtime}"`;
}
