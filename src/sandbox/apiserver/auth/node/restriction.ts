import { sameData } from '#base/compare.ts';
import { pods } from '#kube/resources.ts';
import { listAt, textAt } from '../../object.ts';
import type { AdmissionRequest, StoredObject } from '../../ports.ts';
import { forbidden, notFound } from '../../status.ts';
import type { ApiReader } from '../token-review.ts';
import { nodeNameOf } from './identity.ts';
import { forbiddenLabels } from './labels.ts';

const leaseNamespace = 'kube-node-lease';

/** NodeRestriction: a kubelet may write only its own Node, its lease and its pods. */
export function restrictNode(request: AdmissionRequest, api: ApiReader): void {
  const node = nodeNameOf(request.user);
  if (node === undefined) return;
  const { resource, object } = request;
  const rule = rules[`${resource.group}/${resource.plural}`];
  const problem =
    node === ''
      ? `could not determine node from user ${JSON.stringify(request.user.username)}`
      : rule?.(node, request, api);
  const { name, generateName } = object.metadata;
  if (problem !== undefined) throw forbidden(resource, name ?? generateName ?? 'Unknown', problem);
}

/** Returns why the request is rejected. */
type Rule = (node: string, request: AdmissionRequest, api: ApiReader) => string | undefined;

const rules: Readonly<Record<string, Rule>> = {
  '/nodes': nodeProblem,
  '/pods': (node, request, api) =>
    Object.hasOwn(podRules, request.subresource)
      ? podRules[request.subresource]?.(node, request, api)
      : `unexpected pod subresource "${request.subresource}", only 'status' and 'eviction' are allowed`,
  '/serviceaccounts': tokenProblem,
  'coordination.k8s.io/leases': leaseProblem,
};

const podRules: Readonly<Record<string, Rule>> = {
  '': podProblem,
  status: podStatusProblem,
  eviction: evictionProblem,
};

function nodeProblem(node: string, { operation, object, old }: AdmissionRequest): string | undefined {
  const { name = '' } = object.metadata;
  if (name !== node) return `node "${node}" is not allowed to modify node "${name}"`;
  if (operation === 'delete') return undefined;
  const labels = forbiddenLabels(object.metadata.labels, old?.metadata.labels).join(', ');
  if (old === undefined) {
    return labels === '' ? undefined : `node "${node}" is not allowed to set the following labels: ${labels}`;
  }
  if (!sameData(listAt(object, 'spec.taints'), listAt(old, 'spec.taints')))
    return `node "${node}" is not allowed to modify taints`;
  return labels === '' ? undefined : `is not allowed to modify labels: ${labels}`;
}

/** A real server lets kubelets create mirror pods. The simulated ones have no static pods. */
function podProblem(node: string, { operation, object }: AdmissionRequest): string | undefined {
  if (operation !== 'delete') return `unexpected operation, node "${node}" can only delete pods`;
  return nodeOf(object) === node ? undefined : `node "${node}" can only delete pods with spec.nodeName set to itself`;
}

function podStatusProblem(node: string, { object, old }: AdmissionRequest): string | undefined {
  if (nodeOf(old) !== node)
    return `node "${node}" can only update pod status for pods with spec.nodeName set to itself`;
  return sameData(object.metadata.labels ?? {}, old?.metadata.labels ?? {})
    ? undefined
    : `node "${node}" cannot update labels through pod status`;
}

function evictionProblem(node: string, { object }: AdmissionRequest, api: ApiReader): string | undefined {
  const { namespace = '', name = '' } = object.metadata;
  const pod = api.get(pods, { namespace, name });
  if (pod === undefined) throw notFound(pods, name);
  return nodeOf(pod) === node ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`;
}

function tokenProblem(node: string, request: AdmissionRequest, api: ApiReader): string | undefined {
  const { operation, subresource, object } = request;
  if (operation !== 'create' || subresource !== 'token') return undefined;
  const bound = (member: string) => textAt(object, `spec.boundObjectRef.${member}`);
  const [name, uid] = [bound('name'), bound('uid')];
  if (bound('apiVersion') !== 'v1' || bound('kind') !== 'Pod' || name === '') {
    return 'node requested token not bound to a pod';
  }
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = api.get(pods, { namespace: object.metadata.namespace ?? '', name });
  if (pod === undefined) throw notFound(pods, name);
  if (pod.metadata.uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`;
  }
  return nodeOf(pod) === node ? undefined : 'node requested token bound to a pod scheduled on a different node';
}

function leaseProblem(node: string, { object }: AdmissionRequest): string | undefined {
  const { namespace, name } = object.metadata;
  if (namespace !== leaseNamespace) return `can only access leases in the "${leaseNamespace}" system namespace`;
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}

function nodeOf(pod: StoredObject | undefined): string {
  return textAt(pod, 'spec.nodeName');
}
