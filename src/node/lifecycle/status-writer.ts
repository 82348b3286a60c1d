import { backoffMs } from '#base/waiting/backoff.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { isConflict, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { patchObject } from '#kube/patch/patch-helper.ts';
import type { StatusChange } from './instance-status.ts';

export interface StatusWriterOptions {
  client: Pick<Client, 'find' | 'patch'>;
  clock: Clock;
  log: Log;
  /** The status to write; asked for at every write. */
  change: () => StatusChange;
}

/** Many hosts write at once, and users do not read faster. */
const shortestPauseMs = 1000;
const attempts = 5;
const retryLimits = { firstMs: 200, maxMs: 10_000 };
const callMs = 15_000;

/** Writes the status of an instance: one write at a time; changes during a write go into the next one. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  #object: WindowsInstance;
  #isDirty = false;
  #isUrgent = false;
  #isOver = false;
  #isGone = false;
  #lastMs = -Infinity;
  #working: Promise<void> | undefined;
  #wait: AbortController | undefined;

  constructor(object: WindowsInstance, options: StatusWriterOptions) {
    this.#object = object;
    this.#options = options;
  }

  /** Requests a write: at once, or within a second. A failed write is repaired by the next one. */
  request(urgency: 'now' | 'soon'): void {
    if (this.#isOver || this.#isGone) return;
    this.#isDirty = true;
    if (urgency === 'now') {
      this.#isUrgent = true;
      this.#wait?.abort();
    }
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  /** Writes now; rejects when the server refuses. A deleted object is no error. */
  async write(): Promise<void> {
    await this.#idle();
    this.#isDirty = false;
    for (let attempt = 1; !this.#isGone; attempt += 1) {
      try {
        return await this.#patch();
      } catch (error) {
        if (attempt >= attempts) throw error;
        await this.#options.clock.sleep(backoffMs(retryLimits, attempt));
      }
    }
  }

  /** Stops writing. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#isDirty = false;
    await this.#idle();
  }

  /** Waits for the running write, without the pause before it. */
  async #idle(): Promise<void> {
    this.#isUrgent = true;
    this.#wait?.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { clock, log } = this.#options;
    while (this.#isDirty && !this.#isOver && !this.#isGone) {
      const pauseMs = shortestPauseMs - (clock.monotonicMs() - this.#lastMs);
      if (!this.#isUrgent && pauseMs > 0) await this.#pause(pauseMs);
      if (this.#isOver) return;
      [this.#isDirty, this.#isUrgent] = [false, false];
      try {
        await this.#patch();
      } catch (error) {
        log.warn('Status update failed; retrying', { error });
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    this.#wait = new AbortController();
    await this.#options.clock.sleep(ms, this.#wait.signal).catch(() => undefined);
    this.#wait = undefined;
  }

  async #patch(): Promise<void> {
    const { client, clock } = this.#options;
    this.#lastMs = clock.monotonicMs();
    for (let left = attempts; ; left -= 1) {
      try {
        const before = this.#object;
        const after = { ...before, status: this.#options.change()(before.status ?? {}) };
        this.#object = await patchObject(client, windowsInstances, { before, after }, { timeoutMs: callMs });
        return;
      } catch (error) {
        if (isNotFound(error)) this.#isGone = true;
        else if (isConflict(error) && left > 1) await this.#refresh();
        else throw error;
        if (this.#isGone) return;
      }
    }
  }

  /** Another writer was first; the change is applied to what it wrote. */
  async #refresh(): Promise<void> {
    const { name = '', namespace = '', uid } = this.#object.metadata;
    const found = await this.#options.client.find(windowsInstances, name, { namespace, timeoutMs: callMs });
    // A new object of the same name is another instance.
    if (found === undefined || found.metadata.uid !== uid) this.#isGone = true;
    else this.#object = found;
  }
}
