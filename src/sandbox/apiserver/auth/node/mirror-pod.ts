import { nodes } from '#kube/resources.ts';
import { textAt } from '../../object.ts';
import type { StoredObject } from '../../ports.ts';
import { notFound } from '../../status.ts';
import type { ApiReader } from '../token-review.ts';
import { referencesOf } from './pod-references.ts';

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Why a kubelet may not create this pod: it may only report static pods of its own that refer to nothing. */
export function mirrorPodProblem(pod: StoredObject, node: string, api: ApiReader): string | undefined {
  if (pod.metadata.annotations?.[mirrorAnnotation] === undefined) {
    return `pod does not have "${mirrorAnnotation}" annotation, node "${node}" can only create mirror pods`;
  }
  if (textAt(pod, 'spec.nodeName') !== node) {
    return `node "${node}" can only create pods with spec.nodeName set to itself`;
  }
  return ownerProblem(pod, node, api) ?? referenceProblem(pod, node);
}

function ownerProblem(pod: StoredObject, node: string, api: ApiReader): string | undefined {
  const [owner, ...more] = pod.metadata.ownerReferences ?? [];
  if (more.length > 0) return `node "${node}" can only create pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `node "${node}" can only create pods with an owner reference set to itself`;
  }
  if (owner.controller !== true) {
    return `node "${node}" can only create pods with a controller owner reference set to itself`;
  }
  if (owner.blockOwnerDeletion === true) return `node "${node}" must not set blockOwnerDeletion on an owner reference`;
  const found = api.get(nodes, { namespace: '', name: node });
  if (found === undefined) throw notFound(nodes, node);
  return owner.uid === found.metadata.uid
    ? undefined
    : `node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`;
}

function referenceProblem(pod: StoredObject, node: string): string | undefined {
  const { serviceAccounts, secrets, configMaps, claims } = referencesOf(pod);
  const found = [
    [serviceAccounts, 'a service account'],
    [secrets, 'secrets'],
    [configMaps, 'configmaps'],
    [claims, 'persistentvolumeclaims'],
  ] as const;
  const [, what] = found.find(([names]) => names.size > 0) ?? [];
  return what === undefined ? undefined : `node "${node}" can not create pods that reference ${what}`;
}
