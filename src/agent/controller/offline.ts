import type { Waiting } from '#base/waiting/poll.ts';
import type { Log } from '#base/log.ts';
import { readKnownGood } from '../known-good.ts';
import { type AgentPorts, servicesWork } from '../reconcile/reconcile-host.ts';
import { reconcileServices } from '../services/reconcile.ts';
import { readState } from '../state.ts';

/**
 * Brings up the services the host last ran while the cluster is out of reach, as after a reboot of everything or when
 * certificate and token are over. Only services: what else is wanted by now, nobody can say.
 */
export async function startKnownGood(
  ports: Omit<AgentPorts, 'cluster'>,
  waiting: Waiting,
  log: Log,
  onStart: () => void,
): Promise<'nothing known' | 'reboot awaited' | 'started' | 'failed'> {
  const known = await readKnownGood(ports.files);
  if (known === undefined) return 'nothing known';
  const { reboot } = await readState(ports.files);
  if (reboot !== undefined && reboot.bootId === (await ports.host.bootId())) return 'reboot awaited';
  log.warn('Starting the services of the last version known, for the cluster is out of reach', {
    version: known.version,
  });
  onStart();
  try {
    await reconcileServices(known.manifest.services, known.node, servicesWork(ports, known.version, waiting), waiting);
    return 'started';
  } catch (error) {
    waiting.signal.throwIfAborted();
    log.error('Not all services of the last version known could be started', { error });
    return 'failed';
  }
}
