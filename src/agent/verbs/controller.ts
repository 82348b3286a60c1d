import { agentName } from '#contract/names.ts';
import { runController } from '../controller/run.ts';
import { durationMs, type FlagValues } from './flags.ts';
import { portsIn } from './one-shot.ts';
import type { ServiceLife } from '../ports.ts';
import type { Verb, VerbDeps } from './verb.ts';

export const controller: Verb = {
  name: 'controller',
  summary: 'keep the host as its Node wants it, until it is told to stop',
  required: ['kubeconfig', 'namespace', 'node'],
  optional: ['windows-service', 'log-dir', 'log-file-max-size', 'ca-bundle', 'cert-dir', 'cert-duration', 'cloud-node'],
  async run(values, world) {
    const body = (life: ServiceLife) => run(values, world, life);
    if (values['windows-service'] === 'true') await world.asService(body);
    else await body({ signal: world.signal, ready: () => undefined });
    return undefined;
  },
};

async function run(values: FlagValues, world: VerbDeps, life: ServiceLife): Promise<void> {
  const { clock, client } = world;
  const maxBytes = Number(values['log-file-max-size']) * 1_000_000;
  const log = values['log-dir'] === '' ? world.log : world.openLog(values['log-dir'], maxBytes);
  log.info('Starting', { program: agentName, version: world.version, runtime: world.runtime });
  try {
    const options = {
      kubeconfigPath: values.kubeconfig,
      namespace: values.namespace,
      nodeName: values.node,
      cloudNode: values['cloud-node'] === 'true',
      caBundle: values['ca-bundle'],
      certDir: values['cert-dir'],
      certDurationMs: durationMs(values['cert-duration']),
    };
    await runController({ ports: portsIn(world), client, clock, log }, options, life);
    log.info('Stopped, as was asked for');
  } catch (error) {
    log.error('Exiting; the service manager restarts the agent', { error });
    throw error;
  }
}
