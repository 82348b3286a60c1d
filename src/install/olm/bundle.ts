import { defaultNamespace } from '#contract/names.ts';
import { windowsInstanceCrd } from '#contract/windows-instance/crd.ts';
import { payloadKeyManifests } from '../manifests.ts';
import { monitoringManifests } from '../monitoring.ts';
import { clusterServiceVersion } from './csv.ts';
import type { BundleOptions } from './options.ts';
import { channel, packageName } from './publisher.ts';
import { releaseFacts } from './release-facts.ts';

const bundlePrefix = 'operators.operatorframework.io.bundle';

/** The bundle image, by path of the file. OLM accepts one object per file. */
export function bundleFiles(options: BundleOptions): Record<string, object> {
  const csv = clusterServiceVersion(options);
  const others = [
    windowsInstanceCrd() as Named,
    ...payloadKeyManifests(options.payloadKey, defaultNamespace).map(withoutNamespace),
    ...monitoringManifests(defaultNamespace).map(withoutNamespace),
  ];
  return {
    [`manifests/${packageName}.clusterserviceversion.yaml`]: csv,
    ...Object.fromEntries(others.map(each => [`manifests/${fileName(each)}`, each])),
    'metadata/annotations.yaml': { annotations: bundleAnnotations(options.version) },
  };
}

interface Named {
  kind: string;
  metadata: { name: string; namespace?: string };
}

/** OLM puts every object into the namespace of the operator. */
function withoutNamespace<T extends Named>(manifest: T): T {
  const { namespace: _, ...metadata } = manifest.metadata;
  return { ...manifest, metadata };
}

function fileName({ kind, metadata: { name } }: Named): string {
  return `${name}.${kind.toLowerCase()}.yaml`;
}

/** The same in `metadata/annotations.yaml` and as labels of the image. */
export function bundleAnnotations(version: string): Record<string, string> {
  const { openshift, newestOpenshift } = releaseFacts(version);
  return {
    [`${bundlePrefix}.mediatype.v1`]: 'registry+v1',
    [`${bundlePrefix}.manifests.v1`]: 'manifests/',
    [`${bundlePrefix}.metadata.v1`]: 'metadata/',
    [`${bundlePrefix}.package.v1`]: packageName,
    [`${bundlePrefix}.channels.v1`]: channel,
    [`${bundlePrefix}.channel.default.v1`]: channel,
    'com.redhat.openshift.versions': `v${openshift}-v${newestOpenshift}`,
  };
}

/** Builds the bundle image; the context is the folder of the bundle. */
export function bundleContainerfile(version: string): string {
  const labels = { ...bundleAnnotations(version), 'com.redhat.delivery.operator.bundle': 'true' };
  return [
    'FROM scratch',
    ...Object.entries(labels).map(([name, value]) => `LABEL ${name}="${value}"`),
    'COPY manifests/ /manifests/',
    'COPY metadata/ /metadata/',
    '',
  ].join('\n');
}
