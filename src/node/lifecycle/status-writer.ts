import { notNeeded } from '#base/waiting/abort.ts';
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

/** Users do not read faster, and the steps of a fast host follow each other within milliseconds. */
const shortestPauseMs = 1000;
/** A slow server gets fewer writes: those of a host take at most a tenth of the time. */
const pacePerWrite = 9;
const longestPauseMs = 30_000;
const failurePauseMs = 5000;
const attempts = 5;
const retryLimits = { firstMs: 200, maxMs: 10_000 };
const callMs = 15_000;

/** Writes the status of an instance: one write at a time; changes during a write go into the next one. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  #object: WindowsInstance;
  #isDirty = false;
  #isOver = false;
  /** The requested writes make way for one that a caller waits for, or for the end. */
  #isLeaving = false;
  #isGone = false;
  /** When the next requested write may start. */
  #nextMs = -Infinity;
  #working: Promise<void> | undefined;
  #wait: AbortController | undefined;

  constructor(object: WindowsInstance, options: StatusWriterOptions) {
    this.#object = object;
    this.#options = options;
  }

  /** Requests a write as soon as the pause since the last one is over. A failed write is repeated. */
  request(): void {
    if (this.#isOver || this.#isGone) return;
    this.#isDirty = true;
    this.#start();
  }

  /** Writes now; rejects when the server refuses. A deleted object is no error. */
  async write(): Promise<void> {
    await this.#idle();
    const written = this.#writeNow();
    this.#run(written);
    await written;
  }

  /** Stops writing. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#idle();
  }

  /** Waits for the running write; what is wanted by then is not written. */
  async #idle(): Promise<void> {
    this.#isLeaving = true;
    this.#wait?.abort(notNeeded);
    while (this.#working !== undefined) await this.#working;
    this.#isLeaving = false;
    this.#isDirty = false;
  }

  get #hasWork(): boolean {
    return this.#isDirty && !this.#isLeaving && !this.#isOver && !this.#isGone;
  }

  #start(): void {
    if (this.#working === undefined) this.#run(this.#work());
  }

  #run(work: Promise<void>): void {
    this.#working = this.#finish(work);
  }

  async #finish(work: Promise<void>): Promise<void> {
    await work.catch(() => undefined);
    this.#working = undefined;
    if (this.#hasWork) this.#start();
  }

  async #work(): Promise<void> {
    const { clock, log } = this.#options;
    while (this.#hasWork) {
      const pauseMs = this.#nextMs - clock.monotonicMs();
      if (pauseMs > 0) await this.#pause(pauseMs);
      if (!this.#hasWork) return;
      this.#isDirty = false;
      try {
        await this.#patch();
      } catch (error) {
        log.warn('Status update failed; retrying', { error });
        this.#isDirty = true;
        this.#setPause(failurePauseMs);
      }
    }
  }

  async #writeNow(): Promise<void> {
    for (let attempt = 1; !this.#isGone; attempt += 1) {
      try {
        return await this.#patch();
      } catch (error) {
        if (attempt >= attempts) throw error;
        await this.#options.clock.sleep(backoffMs(retryLimits, attempt));
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    this.#wait = new AbortController();
    await this.#options.clock.sleep(ms, this.#wait.signal).catch(() => undefined);
    this.#wait = undefined;
  }

  #setPause(ms: number): void {
    const nextMs = this.#options.clock.monotonicMs() + Math.min(Math.max(ms, shortestPauseMs), longestPauseMs);
    this.#nextMs = Math.max(this.#nextMs, nextMs);
  }

  async #patch(): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    try {
      await this.#send();
    } finally {
      this.#setPause(pacePerWrite * (clock.monotonicMs() - startMs));
    }
  }

  async #send(): Promise<void> {
    const { client } = this.#options;
    for (let left = attempts; ; left -= 1) {
      try {
        const before = this.#object;
        const after = { ...before, status: this.#options.change()(before.status ?? {}) };
        this.#object = await patchObject(
          client,
          windowsInstances,
          { before, after },
          {
            timeoutMs: callMs,
            answer: 'metadata',
          },
        );
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
