import { agentRecovery } from '#contract/agent-command.ts';
import { agentName, managedDescription } from '#contract/names.ts';
import type { Waiting } from './ports.ts';
import { ensureStopped, type ServicePorts } from './services/ensure.ts';
import { planServices } from './services/plan.ts';

export interface InstallOutcome {
  created: boolean;
  /** Its configuration was another one. */
  changed: boolean;
  /** It did not run, or has to run anew. */
  started: boolean;
}

/**
 * Makes the agent's own Windows service what it has to be and has it started. How it fares from there is not waited for: it
 * tells that on its Node.
 */
export async function installAgent(command: string, ports: ServicePorts, waiting: Waiting): Promise<InstallOutcome> {
  const { services } = ports;
  const config = {
    command,
    description: managedDescription(agentName),
    dependencies: [],
    startType: 'automatic',
    recovery: agentRecovery,
  } as const;
  const wanted = { name: agentName, config, prepares: false, filesChanged: false };
  const outcome: InstallOutcome = { created: false, changed: false, started: false };
  for (const action of planServices([wanted], await services.list()).actions) {
    waiting.signal.throwIfAborted();
    if (action.do === 'stop') await ensureStopped(action.name, ports, waiting);
    if (action.do === 'create') await services.create(action.name, action.config);
    if (action.do === 'configure') await services.configure(action.name, action.config);
    if (action.do === 'start') outcome.started = (await start(action.name, ports)) || outcome.started;
    outcome.created ||= action.do === 'create';
    outcome.changed ||= action.do === 'configure';
  }
  return outcome;
}

/** False when it is on its way already: Windows may have begun to restart it by itself. */
async function start(name: string, { services }: ServicePorts): Promise<boolean> {
  const isComing = async () => ['start-pending', 'running'].includes((await services.query(name))?.state ?? '');
  if (await isComing()) return false;
  try {
    await services.start(name);
    return true;
  } catch (error) {
    if (await isComing()) return false;
    throw error;
  }
}
