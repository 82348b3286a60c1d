import { backoffMs } from '#base/backoff.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { type InstanceObject, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { isConflict, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { patchObject } from '#kube/patch/patch-helper.ts';
import type { StatusChange } from './instance-status.ts';

export interface StatusWriterOptions {
  client: Pick<Client, 'find' | 'patch'>;
  clock: Clock;
  log: Log;
  /** What is to be said now; asked for at every write. */
  change: () => StatusChange;
}

/** Nobody can read faster, and many hosts write at once. */
const shortestPauseMs = 1000;
const attempts = 5;
const retryLimits = { firstMs: 200, maxMs: 10_000 };
const callMs = 15_000;

/** Keeps the status of an instance in step with what happens: one write at a time, what is said meanwhile goes into the next. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  #object: InstanceObject;
  #isDirty = false;
  #isUrgent = false;
  #isOver = false;
  #isGone = false;
  #lastMs = -Infinity;
  #working: Promise<void> | undefined;
  #wait: AbortController | undefined;

  constructor(object: InstanceObject, options: StatusWriterOptions) {
    this.#object = object;
    this.#options = options;
  }

  /** Has the news written: at once, or within a second. Nobody waits for it, and a failure is made up for by the next. */
  tell(urgency: 'now' | 'soon'): void {
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

  /** Writes what is to be said now; rejects when the server does not take it. An object that is gone is fine. */
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

  /** Nothing more is written after this. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#isDirty = false;
    await this.#idle();
  }

  /** Without the pause that it would make otherwise. */
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
        log.warn('Status could not be written, it goes with the next', { error });
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
        else if (isConflict(error) && left > 1) await this.#readAgain();
        else throw error;
        if (this.#isGone) return;
      }
    }
  }

  /** Somebody else has written; what we say goes on top of that. */
  async #readAgain(): Promise<void> {
    const { name = '', namespace = '', uid } = this.#object.metadata;
    const found = await this.#options.client.find(windowsInstances, name, { namespace, timeoutMs: callMs });
    // One of the same name that was made anew is another one.
    if (found === undefined || found.metadata.uid !== uid) this.#isGone = true;
    else this.#object = found;
  }
}
