import { stringify } from 'yaml';
import { defaultNamespace } from '#contract/names.ts';
import { installManifests } from './manifests.ts';
import type { PlatformKind } from './namespace.ts';

const platforms: readonly PlatformKind[] = ['openshift', 'kubernetes'];

/** All objects of an installation in one file, for `kubectl apply -f` and `kubectl apply -k`: text by path. */
export function installFiles(image: string, payloadKey?: string): Record<string, string> {
  const base = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: ['install.yaml'] };
  return Object.fromEntries(
    platforms.flatMap(kind => {
      const options = { namespace: defaultNamespace, image, ...(payloadKey !== undefined && { payloadKey }) };
      const manifests = installManifests({ kind, ...options });
      return [
        [`${kind}/kustomization.yaml`, yamlFile([base], 'src/install/files.ts')],
        [`${kind}/install.yaml`, yamlFile(manifests, 'src/install/manifests.ts')],
      ];
    }),
  );
}

export function yamlFile(documents: readonly object[], source: string): string {
  const head = `# Generated from ${source} by \`npm run generate\`.\n`;
  return head + documents.map(each => stringify(each, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
}
