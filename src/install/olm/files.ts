import { yamlFile } from '../files.ts';
import { bundleContainerfile, bundleFiles } from './bundle.ts';
import { catalogBlobs, catalogContainerfile } from './catalog.ts';
import type { BundleOptions } from './options.ts';
import { packageName } from './publisher.ts';

const source = 'src/install/olm';

/** The contexts of the bundle image and the catalog image: text by path. */
export function olmFiles(options: BundleOptions): Record<string, string> {
  const manifests = Object.entries(bundleFiles(options)).map(([path, object]) => [
    `bundle/${path}`,
    yamlFile([object], source),
  ]);
  return {
    'bundle/Containerfile': bundleContainerfile(options.version),
    ...Object.fromEntries(manifests),
    'catalog/Containerfile': catalogContainerfile(),
    [`catalog/configs/${packageName}/catalog.yaml`]: yamlFile(catalogBlobs(options), source),
  };
}
