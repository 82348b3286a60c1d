import type { Waiting } from '#base/waiting/poll.ts';
import { servicePatience } from '../services/service-patience.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { EventText } from '#contract/events.ts';
import { after, type Outcome, type Pass, type Reconcile } from '#kube/controller/reconcile.ts';
import { type KnownGood, saveKnownGood } from '../known-good.ts';
import { type AgentPorts, type PassOptions, type PassOutcome, reconcileOnce } from '../reconcile/reconcile-host.ts';
import { createHashCache } from '../stage/hash-cache.ts';
import { failureEvent, outcomeEvent, repairEvent, securedEvent } from './events.ts';

export interface PassDeps {
  ports: AgentPorts;
  caBundle: string;
  clock: Clock;
  record: (event: EventText) => void;
}

/** Nobody tells of a service that crashed or a file that was changed, so the host is looked at again and again. */
export const periodMs = 120_000;

/** No request is made for it: the watch on the Node tells. */
const readyPatience = { everyMs: 200, limitMs: 60_000 };

/** Passes of the controller, with what is to be told about them. */
export function createReconcile({ ports, caBundle, clock, record }: PassDeps): Reconcile {
  const hashOf = createHashCache(ports.files, clock);

  function optionsFor(log: Log): PassOptions {
    return {
      caBundle,
      readyPatience,
      hashOf,
      onRepaired: paths => {
        log.warn('Files were not as they should be and have been put right', { paths });
        record(repairEvent(paths));
      },
      onSecured: events => {
        log.warn('Owner or rights of files were wrong and have been set', { events });
        record(securedEvent(events));
      },
      onWarning: text => log.warn(text),
      onServicesSettled: known => keep(known, log),
    };
  }

  async function keep(known: KnownGood, log: Log): Promise<void> {
    try {
      await saveKnownGood(known, ports.files);
    } catch (error) {
      log.warn('What the host runs could not be written down', { error });
    }
  }

  return async (_key, { log, signal }: Pass): Promise<Outcome> => {
    const waiting: Waiting = { clock, signal, patience: servicePatience };
    try {
      const outcome = await reconcileOnce(ports, optionsFor(log), waiting);
      log.info(...told(outcome));
      const event = outcomeEvent(outcome);
      if (event !== undefined) record(event);
      return after(periodMs, 'the host is looked at every two minutes');
    } catch (error) {
      const event = signal.aborted ? undefined : failureEvent(error);
      if (event !== undefined) record(event);
      throw error;
    }
  };
}

function told(outcome: PassOutcome): [message: string, fields: Record<string, unknown>] {
  switch (outcome.did) {
    case 'nothing':
      return ['Nothing to do', { why: outcome.why }];
    case 'wait':
      return ['Waiting', { for: outcome.for }];
    case 'ask for a reboot':
      return ['Asked for a reboot', { because: outcome.because }];
    case 'configure':
      return ['The host is as wanted', { version: outcome.version }];
    default:
      return outcome satisfies never;
  }
}
