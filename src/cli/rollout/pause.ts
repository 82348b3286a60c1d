import { configMapName } from '#contract/names.ts';
import { isAlreadyExists, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { configMaps } from '#kube/resources.ts';

interface PauseDeps {
  client: Pick<Client, 'patch' | 'create'>;
  namespace: string;
  signal: AbortSignal;
}

/** Sets `paused` in windows-rollout, which is created if it is missing. Other keys are kept. */
export async function setPaused(isPaused: boolean, { client, namespace, signal }: PauseDeps): Promise<void> {
  const name = configMapName.rollout;
  const data = { paused: String(isPaused) };
  const patch = () => client.patch(configMaps, name, { type: 'merge', body: { data } }, { namespace, signal });
  try {
    await patch();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    try {
      await client.create(configMaps, { metadata: { name, namespace }, data }, { namespace, signal });
    } catch (conflict) {
      if (!isAlreadyExists(conflict)) throw conflict;
      // Created by another user meanwhile.
      await patch();
    }
  }
}
