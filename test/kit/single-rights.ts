import type { AuditedRequest } from './cluster/audit-log.ts';
import type { Manifest } from '../../src/operator/rbac-manifests.ts';
import type { PolicyRule } from '../../src/kube/resources.ts';

/** One verb on one resource at one place, and the names it is limited to, if any. */
export interface SingleRight {
  /** Empty for the whole cluster. */
  namespace: string;
  group: string;
  /** With its subresource. */
  resource: string;
  verb: string;
  /** Undefined for all objects. */
  name?: string | undefined;
}

/** Every single right in the Roles and ClusterRoles of these manifests. */
export function grantedRights(manifests: readonly Manifest[]): SingleRight[] {
  return manifests
    .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
    .flatMap(({ rules = [], metadata: { namespace = '' } }) => rightsOf(rules, namespace));
}

export function rightsOf(rules: readonly PolicyRule[], namespace: string): SingleRight[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs, resourceNames = [undefined] }) =>
    apiGroups.flatMap(group =>
      resources.flatMap(resource =>
        verbs.flatMap(verb => resourceNames.map(name => ({ namespace, group, resource, verb, name }))),
      ),
    ),
  );
}

/** Whether a right allows what is done; one for the whole cluster also allows it in each namespace. */
export function allows(right: SingleRight, done: SingleRight): boolean {
  return (
    (right.namespace === '' || right.namespace === done.namespace) &&
    right.group === done.group &&
    right.resource === done.resource &&
    right.verb === done.verb &&
    (right.name === undefined || right.name === done.name)
  );
}

/** As `kubectl auth can-i` asks for it: `get secrets/pull-secret in openshift-config`. */
export function rightText({ namespace, group, resource, verb, name }: SingleRight): string {
  const what = group === '' ? resource : `${resource}.${group}`;
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`} in ${namespace === '' ? 'the cluster' : namespace}`;
}

/** What a request needs; undefined for one that is not about a resource. */
export function rightOf({ verb, objectRef }: AuditedRequest): SingleRight | undefined {
  if (objectRef?.resource === undefined) return undefined;
  const { resource, subresource, namespace = '', apiGroup: group = '', name } = objectRef;
  return {
    namespace,
    group,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    verb,
    name,
  };
}

const rbac = 'rbac.authorization.k8s.io';

/**
 * The rights that these requests used: for the requests themselves, for the rules that they granted, because nobody can grant what
 * he may not do, for binding a role, and for approving requests for a signer.
 */
export function usedRights(requests: readonly AuditedRequest[], signers: ReadonlyMap<string, string>): SingleRight[] {
  const asked = requests.filter(({ annotations }) => annotations?.['authorization.k8s.io/decision'] === 'allow');
  const done = asked.filter(({ responseStatus }) => (responseStatus?.code ?? 0) < 400);
  const all = done.flatMap(request => [...grantedBy(request), ...boundBy(request), ...approvedBy(request, signers)]);
  all.push(...asked.flatMap(request => one(rightOf(request))));
  return [...new Map(all.map(each => [rightText(each), each])).values()];
}

function one(right: SingleRight | undefined): SingleRight[] {
  return right === undefined ? [] : [right];
}

function grantedBy({ objectRef, requestObject }: AuditedRequest): SingleRight[] {
  if (objectRef?.apiGroup !== rbac || requestObject?.rules === undefined) return [];
  return rightsOf(requestObject.rules, objectRef.namespace ?? '');
}

function boundBy({ objectRef, requestObject }: AuditedRequest): SingleRight[] {
  const { roleRef } = requestObject ?? {};
  if (objectRef?.apiGroup !== rbac || roleRef === undefined) return [];
  const resource = roleRef.kind === 'Role' ? 'roles' : 'clusterroles';
  return [{ namespace: objectRef.namespace ?? '', group: rbac, resource, verb: 'bind', name: roleRef.name }];
}

function approvedBy({ objectRef }: AuditedRequest, signers: ReadonlyMap<string, string>): SingleRight[] {
  if (objectRef?.subresource !== 'approval') return [];
  const name = signers.get(objectRef.name ?? '');
  return [{ namespace: '', group: 'certificates.k8s.io', resource: 'signers', verb: 'approve', name }];
}

/** What the API server refused, each once. */
export function refusedRights(requests: readonly AuditedRequest[]): string[] {
  const refused = requests.filter(
    ({ responseStatus, annotations }) =>
      responseStatus?.code === 403 || annotations?.['authorization.k8s.io/decision'] === 'forbid',
  );
  return [...new Set(refused.map(request => one(rightOf(request)).map(rightText).join() || request.requestURI))];
}
