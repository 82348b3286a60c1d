import { AppError, isAppError } from '#base/errors.ts';
import { dir } from '#contract/paths.ts';
import { serviceKey } from './order.ts';

/** A service that was not started because another one failed. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError';
}

/** Failures by service, collected so that one service does not stop the others. */
export class Failures {
  readonly #errors = new Map<string, { name: string; error: Error }>();

  /** Keeps the first failure of a service; later ones are its consequences. */
  add(name: string, error: unknown): void {
    if (this.has(name)) return;
    this.#errors.set(serviceKey(name), { name, error: error instanceof Error ? error : new Error(String(error)) });
  }

  has(name: string): boolean {
    return this.#errors.has(serviceKey(name));
  }

  get isEmpty(): boolean {
    return this.#errors.size === 0;
  }

  /** Services that only wait for the network are reported as such: it is set up while the host joins. */
  throwIfAny(): void {
    const all = [...this.#errors.values()];
    if (all.length === 0) return;
    const causes = all.filter(({ error }) => !(error instanceof BlockedError));
    if (causes.length > 0 && causes.every(({ error }) => isAppError(error, 'HOST_NETWORK_MISSING'))) {
      throw new AppError(
        'SERVICES_WAITING',
        causes.map(({ name, error }) => `${name} is ${error.message}`).join('; '),
        {
          remedy: remedyOf(causes[0]?.error),
        },
      );
    }
    const list = all.map(({ name, error }) => `${name} (${error.message})`).join(', ');
    throw new AppError('SERVICES_INCOMPLETE', `${all.length} service(s) failed: ${list}`, {
      remedy: remedyOf((causes.find(({ error }) => !isAppError(error, 'HOST_NETWORK_MISSING')) ?? causes[0])?.error),
      cause: new AggregateError(all.map(({ error }) => error)),
    });
  }
}

function remedyOf(error: Error | undefined): string {
  return error instanceof AppError
    ? error.remedy
    : `Read the logs in ${dir.agentLog} on the host; the agent retries within two minutes.`;
}
