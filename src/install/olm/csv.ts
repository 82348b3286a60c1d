import { operatorName } from '#contract/names.ts';
import {
  windowsInstanceGroup,
  windowsInstanceKind,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';
import { pauseImage as defaultPauseImage } from '#node/desired/containerd-config.ts';
import { operatorDeployment } from '../deployment.ts';
import { csvAnnotations } from './annotations.ts';
import { description } from './description.ts';
import { specDescriptors, statusDescriptors } from './descriptors.ts';
import { icon } from './icon.ts';
import type { BundleOptions } from './options.ts';
import { displayName, keywords, links, maintainers, packageName, provider } from './publisher.ts';
import { releaseFacts } from './release-facts.ts';
import { serviceRules } from './rules.ts';

export interface RelatedImage {
  name: string;
  image: string;
}

/** The operator watches its own namespace; Nodes and Machines are read from the cluster. */
const installModes = (['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'] as const).map(type => ({
  type,
  supported: type === 'OwnNamespace',
}));

export const csvName = (version: string) => `${packageName}.v${version}`;

/** What a cluster without internet has to mirror for this version, beside images of Windows. */
export function relatedImages({ image, pauseImage = defaultPauseImage }: BundleOptions): RelatedImage[] {
  return [
    { name: 'operator', image },
    { name: 'pause', image: pauseImage },
  ];
}

const podLabels = { 'app.kubernetes.io/name': operatorName };

const labels = {
  ...podLabels,
  'operatorframework.io/arch.amd64': 'supported',
  'operatorframework.io/os.linux': 'supported',
};

/** Everything that OLM installs and shows of one version. */
export function clusterServiceVersion(options: BundleOptions) {
  const { version } = options;
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: csvName(version), labels, annotations: csvAnnotations(options) },
    spec: {
      displayName,
      version,
      minKubeVersion: releaseFacts(version).kubernetes,
      maturity: 'stable',
      description,
      keywords,
      maintainers,
      provider,
      links,
      icon: [icon],
      labels: podLabels,
      selector: { matchLabels: podLabels },
      installModes,
      // OLM must not delete instances when it deletes the operator.
      cleanup: { enabled: false },
      customresourcedefinitions: { owned: [ownedDefinition] },
      install: { strategy: 'deployment', spec: installSpec(options) },
      relatedImages: relatedImages(options),
    },
  };
}

const ownedDefinition = {
  name: `windowsinstances.${windowsInstanceGroup}`,
  kind: windowsInstanceKind,
  version: windowsInstanceVersion,
  displayName: 'Windows Instance',
  description: 'A Windows Server host that the operator makes a Node and keeps one.',
  resources: [
    { kind: 'Node', name: '', version: 'v1' },
    { kind: 'ConfigMap', name: 'windows-instances', version: 'v1' },
  ],
  specDescriptors,
  statusDescriptors,
};

function installSpec({ image, payloadKey }: BundleOptions) {
  // OLM sets the namespace.
  const { metadata, spec } = operatorDeployment({
    namespace: '',
    image,
    platform: 'openshift',
    usesPayloadKey: payloadKey !== undefined,
  });
  const { own, cluster } = serviceRules();
  return {
    clusterPermissions: [{ serviceAccountName: operatorName, rules: cluster }],
    permissions: [{ serviceAccountName: operatorName, rules: own }],
    deployments: [{ name: metadata.name, label: metadata.labels, spec }],
  };
}
