const repository = 'quay.io/windows-machine-config-operator/operator';

/** The image of a release. The commit of a build is no part of its tag. */
export function defaultImage(version: string): string {
  const release = version.replace(/-(source|[\da-f]{7})(-dirty)?$/, '');
  // Tags have no plus sign.
  return `${repository}:v${release.replaceAll('+', '-')}`;
}
