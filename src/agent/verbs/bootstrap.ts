import { rejectWhileSwapping } from '../activation/order.ts';
import { bootstrap as bringUp } from '../bootstrap.ts';
import { clientIn, manifestsIn, portsIn, waitingIn } from './one-shot.ts';
import type { Verb } from './verb.ts';

export const bootstrap: Verb = {
  name: 'bootstrap',
  summary: 'start the bootstrap services, if the host would register as the given Node',
  required: ['kubeconfig', 'namespace', 'desired-version', 'node'],
  optional: [],
  changesHost: true,
  async run(values, deps) {
    const { log, signal } = deps;
    const { namespace, node, 'desired-version': version } = values;
    await rejectWhileSwapping(deps.host().files);
    const client = await clientIn(deps, values.kubeconfig);
    try {
      log.info('Starting bootstrap services', { version, node });
      const manifests = manifestsIn(client, namespace, signal);
      const services = await bringUp({ version, node }, { ...portsIn(deps), manifests }, waitingIn(deps));
      const names = services.join(', ') || 'none';
      return { text: `Running bootstrap services of version ${version}: ${names}`, data: { version, services } };
    } finally {
      await client.close();
    }
  },
};
