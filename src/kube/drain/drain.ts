import { type Clock, systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import type { Client } from '../client.ts';
import { type Key, keyText } from '../resource.ts';
import type { PolicyVersion } from './budgets.ts';
import { DrainRun } from './drain-run.ts';
import { findPolicyVersion } from './eviction.ts';
import type { PodClass } from './pod-class.ts';

export interface DrainerOptions {
  client: Pick<Client, 'list' | 'create' | 'raw'>;
  /** How long one drain may take. */
  timeoutMs?: number;
  /** When a pod that could not be evicted is tried again. */
  retryMs?: number;
  /** How often the pods of the Node are looked at. */
  pollMs?: number;
  /** How many evictions are asked for at once. */
  parallel?: number;
  clock?: Clock;
  log?: Log;
}

/** A pod that is still there, and what is known of the reason. */
export interface BlockedPod {
  pod: Key;
  is: PodClass;
  /** Names of the PodDisruptionBudgets that protect it. */
  budgets: string[];
  message: string;
}

export interface DrainResult {
  /** The pods that had to go and have gone. */
  gone: Key[];
  /** Pods that a drain does not touch. */
  left: { pod: Key; is: PodClass }[];
  /** Empty when the Node is drained. */
  blocked: BlockedPod[];
}

/** Takes the pods off Nodes. Asks the server once how it wants evictions. */
export class Drainer {
  readonly #options: Required<DrainerOptions>;
  #version: PolicyVersion | undefined;

  constructor(options: DrainerOptions) {
    this.#options = {
      timeoutMs: 600_000,
      retryMs: 5000,
      pollMs: 1000,
      parallel: 10,
      clock: systemClock,
      log: silentLog,
      ...options,
    };
  }

  /** Ends when all pods have gone that can go, or the time is over: then the result says what stands in the way. */
  async drain(node: string, signal?: AbortSignal): Promise<DrainResult> {
    const { client, log } = this.#options;
    this.#version ??= await findPolicyVersion(client, signal && { signal });
    const options = { ...this.#options, log: log.with({ Node: node }), version: this.#version };
    return await new DrainRun(node, options, signal).run();
  }
}

/** What a drain that did not succeed says to people. */
export function drainError(node: string, { blocked }: DrainResult): AppError {
  const named = blocked.slice(0, 5).map(({ pod, budgets, message }) => {
    const why = budgets.length === 0 ? message : `PodDisruptionBudget ${budgets.join(', ')}: ${message}`;
    return `${keyText(pod)} (${why})`;
  });
  const more = blocked.length > named.length ? ` and ${blocked.length - named.length} more` : '';
  return new AppError('DRAIN_BLOCKED', `Node ${node}: still there: ${named.join('; ')}${more}`, {
    remedy: 'Give the budgets room or remove these pods.',
  });
}
