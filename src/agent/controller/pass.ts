import type { Waiting } from '#base/waiting/poll.ts';
import { servicePatience } from '../services/ensure.ts';
import type { Clock } from '#base/clock.ts';
import { isAppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { EventText } from '#contract/events.ts';
import { after, type Outcome, type Pass, type Reconcile } from '#kube/controller/reconcile.ts';
import { waitForSwap } from '../activation/gate.ts';
import { type KnownGood, readKnownGood, saveKnownGood } from '../known-good.ts';
import type { Files } from '../ports.ts';
import { type AgentPorts, type PassOptions, type PassOutcome, reconcileHost } from '../reconcile/reconcile-host.ts';
import { createHashCache } from '../stage/hash-cache.ts';
import {
  failureEvent,
  outcomeEvent,
  recoveredEvent,
  repairEvent,
  securedEvent,
  settingsEvent,
  unplannedRebootEvent,
  waitingEvent,
} from './events.ts';
import { recordedNotices } from './service-notices.ts';
import { UnknownServices } from './unknown-services.ts';

export interface PassDeps {
  ports: AgentPorts;
  caBundle: string;
  clock: Clock;
  record: (event: EventText) => void;
}

/** Crashed services and changed files cause no event, so the host is checked periodically. */
export const periodMs = 120_000;

/** Services that wait longer for the network have failed. */
export const networkLimitMs = 5 * 60_000;

/** A new pod subnet starts a pass at once, but a network on the host does not. */
const waitMs = 5000;

/** The swap waits for the report of the agent, and the agent for the end of the swap. */
const swapMs = 500;

/** Reads the watched Node, without requests. */
const readyPatience = { everyMs: 200, limitMs: 60_000 };

/** A pass of the controller, with its log lines and events. */
export function createReconcile({ ports, caBundle, clock, record }: PassDeps): Reconcile {
  const hashOf = createHashCache(ports.files, clock);
  const unknownServices = new UnknownServices(ports, record);

  /** When services began to wait for the network; undefined while they do not. */
  let waitingSinceMs: number | undefined;

  function isOverdue(): boolean {
    waitingSinceMs ??= clock.monotonicMs();
    return clock.monotonicMs() - waitingSinceMs >= networkLimitMs;
  }

  function optionsFor(log: Log, isJoining: boolean): PassOptions {
    return {
      caBundle,
      readyPatience,
      hashOf,
      onRepaired: paths => {
        log.warn('Restored changed files', { paths });
        record(repairEvent(paths));
      },
      onUnplannedReboot: () => {
        log.warn('Host was rebooted, but not by the operator');
        record(unplannedRebootEvent());
      },
      onSecured: events => {
        log.warn('Fixed owner or rights of files', { events });
        record(securedEvent(events));
      },
      onSettings: changes => {
        log.info('Changed settings', { changes });
        record(settingsEvent(changes));
      },
      onRecovered: () => record(recoveredEvent),
      serviceNotices: recordedNotices(log, record, isJoining),
      onWarning: text => log.warn(text),
      onServicesSettled: known => save(known, ports.files, log),
    };
  }

  return async (_key, { log, signal }: Pass): Promise<Outcome> => {
    const waiting: Waiting = { clock, signal, patience: servicePatience };
    try {
      const swap = await waitForSwap(ports, clock, log);
      if (swap !== undefined) return after(swapMs, swap);
      const isJoining = (await readKnownGood(ports.files)) === undefined;
      const outcome = await reconcileHost(ports, optionsFor(log, isJoining), waiting);
      waitingSinceMs = undefined;
      unknownServices.forget();
      log.info(...logLine(outcome));
      const event = outcomeEvent(outcome);
      if (event !== undefined) record(event);
      return after(periodMs, 'the host is checked every two minutes');
    } catch (error) {
      const isWaiting = isAppError(error, 'SERVICES_WAITING');
      if (!isWaiting) waitingSinceMs = undefined;
      if (isWaiting && !signal.aborted && !isOverdue()) {
        log.info('Waiting', { for: error.message });
        record(waitingEvent(error.message));
        return after(waitMs, error.message);
      }
      if (await unknownServices.keepRunning(error, log, waiting))
        return after(periodMs, 'the services ConfigMap is missing');
      const event = signal.aborted ? undefined : failureEvent(error);
      if (event !== undefined) record(event);
      throw error;
    }
  };
}

async function save(known: KnownGood, files: Files, log: Log): Promise<void> {
  try {
    await saveKnownGood(known, files);
  } catch (error) {
    log.warn('Saving the last known version failed', { error });
  }
}

function logLine(outcome: PassOutcome): [message: string, fields: Record<string, unknown>] {
  switch (outcome.did) {
    case 'skip':
      return ['Skipped pass', { reason: outcome.why }];
    case 'wait':
      return ['Waiting', { for: outcome.for }];
    case 'configure':
      return ['Host is configured', { version: outcome.version }];
    default:
      return outcome satisfies never;
  }
}
