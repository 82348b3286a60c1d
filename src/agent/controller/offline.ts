import type { Waiting } from '#base/waiting/poll.ts';
import type { Log } from '#base/log.ts';
import { continueSwap, isSwapping } from '../activation/gate.ts';
import { readKnownGood } from '../known-good.ts';
import { type AgentPorts, servicesWork } from '../reconcile/reconcile-host.ts';
import { reconcileServices } from '../services/reconcile.ts';
import { readRecord } from '../stage/record.ts';
import { loggedNotices } from './service-notices.ts';

/**
 * Keeps the services of the last known version running while the API server cannot be reached, as after a power cut or
 * when certificate and token have expired, and while the operator is not installed. Only services, because the current
 * settings are unknown: services keep the variables that they have.
 */
export async function startKnownGood(
  ports: Omit<AgentPorts, 'cluster'>,
  waiting: Waiting,
  log: Log,
  onStart: (version: string) => void,
): Promise<'no record' | 'other version' | 'waiting for swap' | 'started' | 'failed'> {
  if (await isSwapping(ports)) {
    await continueSwap(ports, log);
    return 'waiting for swap';
  }
  const known = await readKnownGood(ports.files);
  if (known === undefined) return 'no record';
  const { version } = await readRecord(ports.files);
  // Its services would run with files of another version.
  if (version !== '' && version !== known.version) return 'other version';
  onStart(known.version);
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
