import { pods } from '#kube/resources.ts';
import { textAt } from '../../object.ts';
import type { AccessDecision, AccessRequest } from '../../ports.ts';
import { nodeRules } from '../rbac/node-rules.ts';
import { readRules, ruleAllows } from '../rbac/rule.ts';
import type { ApiReader } from '../token-review.ts';
import { nodeNameOf } from './identity.ts';
import { defaultAccount, type PodReferences, referencesOf } from './pod-references.ts';

const allow: AccessDecision = { allowed: true, reason: '' };
const deny = (reason: string): AccessDecision => ({ allowed: false, reason });

const rules = readRules(nodeRules);
const leaseNamespace = 'kube-node-lease';
const readVerbs = ['get', 'list', 'watch'];
const ownVerbs = ['get', 'create', 'update', 'patch', 'delete'];

/**
 * The node authorizer: fixed rules, Secrets and ConfigMaps only if a pod on the node refers to them, and, as since Kubernetes
 * 1.32, only the Node and the pods of the node itself.
 */
export function authorizeNode(api: ApiReader, request: AccessRequest): AccessDecision {
  const node = nodeNameOf(request.user);
  if (node === undefined) return deny('');
  if (node === '') return deny(`unknown node for user ${JSON.stringify(request.user.username)}`);
  const special = request.path === '' ? restricted[`${request.group}/${request.resource}`] : undefined;
  if (special !== undefined) return special(api, node, request);
  return byRules(request);
}

function byRules(request: AccessRequest): AccessDecision {
  return rules.some(rule => ruleAllows(rule, request)) ? allow : deny('');
}

type Rule = (api: ApiReader, node: string, request: AccessRequest) => AccessDecision;

const restricted: Readonly<Record<string, Rule>> = {
  '/secrets': (api, node, request) => readReferenced(api, node, request, 'secrets'),
  '/configmaps': (api, node, request) => readReferenced(api, node, request, 'configMaps'),
  '/serviceaccounts': createToken,
  '/nodes': readOwnNode,
  '/pods': readOwnPods,
  'coordination.k8s.io/leases': useLease,
};

function readReferenced(
  api: ApiReader,
  node: string,
  request: AccessRequest,
  what: 'secrets' | 'configMaps',
): AccessDecision {
  if (!readVerbs.includes(request.verb)) return deny('can only read resources of this type');
  if (request.subresource !== '') return deny('cannot read subresource');
  if (request.namespace === '') return deny('can only read namespaced object of this type');
  return ifReferenced(api, node, request, what);
}

function readOwnNode(_api: ApiReader, node: string, request: AccessRequest): AccessDecision {
  const { verb, subresource, name } = request;
  if (subresource !== '' || !readVerbs.includes(verb) || name === node) return byRules(request);
  return deny(`node '${node}' cannot read ${name === '' ? 'all nodes' : `'${name}'`}, only its own Node object`);
}

function readOwnPods(api: ApiReader, node: string, request: AccessRequest): AccessDecision {
  const { verb, subresource, namespace, name, fieldSelector = '' } = request;
  if (subresource !== '' || !readVerbs.includes(verb)) return byRules(request);
  if (verb !== 'get' && selectsNode(fieldSelector, node)) return allow;
  if (name === '') return deny('can only list/watch pods with spec.nodeName field selector');
  const pod = api.get(pods, { namespace, name });
  return pod !== undefined && textAt(pod, 'spec.nodeName') === node ? allow : deny(noRelationship(node));
}

function selectsNode(fieldSelector: string, node: string): boolean {
  return fieldSelector.split(',').some(part => [`spec.nodeName=${node}`, `spec.nodeName==${node}`].includes(part));
}

function createToken(api: ApiReader, node: string, request: AccessRequest): AccessDecision {
  if (request.verb !== 'create' || request.name === '') {
    return deny('can only create tokens for individual service accounts');
  }
  if (request.subresource !== 'token') return deny('can only create token subresource of serviceaccount');
  return ifReferenced(api, node, request, 'serviceAccounts');
}

function useLease(_api: ApiReader, node: string, { verb, namespace, name }: AccessRequest): AccessDecision {
  if (!ownVerbs.includes(verb)) return deny('can only get, create, update, patch, or delete a node lease');
  if (namespace !== leaseNamespace) return deny(`can only access leases in the "${leaseNamespace}" system namespace`);
  // The name of a new object is checked by admission.
  return verb === 'create' || name === node
    ? allow
    : deny('can only access node lease with the same name as the requesting node');
}

function ifReferenced(
  api: ApiReader,
  node: string,
  { namespace, name }: AccessRequest,
  what: keyof PodReferences,
): AccessDecision {
  if (name === '') return deny('No Object name found');
  const bound = api.list(pods, namespace).filter(pod => textAt(pod, 'spec.nodeName') === node);
  // A mirror pod comes from the kubelet itself and must not grant access.
  const scheduled = bound.filter(pod => pod.metadata.annotations?.['kubernetes.io/config.mirror'] === undefined);
  const related = scheduled.some(pod => {
    const names = referencesOf(pod)[what];
    return names.has(name) || (what === 'serviceAccounts' && names.size === 0 && name === defaultAccount);
  });
  return related ? allow : deny(noRelationship(node));
}

function noRelationship(node: string): string {
  return `no relationship found between node '${node}' and this object`;
}
