import { monitoringLabel, operatorName } from '#contract/names.ts';
import type { Manifest } from '#operator/rbac-manifests.ts';

export type PlatformKind = 'openshift' | 'kubernetes';

/** The pod uses the network of its node, which only the level `privileged` allows. */
const podSecurity = { 'pod-security.kubernetes.io/enforce': 'privileged' };
const openshiftLabels = { 'security.openshift.io/scc.podSecurityLabelSync': 'true', [monitoringLabel]: 'true' };

export function operatorNamespace(name: string, platform: PlatformKind): Manifest {
  const labels = {
    'app.kubernetes.io/name': operatorName,
    name: operatorName,
    ...podSecurity,
    ...(platform === 'openshift' && openshiftLabels),
  };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}
