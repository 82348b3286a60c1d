import { configMapName, injectTrustedCaLabel } from '#contract/names.ts';
import { isAlreadyExists, unless } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { done } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { configMaps } from '#kube/resources.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { watchingFacts } from '#cluster/facts-watch.ts';
import { wantsProxy } from '#cluster/openshift.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { decide } from './decide.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: [...reading, 'create', 'patch'] },
];

export interface TrustedCaParts extends ControllerParts {
  facts: Pick<FactsSource, 'objects' | 'onChange'>;
  settings: Pick<OperatorSettings, 'namespace' | 'proxy'>;
}

/** While the cluster has a proxy, keeps the ConfigMap into which the cluster network operator injects the CA bundle of the proxy. */
export function trustedCaController(parts: TrustedCaParts): Controller {
  const { client, informers, namespace, facts, settings } = parts;
  const [name, labels] = [configMapName.trustedCa, { [injectTrustedCaLabel]: 'true' }];
  const key = { namespace, name };
  const source = informers.get(configMaps, { namespace, fieldSelector: `metadata.name=${name}` });
  return new Controller({
    ...parts,
    name: 'trusted-ca',
    // A missing ConfigMap triggers no watch, so the key is enqueued at the start.
    watches: [watching({ source }), watchingFacts(facts, key)],
    reconcile: async (_, { signal, log }) => {
      const found = source.store.get(key)?.metadata;
      const isDeleting = found?.deletionTimestamp !== undefined;
      const hasProxy = wantsProxy(facts.objects(), settings);
      const next = decide({ hasProxy, labels: found && (found.labels ?? {}), isDeleting });
      if (next === 'keep') return done;
      log.info('Repairing ConfigMap of the trusted CA bundle', { what: next });
      if (next === 'label') {
        await client.patch(configMaps, name, { type: 'merge', body: { metadata: { labels } } }, { namespace, signal });
        return done;
      }
      const object = { metadata: { name, namespace, labels } };
      await client.create(configMaps, object, { signal }).catch(unless(isAlreadyExists));
      return done;
    },
  });
}
