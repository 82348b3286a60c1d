import { bootstrap as bringUp } from '../bootstrap.ts';
import { createCluster } from '../cluster.ts';
import { clientIn, portsIn, waitingIn } from './one-shot.ts';
import type { Verb } from './verb.ts';

export const bootstrap: Verb = {
  name: 'bootstrap',
  summary: 'start the services from which the host becomes a Node',
  required: ['kubeconfig', 'namespace', 'desired-version'],
  optional: [],
  async run(values, world) {
    const { log, signal } = world;
    const [version, namespace] = [values['desired-version'], values.namespace];
    const client = await clientIn(world, values.kubeconfig);
    try {
      log.info('Starting bootstrap services', { version });
      const cluster = createCluster({ client, nodeName: undefined, namespace, signal });
      const services = await bringUp(version, { ...portsIn(world), cluster }, waitingIn(world));
      const names = services.join(', ') || 'none';
      return { text: `Bootstrap services of version ${version} run: ${names}`, data: { version, services } };
    } finally {
      await client.close();
    }
  },
};
