import { type Clock, systemClock } from '../../src/base/clock.ts';
import { apiVersionOf, type Key, keyText, type KubeResource, type Resource } from '../../src/kube/resource.ts';
import type { StoredObject } from '../../src/sandbox/apiserver/ports.ts';
import type { ApiReader } from '../../src/sandbox/apiserver/auth/token-review.ts';

/** An object for a test, with the members every stored object has. */
export function stored(resource: Resource, object: KubeResource & Record<string, unknown>): StoredObject {
  const { namespace = '', name = '' } = object.metadata;
  const uid = `${resource.plural}-${namespace}-${name}`;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object, metadata: { uid, ...object.metadata } };
}

/** Reads from a fixed set of objects, listed in the order of namespaces and names. */
export function readerOf(
  objects: readonly (readonly [Resource, KubeResource & Record<string, unknown>])[],
  clock: Clock = systemClock,
): ApiReader {
  const all = objects.map(([resource, object]) => ({ resource, object: stored(resource, object) }));
  const textOf = ({ metadata }: StoredObject) =>
    keyText({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });
  const list = (resource: Resource, namespace = '') =>
    all
      .filter(entry => entry.resource.plural === resource.plural && entry.resource.group === resource.group)
      .map(({ object }) => object)
      .filter(({ metadata }) => namespace === '' || metadata.namespace === namespace)
      .toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
  const get = (resource: Resource, key: Key) => list(resource).find(object => textOf(object) === keyText(key));
  return { clock, list, get };
}
