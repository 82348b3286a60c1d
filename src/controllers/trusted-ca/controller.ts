import { configMapName, injectTrustedCaLabel } from '#contract/names.ts';
import { isAlreadyExists } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { done } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { configMaps } from '#kube/resources.ts';
import { watchingFacts } from '#cluster/facts-watch.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { decide } from './decide.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: [...reading, 'create', 'patch'] },
];

/** Keeps the ConfigMap into which the cluster network operator puts the CA bundle of the proxy; for clusters with a proxy. */
export function trustedCaController(parts: ControllerParts): Controller {
  const { client, informers, namespace } = parts;
  const [name, labels] = [configMapName.trustedCa, { [injectTrustedCaLabel]: 'true' }];
  const key = { namespace, name };
  const source = informers.get(configMaps, { namespace, fieldSelector: `metadata.name=${name}` });
  return new Controller({
    ...parts,
    name: 'trusted-ca',
    // One that does not exist is told by nobody.
    watches: [watching({ source }), watchingFacts({ onChange: () => () => undefined }, key)],
    reconcile: async (_, { signal, log }) => {
      const found = source.store.get(key)?.metadata;
      const isLeaving = found?.deletionTimestamp !== undefined;
      const next = decide({ labels: found && (found.labels ?? {}), isLeaving });
      if (next === 'keep') return done;
      log.info('Repairing the ConfigMap for the trusted CA bundle', { what: next });
      if (next === 'label') {
        await client.patch(configMaps, name, { type: 'merge', body: { metadata: { labels } } }, { namespace, signal });
        return done;
      }
      await client.create(configMaps, { metadata: { name, namespace, labels } }, { signal }).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
      return done;
    },
  });
}
