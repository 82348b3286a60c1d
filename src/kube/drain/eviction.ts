import { AppError } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import { ApiError, isNotFound } from '../api-error.ts';
import type { CallOptions, Client } from '../client.ts';
import type { KubeResource, Resource } from '../resource.ts';
import { type Pod, pods } from '../resources.ts';
import { causesOf, type PolicyVersion } from './budgets.ts';

interface Eviction extends KubeResource {
  deleteOptions?: { preconditions?: { uid?: string } };
}

/** What became of the wish to evict a pod. */
export type Answer =
  | { is: 'accepted' }
  /** It is gone, or another pod has its name. */
  | { is: 'gone' }
  /** Not now: a budget stands in the way, or the server is busy. */
  | { is: 'later'; message: string }
  /** To ask again would not help. */
  | { is: 'refused'; message: string };

const evictions: Resource<Eviction> = { ...pods };

/** Which form of eviction the server takes: policy/v1 since Kubernetes 1.22. */
export async function findPolicyVersion(
  client: Pick<Client, 'raw'>,
  options: CallOptions = {},
): Promise<PolicyVersion> {
  const answer = await client.raw('GET', '/api/v1', options);
  const list: unknown = isRecord(answer) ? answer['resources'] : undefined;
  const found: unknown = Array.isArray(list)
    ? list.find(each => isRecord(each) && each['name'] === 'pods/eviction')
    : undefined;
  const version = isRecord(found) ? found['version'] : undefined;
  if (version === 'v1' || version === 'v1beta1') return version;
  throw new AppError('EVICTION_UNSUPPORTED', `the API server offers pods/eviction in version ${String(version)}`, {
    remedy: 'Use a Kubernetes version from 1.11 on, and look whether something filters its discovery.',
  });
}

/** Asks for the eviction of this very pod, with the grace period the pod itself asks for. */
export async function evict(
  client: Pick<Client, 'create'>,
  pod: Pod,
  version: PolicyVersion,
  options: CallOptions,
): Promise<Answer> {
  const { name = '', namespace = '', uid } = pod.metadata;
  const eviction: Eviction = {
    apiVersion: `policy/${version}`,
    kind: 'Eviction',
    metadata: { name, namespace },
    ...(uid !== undefined && { deleteOptions: { preconditions: { uid } } }),
  };
  try {
    await client.create(evictions, eviction, { ...options, name, namespace, subresource: 'eviction', maxRetries: 0 });
    return { is: 'accepted' };
  } catch (error) {
    options.signal?.throwIfAborted();
    return answerOf(error);
  }
}

function answerOf(error: unknown): Answer {
  if (!(error instanceof ApiError)) return { is: 'later', message: String(error) };
  if (isNotFound(error)) return { is: 'gone' };
  const message = causesOf(error);
  // A conflict is another uid or a change at the same moment: the next look at the pod tells which.
  const isTransient = error.code === 409 || error.code === 429 || error.code >= 500 || isNamespaceEnding(error);
  return { is: isTransient ? 'later' : 'refused', message };
}

/** In a namespace that is being deleted the pods go by themselves. */
function isNamespaceEnding({ code, details }: ApiError): boolean {
  return code === 403 && (details.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
}
