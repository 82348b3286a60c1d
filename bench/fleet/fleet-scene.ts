import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Child } from '../join/child.ts';
import type { OperatorFigures, OperatorRequest } from '../join/operator-process.ts';
import { OperatorProgram } from '../join/operator-program.ts';
import type { ServerFigures, ServerOptions, ServerReady, ServerTask } from './server-process.ts';

const serverProgram = fileURLToPath(import.meta.resolve('./server-process.ts'));

/** Cost of one phase. */
export interface PhaseFigures {
  seconds: number;
  cpuSeconds: number;
  /** Passes of all controllers. */
  passes: number;
  sshConnections: number;
  /** Longest stall of the event loop by CPU time of the operator. */
  stallMs: number;
  /** Requests of the operator by verb and resource, without those for its Lease. */
  requests: Record<string, number>;
  residentBytes: number;
}

const [lookMs, quietLooks, limitMs] = [200, 5, 240_000];
/** The Lease, timers and our questions need less than this share of a core. */
const idleShare = 0.1;
const atStart: Pick<OperatorFigures, 'cpuSeconds' | 'passes' | 'sshConnections'> = {
  cpuSeconds: 0,
  passes: 0,
  sshConnections: 0,
};

/** A cluster of configured Nodes in one process, the operator in another, and this one that measures. */
export class FleetScene implements AsyncDisposable {
  readonly ready: ServerReady;
  readonly #folder: string;
  readonly #server: Child;
  readonly #program: OperatorProgram;
  #operator: Child | undefined;

  private constructor(parts: { ready: ServerReady; folder: string; server: Child; program: OperatorProgram }) {
    this.ready = parts.ready;
    this.#folder = parts.folder;
    this.#server = parts.server;
    this.#program = parts.program;
  }

  static async open(options: ServerOptions): Promise<FleetScene> {
    const folder = mkdtempSync(join(tmpdir(), 'wmco-bench-fleet-'));
    const server = new Child(serverProgram, options, join(folder, 'server.log'));
    try {
      const ready = await server.hear<ServerReady>();
      const { kubeconfig: network, operatorKubeconfig: operator, namespace } = ready;
      const program = await OperatorProgram.build(folder, { operator, network }, { payloadBytes: 100_000, namespace });
      return new FleetScene({ ready, folder, server, program });
    } catch (error) {
      await server.kill();
      rmSync(folder, { recursive: true });
      throw error;
    }
  }

  /** Measures from the start of the process until it has no work left. */
  async measureStart(): Promise<PhaseFigures> {
    await this.ask({ do: 'count' });
    const startMs = performance.now();
    this.#operator = this.#program.start();
    return this.#figuresSince(atStart, startMs);
  }

  /** Measures a replacement of the operator, without the wait until the Lease of the killed one expires. */
  async measureRestart(): Promise<PhaseFigures> {
    await this.#operator?.kill();
    await this.ask({ do: 'free lease' });
    return this.measureStart();
  }

  /** Measures the act and what the operator does because of it. */
  async measure(act: () => Promise<unknown>): Promise<PhaseFigures> {
    await this.ask({ do: 'count' });
    const before = await this.operatorFigures('phase');
    const startMs = performance.now();
    await act();
    return this.#figuresSince(before, startMs);
  }

  ask(task: ServerTask): Promise<ServerFigures> {
    return this.#server.hear(task);
  }

  operatorFigures(request: OperatorRequest = 'figures'): Promise<OperatorFigures> {
    if (this.#operator === undefined) throw new Error('no operator is running');
    return this.#operator.hear(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#operator?.kill('SIGTERM');
    await this.#server.kill('SIGTERM');
    rmSync(this.#folder, { recursive: true });
  }

  async #figuresSince(before: typeof atStart, startMs: number): Promise<PhaseFigures> {
    const { figures, atMs } = await this.#settle();
    const { requests } = await this.ask({ do: 'count' });
    return {
      seconds: (atMs - startMs) / 1000,
      cpuSeconds: figures.cpuSeconds - before.cpuSeconds,
      passes: figures.passes - before.passes,
      sshConnections: figures.sshConnections - before.sshConnections,
      stallMs: figures.busiestStallMs,
      requests,
      residentBytes: figures.residentBytes,
    };
  }

  /** Waits until the queues are empty and the operator stays idle; returns the begin of that time. */
  async #settle(): Promise<{ figures: OperatorFigures; atMs: number }> {
    const endMs = performance.now() + limitMs;
    let quiet = 0;
    let last = { figures: await this.operatorFigures(), atMs: performance.now() };
    let since = last;
    while (quiet < quietLooks) {
      await delay(lookMs);
      const now = { figures: await this.operatorFigures(), atMs: performance.now() };
      const cpuShare = ((now.figures.cpuSeconds - last.figures.cpuSeconds) * 1000) / (now.atMs - last.atMs);
      const isQuiet =
        now.figures.openWork === 0 &&
        now.figures.passes > 0 &&
        now.figures.passes === last.figures.passes &&
        cpuShare < idleShare;
      if (!isQuiet) since = now;
      quiet = isQuiet ? quiet + 1 : 0;
      last = now;
      if (now.atMs > endMs) throw new Error(`the operator has not settled: ${JSON.stringify(now.figures)}`);
    }
    return since;
  }
}
