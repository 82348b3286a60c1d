import { toBase64 } from '#base/bytes.ts';
import { operatorName } from '#contract/names.ts';
import { windowsInstanceCrd } from '#contract/windows-instance/crd.ts';
import { admissionManifests } from '#operator/admission-policies.ts';
import { kubernetesManifests } from '#operator/kubernetes-manifests.ts';
import { operatorPermissions } from '#operator/permissions.ts';
import { fileOf, type Manifest, rbacManifests } from '#operator/rbac-manifests.ts';
import { operatorDeployment, payloadKeySecret } from './deployment.ts';
import { monitoringManifests } from './monitoring.ts';
import { operatorNamespace, type PlatformKind } from './namespace.ts';

export interface InstallOptions {
  kind: PlatformKind;
  namespace: string;
  image: string;
  replicas?: number;
  /** PEM of the key that must have signed the payload, for a Secret; default is the key of the release. */
  payloadKey?: string;
  /** Default: with `payloadKey`. Also for a Secret that exists. */
  usesPayloadKey?: boolean;
  /** Default: true. API servers before 1.30 have no ValidatingAdmissionPolicy. */
  hasAdmissionPolicies?: boolean;
  /** Default: on OpenShift. */
  hasMonitoring?: boolean;
  /** Default: false. Whether the namespace `openshift-cluster-api` exists. */
  hasClusterApi?: boolean;
}

/** Everything that an installation without OLM consists of, in the order in which it is applied. */
export function installManifests(options: InstallOptions): Manifest[] {
  const { kind, namespace, payloadKey, hasAdmissionPolicies = true, hasMonitoring = kind === 'openshift' } = options;
  return [
    windowsInstanceCrd() as unknown as Manifest,
    operatorNamespace(namespace, kind),
    ...permissionManifests(options),
    ...(hasAdmissionPolicies ? admissionManifests(namespace).map(each => ({ ...each })) : []),
    ...(hasMonitoring ? monitoringManifests(namespace) : []),
    ...payloadKeyManifests(payloadKey, namespace),
    operatorDeployment({ usesPayloadKey: payloadKey !== undefined, ...options, platform: kind }),
  ];
}

function permissionManifests({ kind, namespace, hasClusterApi = false }: InstallOptions): Manifest[] {
  const all = rbacManifests(operatorPermissions, namespace);
  const isWanted = { operator: true, openshift: kind === 'openshift', 'cluster-api': hasClusterApi };
  const wanted = all.filter(each => isWanted[fileOf(each)]);
  return kind === 'kubernetes' ? [...wanted, ...kubernetesManifests(namespace)] : wanted;
}

/** The Secret from which the Deployment reads the public key. */
export function payloadKeyManifests(pem: string | undefined, namespace: string): Manifest[] {
  if (pem === undefined) return [];
  const { name, key } = payloadKeySecret;
  const metadata = { name, namespace, labels: { 'app.kubernetes.io/name': operatorName } };
  return [{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: { [key]: toBase64(pem) } }];
}
