import { apiVersionOf } from '#kube/resource.ts';
import { nodes, pods, secrets } from '#kube/resources.ts';
import { textAt } from '../object.ts';
import type { TokenIssuer, TokenRequest } from '../ports.ts';
import { badRequest, conflict, notFound } from '../status.ts';
import { defaultAccount } from './node/pod-references.ts';
import type { ApiReader } from './token-review.ts';
import type { TokenSigner } from './token-signer.ts';

/** Issues tokens; they can be bound to existing Secrets and Nodes, and to pods of the same account. */
export function createTokenIssuer(signer: TokenSigner, api: ApiReader): TokenIssuer {
  return { issue: request => signer.issue({ ...request, boundObject: checkBound(request, api) }) };
}

function checkBound(request: TokenRequest, api: ApiReader): TokenRequest['boundObject'] {
  const { boundObject: bound, serviceAccount } = request;
  if (bound === undefined) return undefined;
  const { namespace = '', name: account = '' } = serviceAccount.metadata;
  const kind = [pods, secrets, nodes].find(item => apiVersionOf(item) === bound.apiVersion && item.kind === bound.kind);
  if (kind === undefined) {
    const version = bound.apiVersion.includes('/') ? bound.apiVersion : `/${bound.apiVersion}`;
    throw badRequest(`cannot bind token to object of type ${version}, Kind=${bound.kind}`);
  }
  const object = api.get(kind, { namespace: kind.namespaced ? namespace : '', name: bound.name });
  if (object === undefined) throw notFound(kind, bound.name);
  if (bound.kind === 'Pod' && (textAt(object, 'spec.serviceAccountName') || defaultAccount) !== account) {
    const what = `token for serviceaccount "${account}" to pod running with different serviceaccount name.`;
    throw badRequest(`cannot bind ${what}`);
  }
  const { uid = '' } = object.metadata;
  if (bound.uid !== '' && bound.uid !== uid) {
    const why = `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', plural: bound.kind }, bound.name, why);
  }
  return { ...bound, uid };
}
