import { agentName } from '#contract/names.ts';
import { runController } from '../controller/run.ts';
import { durationMs, type FlagValues } from './flags.ts';
import { logIn, portsIn } from './one-shot.ts';
import type { ServiceLife } from '../ports.ts';
import type { Verb, VerbDeps } from './verb.ts';

export const controller: Verb = {
  name: 'controller',
  summary: 'keep the host configured as its Node requests, until it is stopped',
  required: ['kubeconfig', 'namespace', 'node'],
  optional: ['windows-service', 'log-dir', 'log-file-max-size', 'ca-bundle', 'cert-dir', 'cert-duration', 'cloud-node'],
  async run(values, deps) {
    const body = (life: ServiceLife) => run(values, deps, life);
    if (values['windows-service'] === 'true') await deps.asService(body);
    else await body({ signal: deps.signal, ready: () => undefined });
    return undefined;
  },
};

async function run(values: FlagValues, deps: VerbDeps, life: ServiceLife): Promise<void> {
  const { clock, client } = deps;
  const log = logIn(values, deps);
  log.info('Starting', { program: agentName, version: deps.version, runtime: deps.runtime });
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
    await runController({ ports: portsIn(deps), client, clock, log }, options, life);
    log.info('Stopped agent');
  } catch (error) {
    log.error('Exiting; the service manager restarts the agent', { error });
    throw error;
  }
}
