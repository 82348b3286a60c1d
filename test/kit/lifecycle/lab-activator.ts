import { waitForSwap } from '../../../src/agent/activation/gate.ts';
import { runActivation } from '../../../src/agent/activation/run.ts';
import { readRecord } from '../../../src/agent/stage/record.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { activationService, agentName } from '../../../src/contract/names.ts';
import type { ModelHost } from '../model-host.ts';

/** How long a swap takes at least. */
const swapMs = 10;

/** Carries out the temporary service that swaps files, and what the agent does meanwhile. */
export class LabActivator {
  /** Versions that were in place after a swap, in order. */
  readonly swaps: string[] = [];
  /** Whether the agent of a version reaches the API server. */
  reports: (version: string) => boolean = () => true;
  /** Whether the host is kept from working on a swap. */
  isHeld: () => boolean = () => false;
  readonly #model: ModelHost;
  readonly #onChange: () => void;
  #isWorking = false;

  constructor(model: ModelHost, onChange: () => void) {
    this.#model = model;
    this.#onChange = onChange;
  }

  /** Of the files in place; '' when unknown. */
  async version(): Promise<string> {
    return (await readRecord(this.#model.files).catch(() => undefined))?.version ?? '';
  }

  /** Lets the service work if it runs. */
  look(): void {
    if (!this.#isWorking) void this.#work().catch(() => undefined);
  }

  async #work(): Promise<void> {
    const { services } = this.#model;
    this.#isWorking = true;
    try {
      while ((await services.query(activationService))?.state === 'running') {
        do await new Promise(resolve => setTimeout(resolve, swapMs));
        while (this.isHeld());
        const waiting = { ...this.#model.waiting(), clock: this.#clock() };
        await runActivation(this.#model, waiting, silentLog);
        await services.stop(activationService).catch(() => undefined);
        this.swaps.push(await this.version());
      }
    } finally {
      this.#isWorking = false;
      this.#onChange();
    }
  }

  /** The agent has its turn whenever the service waits. */
  #clock(): Clock {
    const { clock } = this.#model;
    return {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: async (ms, signal) => {
        await this.#agent();
        await clock.sleep(ms, signal);
      },
    };
  }

  async #agent(): Promise<void> {
    const runs = (await this.#model.services.query(agentName))?.state === 'running';
    if (runs && this.reports(await this.version())) await waitForSwap(this.#model, this.#model.clock, silentLog);
  }
}
