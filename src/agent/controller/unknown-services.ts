import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { Waiting } from '#base/waiting/poll.ts';
import type { EventText } from '#contract/events.ts';
import type { AgentPorts } from '../reconcile/reconcile-host.ts';
import { failureEvent } from './events.ts';
import { startKnownGood } from './offline.ts';

/** Codes of errors for a services ConfigMap that is missing or cannot be read. */
const codes: ReadonlySet<ErrorCode> = new Set(['OBJECT_MISSING', 'SYNC_TIMEOUT']);

/** Keeps the services of the record running while the desired ones are unknown, as after the operator was uninstalled. */
export class UnknownServices {
  readonly #ports: AgentPorts;
  readonly #record: (event: EventText) => void;
  /** As reported last; undefined while the services are known. */
  #cause: string | undefined;

  constructor(ports: AgentPorts, record: (event: EventText) => void) {
    this.#ports = ports;
    this.#record = record;
  }

  /** The next cause is reported again. */
  forget(): void {
    this.#cause = undefined;
  }

  /** False for another error, and without a record. Reports each cause once, because the operator may stay away. */
  async keepRunning(error: unknown, log: Log, waiting: Waiting): Promise<boolean> {
    if (waiting.signal.aborted || !(error instanceof AppError) || !codes.has(error.code)) return false;
    const outcome = await startKnownGood(this.#ports, waiting, log, () => undefined);
    if (outcome === 'no record' || outcome === 'other version') return false;
    if (this.#cause === error.message) return true;
    this.#cause = error.message;
    log.warn('Desired services are unknown; keeping the last known version running', { error });
    const event = failureEvent(error);
    if (event !== undefined) this.#record(event);
    return true;
  }
}
