import { defaultNamespace, monitoringLabel } from '#contract/names.ts';
import { operatorNamespace } from '../namespace.ts';
import { uninstallMessage } from './description.ts';
import { example } from './example.ts';
import type { BundleOptions } from './options.ts';
import { repository } from './publisher.ts';
import { releaseFacts } from './release-facts.ts';

/** True only for what the operator does. */
const features: Readonly<Record<string, boolean>> = {
  disconnected: true,
  // The cryptography of Node.js is not validated.
  'fips-compliant': false,
  'proxy-aware': true,
  'tls-profiles': true,
  'token-auth-aws': false,
  'token-auth-azure': false,
  'token-auth-gcp': false,
  cnf: false,
  cni: true,
  csi: false,
};

/** The annotations of the ClusterServiceVersion. */
export function csvAnnotations({ version, image, createdAt }: BundleOptions): Record<string, string> {
  const { skipRange, newestOpenshift } = releaseFacts(version);
  return {
    'alm-examples': JSON.stringify([example], undefined, 2),
    capabilities: 'Seamless Upgrades',
    categories: 'OpenShift Optional',
    certified: 'false',
    // Otherwise the console offers to delete all instances, which the running operator takes for removals of its hosts.
    'console.openshift.io/disable-operand-delete': 'true',
    containerImage: image,
    ...(createdAt !== undefined && { createdAt }),
    description: 'Turns Windows Server machines into worker nodes, keeps them up to date and removes them again.',
    ...Object.fromEntries(
      Object.entries(features).map(([name, isOn]) => [`features.operators.openshift.io/${name}`, String(isOn)]),
    ),
    // OpenShift does not upgrade to a version whose API server refuses the kubelets of this release.
    'olm.properties': JSON.stringify([{ type: 'olm.maxOpenShiftVersion', value: newestOpenshift }]),
    'olm.skipRange': skipRange,
    'operator.openshift.io/uninstall-message': uninstallMessage,
    'operatorframework.io/cluster-monitoring': 'true',
    'operatorframework.io/suggested-namespace': defaultNamespace,
    'operatorframework.io/suggested-namespace-template': JSON.stringify(suggestedNamespace()),
    'operators.openshift.io/valid-subscription': '[]',
    repository,
    support: 'Windows Machine Config Operator community',
  };
}

/** Without the label for monitoring, which the console offers as a choice. */
function suggestedNamespace(): object {
  const namespace = operatorNamespace(defaultNamespace, 'openshift');
  const { [monitoringLabel]: _, ...labels } = namespace.metadata.labels;
  return { ...namespace, metadata: { ...namespace.metadata, labels } };
}
