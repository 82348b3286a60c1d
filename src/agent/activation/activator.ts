import type { Waiting } from '#base/waiting/poll.ts';
import { agentRecovery } from '#contract/agent-command.ts';
import { activationService, managedDescription } from '#contract/names.ts';
import { agentProgram, dir } from '#contract/paths.ts';
import type { ServiceConfig, System } from '../ports.ts';
import { ensureRemoved, requestState, type ServicePorts } from '../services/ensure.ts';

export interface ActivatorPorts extends ServicePorts {
  system: Pick<System, 'flushServices'>;
}

/** The temporary Windows service that carries out a swap. It starts with Windows, so that a power cut does not end the swap. */
function configOf(agent: string): ServiceConfig {
  return {
    command: `${agentProgram(agent)} activate --windows-service --log-dir ${dir.agentLog}`,
    description: managedDescription(activationService),
    dependencies: [],
    startType: 'automatic',
    recovery: agentRecovery,
  };
}

/** Creates the service anew: one that is left over may run another program. */
export async function createActivator(agent: string, ports: ActivatorPorts, waiting: Waiting): Promise<void> {
  await ensureRemoved(activationService, ports, waiting);
  await create(agent, ports);
}

/** Windows writes its registry late, and a power cut would lose the service. */
async function create(agent: string, { services, system }: ActivatorPorts): Promise<void> {
  await services.create(activationService, configOf(agent));
  await system.flushServices();
}

/** Starts the service unless it runs. Windows may have lost it in a power cut. */
export async function startActivator(agent: string, ports: ActivatorPorts): Promise<void> {
  const { services } = ports;
  const status = await services.query(activationService);
  if (status === undefined) await create(agent, ports);
  if (status !== undefined && status.state !== 'stopped') return;
  const start = () => services.start(activationService);
  await requestState(activationService, start, ports, ['start-pending', 'running']);
}

/** Stops and deletes the service. */
export async function removeActivator(ports: ServicePorts, waiting: Waiting): Promise<void> {
  await ensureRemoved(activationService, ports, waiting);
}

/** Deletes the service from within: it is gone when its process has exited. */
export async function deleteOwnService(ports: ServicePorts): Promise<void> {
  if ((await ports.services.query(activationService)) === undefined) return;
  await ports.services.remove(activationService);
}
