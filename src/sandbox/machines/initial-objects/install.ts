import type { Clock } from '#base/clock.ts';
import { apiVersionOf } from '#kube/resource.ts';
import { customResourceDefinitions } from '#kube/resources.ts';
import type { LocalApi } from '../../apiserver/ports.ts';
import { definitions } from './definitions.ts';
import { type InitialFacts, initialObjects } from './objects.ts';

const limitMs = 10_000;

/** Turns a bare cluster into one of this kind, as far as the operator sees it. */
export async function createInitialObjects(api: LocalApi, facts: InitialFacts, clock: Clock): Promise<void> {
  const wanted = definitions(facts.kind);
  for (const definition of wanted) api.create(customResourceDefinitions, definition);
  const isServed = () => {
    const served = new Set(api.resources().map(({ group, plural }) => `${plural}.${group}`));
    return wanted.every(({ metadata }) => served.has(metadata.name ?? ''));
  };
  for (const endMs = clock.monotonicMs() + limitMs; !isServed(); await clock.sleep(5)) {
    if (clock.monotonicMs() > endMs) throw new Error('the CRDs were not served within 10 s');
  }
  for (const { resource, object } of initialObjects(facts)) {
    api.create(resource, { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object });
  }
}
