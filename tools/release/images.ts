import { defaultImage } from '../../src/install/image-reference.ts';
import { pauseImage } from '../../src/node/desired/containerd-config.ts';

/** The images that a release names. */
export interface ReleaseImages {
  operator: string;
  bundle: string;
  catalog: string;
  /** Runs in every pod of Windows nodes. */
  pause: string;
}

/** Those of the release by tag, unless others are given. */
export function releaseImages(release: string, given: Partial<ReleaseImages> = {}): ReleaseImages {
  return {
    operator: defaultImage(release),
    bundle: defaultImage(release, 'bundle'),
    catalog: defaultImage(release, 'catalog'),
    pause: pauseImage,
    ...given,
  };
}

const reference = /^[a-z0-9][a-z0-9.-]*(:\d+)?(\/[a-z0-9._-]+)+(:[\w][\w.-]{0,127}|@sha256:[0-9a-f]{64})$/;

export const isImageReference = (text: string): boolean => reference.test(text);
const hasDigest = (image: string) => image.includes('@sha256:');

/** Images that the bundle and the catalog name by tag; OLM and mirrors by digest need digests. */
export function withoutDigest({ operator, bundle, pause }: ReleaseImages): string[] {
  return Object.entries({ operator, bundle, pause }).flatMap(([name, image]) => (hasDigest(image) ? [] : [name]));
}

/** What a cluster without internet mirrors, one reference a line, for scripts; base images of workloads come to it. */
export function imageList({ operator, bundle, catalog, pause }: ReleaseImages): string {
  return [...new Set([operator, bundle, catalog, pause, pauseImage])].map(image => `${image}\n`).join('');
}
