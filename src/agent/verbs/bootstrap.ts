import { bootstrap as bringUp } from '../bootstrap.ts';
import { createManifestSource } from '../cluster.ts';
import { clientIn, portsIn, waitingIn } from './one-shot.ts';
import type { Verb } from './verb.ts';

export const bootstrap: Verb = {
  name: 'bootstrap',
  summary: 'start the services from which the host becomes a Node, if it would become the Node of the name given',
  required: ['kubeconfig', 'namespace', 'desired-version', 'node'],
  optional: [],
  async run(values, world) {
    const { log, signal } = world;
    const { namespace, node, 'desired-version': version } = values;
    const client = await clientIn(world, values.kubeconfig);
    try {
      log.info('Starting bootstrap services', { version, node });
      const manifests = createManifestSource({ client, namespace, signal });
      const services = await bringUp({ version, node }, { ...portsIn(world), manifests }, waitingIn(world));
      const names = services.join(', ') || 'none';
      return { text: `Bootstrap services of version ${version} run: ${names}`, data: { version, services } };
    } finally {
      await client.close();
    }
  },
};
