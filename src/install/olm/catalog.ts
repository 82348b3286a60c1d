import {
  windowsInstanceGroup,
  windowsInstanceKind,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';
import { clusterServiceVersion, relatedImages } from './csv.ts';
import type { BundleOptions } from './options.ts';
import { channel, displayName, packageName } from './publisher.ts';
import { releaseFacts } from './release-facts.ts';
import { icon } from './icon.ts';

/** The file-based catalog with this one version: package, channel, bundle. */
export function catalogBlobs(options: BundleOptions): object[] {
  const { version, bundleImage } = options;
  const csv = clusterServiceVersion(options);
  const { name } = csv.metadata;
  return [
    {
      schema: 'olm.package',
      name: packageName,
      defaultChannel: channel,
      description: displayName,
      icon,
    },
    {
      schema: 'olm.channel',
      package: packageName,
      name: channel,
      entries: [{ name, skipRange: releaseFacts(version).skipRange }],
    },
    {
      schema: 'olm.bundle',
      package: packageName,
      name,
      image: bundleImage,
      properties: properties(options, csv),
      relatedImages: [{ name: 'bundle', image: bundleImage }, ...relatedImages(options)],
    },
  ];
}

type Csv = ReturnType<typeof clusterServiceVersion>;

function properties({ version }: BundleOptions, { metadata, spec }: Csv): object[] {
  return [
    { type: 'olm.package', value: { packageName, version } },
    {
      type: 'olm.gvk',
      value: { group: windowsInstanceGroup, kind: windowsInstanceKind, version: windowsInstanceVersion },
    },
    { type: 'olm.maxOpenShiftVersion', value: releaseFacts(version).newestOpenshift },
    {
      type: 'olm.csv.metadata',
      // What the console shows before the bundle is unpacked.
      value: {
        annotations: metadata.annotations,
        labels: metadata.labels,
        apiServiceDefinitions: {},
        crdDescriptions: spec.customresourcedefinitions,
        description: spec.description,
        displayName: spec.displayName,
        installModes: spec.installModes,
        keywords: spec.keywords,
        links: spec.links,
        maintainers: spec.maintainers,
        maturity: spec.maturity,
        minKubeVersion: spec.minKubeVersion,
        provider: spec.provider,
      },
    },
  ];
}

/** Builds the catalog image; opm of the base serves it. */
export function catalogContainerfile(): string {
  return [
    'FROM quay.io/operator-framework/opm:latest',
    'LABEL operators.operatorframework.io.index.configs.v1=/configs',
    'COPY configs/ /configs/',
    'ENTRYPOINT ["/bin/opm"]',
    'CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]',
    'RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]',
    '',
  ].join('\n');
}
