import type { Waiting } from '#base/waiting/poll.ts';
import type { Log } from '#base/log.ts';
import { readKnownGood } from '../known-good.ts';
import { type AgentPorts, servicesWork } from '../reconcile/reconcile-host.ts';
import { reconcileServices } from '../services/reconcile.ts';
import { readState } from '../state.ts';
import { loggedNotices } from './service-notices.ts';

/**
 * Starts the services of the last known version while the API server cannot be reached, as after a power cut or when
 * certificate and token have expired. Only services, because the current settings are unknown.
 */
export async function startKnownGood(
  ports: Omit<AgentPorts, 'cluster'>,
  waiting: Waiting,
  log: Log,
  onStart: () => void,
): Promise<'no record' | 'waiting for reboot' | 'started' | 'failed'> {
  const known = await readKnownGood(ports.files);
  if (known === undefined) return 'no record';
  const { reboot } = await readState(ports.files);
  if (reboot !== undefined && reboot.bootId === (await ports.host.bootId())) return 'waiting for reboot';
  log.warn('API server cannot be reached; starting services of the last known version', { version: known.version });
  onStart();
  const work = servicesWork(ports, known.version, loggedNotices(log));
  try {
    await reconcileServices(known.manifest.services, known.node, work, waiting);
    return 'started';
  } catch (error) {
    waiting.signal.throwIfAborted();
    log.error('Starting services of the last known version failed', { error });
    return 'failed';
  }
}
