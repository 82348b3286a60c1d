const organization = 'quay.io/windows-machine-config-operator';

/** An image of a release. The commit of a build is no part of its tag. */
export function defaultImage(version: string, name: 'operator' | 'bundle' | 'catalog' = 'operator'): string {
  const release = version.replace(/-(source|[\da-f]{7})(-dirty)?$/, '');
  // Tags have no plus sign.
  return `${organization}/${name}:v${release.replaceAll('+', '-')}`;
}

/** Registry and path of an image, without tag and digest. */
export function repositoryOf(image: string): string {
  const [name = ''] = image.split('@');
  return name.replace(/:[^/:]*$/, '');
}
