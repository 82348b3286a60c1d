import { discoveryPermissions } from '#cluster/discovery-objects.ts';
import { defaultNamespace, operatorName } from '#contract/names.ts';
import { kubeProxyPermission } from '#controllers/agent-access/controller.ts';
import { pairPermissions } from '#controllers/exporter/pair.ts';
import { bootstrapperPermission } from '#node/inputs/tokens.ts';
import { type Manifest, roleManifests } from './rbac-manifests.ts';

/** Roles that the operator needs only in clusters other than OpenShift. */
export function kubernetesManifests(namespace: string = defaultNamespace): Manifest[] {
  return [
    ...roleManifests(pairPermissions, `${operatorName}-exporter`, namespace),
    ...roleManifests([bootstrapperPermission, kubeProxyPermission], `${operatorName}-bootstrap`, namespace),
    ...roleManifests(discoveryPermissions, `${operatorName}-discovery`, namespace),
  ];
}
