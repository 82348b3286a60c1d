import type { Clock } from '#base/clock.ts';
import { apiVersionOf } from '#kube/resource.ts';
import { customResourceDefinitions } from '#kube/resources.ts';
import type { LocalApi } from '../../apiserver/ports.ts';
import { definitions } from './definitions.ts';
import { type InitialFacts, worldObjects } from './objects.ts';

const limitMs = 10_000;

/** Makes a bare cluster one that an operator for Windows takes for OpenShift. */
export async function createInitialObjects(api: LocalApi, facts: InitialFacts, clock: Clock): Promise<void> {
  const wanted = definitions();
  for (const definition of wanted) api.create(customResourceDefinitions, definition);
  const isServed = () => {
    const served = new Set(api.resources().map(({ group, plural }) => `${plural}.${group}`));
    return wanted.every(({ metadata }) => served.has(metadata.name ?? ''));
  };
  for (const endMs = clock.monotonicMs() + limitMs; !isServed(); await clock.sleep(5)) {
    if (clock.monotonicMs() > endMs) throw new Error('the kinds of OpenShift are not served');
  }
  for (const { resource, object } of worldObjects(facts)) {
    api.create(resource, { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object });
  }
}
