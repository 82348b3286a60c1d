import { messageOf } from '#base/errors.ts';
import type { Waiting } from '#base/waiting/poll.ts';
import { agentName } from '#contract/names.ts';
import type { Files, InstalledService } from '../ports.ts';
import { ensureRunning, type ServicePorts } from '../services/ensure.ts';
import { dependenciesFirst, serviceKey } from '../services/order.ts';
import { changeState, readState } from '../state.ts';
import { mergeNames, type Removal } from './decide.ts';

interface StoppedPorts extends ServicePorts {
  files: Files;
}

/** Services not installed by WMCO; recorded before they are stopped, so that they are started again after a crash. */
export async function rememberStopped(removals: readonly Removal[], { files }: StoppedPorts): Promise<void> {
  const stopped = removals.filter(
    removal => removal.do === 'stop' && serviceKey(removal.name) !== serviceKey(agentName),
  );
  if (stopped.length === 0) return;
  const { stoppedServices } = await readState(files);
  await changeState(files, {
    stoppedServices: mergeNames(
      stoppedServices,
      stopped.map(({ name }) => name),
    ),
  });
}

/** With kept settings the agent starts them, because they may depend on services that are installed again. */
export async function startStopped(
  ports: StoppedPorts,
  waiting: Waiting,
  onWarning: (text: string) => void,
): Promise<void> {
  const { stoppedServices } = await readState(ports.files);
  if (stoppedServices.length === 0) return;
  const installed = await ports.services.list();
  const wanted = installed.filter(({ name }) => stoppedServices.some(each => serviceKey(each) === serviceKey(name)));
  for (const { name, config } of dependenciesFirst(wanted.map(withDependencies))) {
    try {
      for (const each of config.dependencies) await checkExists(each, ports);
      await ensureRunning(name, ports, waiting);
    } catch (error) {
      waiting.signal.throwIfAborted();
      onWarning(`Service ${name}, which was stopped, was not started again: ${messageOf(error)}`);
    }
  }
  await changeState(ports.files, { stoppedServices: [] });
}

/** Windows would take long to reject the start. A name with + is a group of services. */
async function checkExists(dependency: string, { services }: StoppedPorts): Promise<void> {
  if (dependency.startsWith('+') || (await services.query(dependency)) !== undefined) return;
  throw new Error(`it depends on ${dependency}, which does not exist`);
}

function withDependencies(service: InstalledService): InstalledService & { dependencies: readonly string[] } {
  return { ...service, dependencies: service.config.dependencies };
}
