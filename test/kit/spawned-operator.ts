import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { ProcessOrder } from './operator-process.ts';
import { compileCache } from './run-wmco.ts';
import { administratorOf, defaultRelease } from './sandbox-operator.ts';
import { checkSandbox } from './secret-check.ts';
import type { KillOrder } from './step-lines.ts';

/** An operator in another process. */
export interface SpawnedOperator {
  /** Its log so far. */
  readonly text: string;
  /** Since when it leads; undefined while it does not. */
  readonly leadsSinceMs: number | undefined;
  /** Resolves with the signal or the exit code that ended it. */
  readonly ended: Promise<string | number>;
  /** Orders it to kill itself at that moment. */
  killAt(order: KillOrder): void;
  /** SIGKILL, unless it has ended already. */
  kill(): Promise<void>;
}

/** Starts operators for a sandbox, each in its own process, and ends them all; the end fails when a secret can be read. */
export interface OperatorProcesses extends AsyncDisposable {
  start(): SpawnedOperator;
  /** Restarts the operator whenever it ends, as a Deployment does. */
  keepRunning(): void;
  /** All that were ever started, the last one last. */
  readonly all: readonly SpawnedOperator[];
}

const program = fileURLToPath(import.meta.resolve('./operator-process.ts'));

export type ProcessOptions = Partial<Pick<ProcessOrder, 'release' | 'payloadBytes' | 'platform' | 'settings'>>;

export function operatorProcesses(sandbox: Sandbox, options: ProcessOptions = {}): OperatorProcesses {
  const folder = mkdtempSync(join(tmpdir(), 'wmco-operators-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const defaults = { release: defaultRelease, payloadBytes: 1_000_000, platform: 'None', settings: {} };
  const order: ProcessOrder = { ...defaults, ...options, kubeconfig, namespace: sandbox.namespace };
  const all: SpawnedOperator[] = [];
  const over = new AbortController();
  const start = () => {
    const started = startProcess(order);
    all.push(started);
    return started;
  };
  const keepRunning = async () => {
    while (!over.signal.aborted) await start().ended;
  };
  return {
    all,
    start,
    keepRunning: () => void keepRunning(),
    async [Symbol.asyncDispose]() {
      over.abort();
      await Promise.all(all.map(each => each.kill()));
      rmSync(folder, { recursive: true });
      const output = all.map(({ text }, index) => ({ where: `log of operator ${index + 1}`, text }));
      await using administrator = administratorOf(sandbox);
      await checkSandbox(sandbox, administrator.client, output);
    },
  };
}

function startProcess(order: ProcessOrder): SpawnedOperator {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, ...compileCache },
  });
  const pieces: string[] = [];
  let leadsSinceMs: number | undefined;
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    pieces.push(piece);
    if (piece.includes('"Became the leader"')) leadsSinceMs = performance.now();
  });
  // It may die while a message is sent to it.
  child.on('error', () => undefined);
  const ended = once(child, 'close').then(([code, signal]: (string | number | null)[]) => signal ?? code ?? -1);
  return {
    get text() {
      return pieces.join('');
    },
    get leadsSinceMs() {
      return leadsSinceMs;
    },
    ended,
    killAt: moment => void child.send(moment, () => undefined),
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
