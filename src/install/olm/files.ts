import { stringify } from 'yaml';
import { bundleContainerfile, bundleFiles } from './bundle.ts';
import { catalogBlobs, catalogContainerfile } from './catalog.ts';
import type { BundleOptions } from './options.ts';
import { packageName } from './publisher.ts';

const head = '# Generated from src/install/olm by `npm run generate`.\n';

/** The contexts of the bundle image and the catalog image: text by path. */
export function olmFiles(options: BundleOptions): Record<string, string> {
  const manifests = Object.entries(bundleFiles(options)).map(([path, object]) => [`bundle/${path}`, print([object])]);
  return {
    'bundle/Containerfile': head + bundleContainerfile(options.version),
    ...Object.fromEntries(manifests),
    'catalog/Containerfile': head + catalogContainerfile(),
    [`catalog/configs/${packageName}/catalog.yaml`]: print(catalogBlobs(options)),
  };
}

function print(documents: readonly object[]): string {
  const texts = documents.map(each => stringify(each, { lineWidth: 0, aliasDuplicateObjects: false }));
  return head + texts.join('---\n');
}
