import { AppError } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import { ApiError, isNamespaceGone, isNotFound } from '../api-error.ts';
import type { CallOptions, Client } from '../client.ts';
import type { KubeResource, Resource } from '../resource.ts';
import { type Pod, pods } from '../resources.ts';
import { causesOf, type PolicyVersion } from './budgets.ts';

interface Eviction extends KubeResource {
  deleteOptions?: { preconditions?: { uid?: string } };
}

export type EvictionResult =
  | { is: 'accepted' }
  /** The pod does not exist, or has another UID. */
  | { is: 'gone' }
  /** A budget blocks it, or the server is busy. */
  | { is: 'later'; message: string }
  /** A retry would not help. */
  | { is: 'refused'; message: string };

const evictions: Resource<Eviction> = { ...pods };

/** The version of the eviction API: policy/v1 since Kubernetes 1.22. */
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
    remedy: 'Use Kubernetes 1.11 or newer, and check for a proxy that filters API discovery.',
  });
}

/** Evicts the pod with this UID, with its own grace period. */
export async function evict(
  client: Pick<Client, 'create'>,
  pod: Pod,
  version: PolicyVersion,
  options: CallOptions,
): Promise<EvictionResult> {
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
    return resultOf(error);
  }
}

function resultOf(error: unknown): EvictionResult {
  if (!(error instanceof ApiError)) return { is: 'later', message: String(error) };
  if (isNotFound(error)) return { is: 'gone' };
  const message = causesOf(error);
  // The pods of a terminating namespace are deleted anyway.
  // A conflict is another UID or a concurrent change; the next list shows which.
  const isTransient = error.code === 409 || error.code === 429 || error.code >= 500 || isNamespaceGone(error);
  return { is: isTransient ? 'later' : 'refused', message };
}
