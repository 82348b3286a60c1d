import { EventDeduper } from '#cluster/event-deduper.ts';
import { readObject } from '#contract/object.ts';
import { Controller } from '#kube/controller/controller.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { changed } from '#kube/controller/predicate.ts';
import { done } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import { nodeEventsNamespace, type Permission, reading } from '#kube/permissions.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import {
  imageConfigs,
  imageContentSourcePolicies,
  imageDigestMirrorSets,
  imageTagMirrorSets,
} from '#kube/resources-openshift.ts';
import { decide } from './decide.ts';

/** Not every cluster serves them. */
export const registryResources: readonly Resource[] = [
  imageDigestMirrorSets,
  imageTagMirrorSets,
  imageConfigs,
  imageContentSourcePolicies,
];

export const permissions: readonly Permission[] = [
  ...registryResources.map(
    ({ group, plural }): Permission => ({ in: 'cluster', group, resources: [plural], verbs: reading }),
  ),
  { in: { namespace: nodeEventsNamespace }, group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

export interface RegistriesParts extends ControllerParts {
  serves: (resource: Resource) => boolean;
}

/** Reports on mirror sets and on the image configuration what Windows nodes do not do as they say. */
export function registriesController(parts: RegistriesParts): Controller {
  const sources = registryResources.filter(parts.serves).map(resource => ({
    resource,
    source: parts.informers.get<KubeResource>(resource),
  }));
  const events = new EventDeduper(parts);
  // What one object says may depend on all others, so all are read in one pass.
  const key = { namespace: '', name: 'registries' };
  return new Controller({
    ...parts,
    name: 'registries',
    watches: sources.map(({ source }) => watching({ source, predicate: ofSpec, keys: () => [key] })),
    reconcile: async (_, { log }) => {
      const found = sources.flatMap(({ resource, source }) =>
        source.store.list().map(stored => ({ stored, resource, object: readObject(stored) })),
      );
      const reports = decide(found.map(({ object }) => object));
      found.forEach(({ stored, resource, object }, index) => {
        const subject = `${object.label} ${object.meta.uid}`;
        const texts = reports[index]?.events ?? [];
        if (!events.report(subject, [referenceTo(resource, stored)], texts)) return;
        log.warn('Windows nodes use registries otherwise', {
          object: object.label,
          problems: texts.map(({ message }) => message),
        });
      });
      return done;
    },
  });
}

const ofSpec = changed<KubeResource & { spec?: unknown }>(({ spec }) => [spec]);
