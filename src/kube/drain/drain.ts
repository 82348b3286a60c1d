import { type Clock, systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import type { Client } from '../client.ts';
import type { Key } from '../resource.ts';
import type { PolicyVersion } from './budgets.ts';
import { DrainRun } from './drain-run.ts';
import { blockedRemedy, describePods } from './drain-text.ts';
import { findPolicyVersion } from './eviction.ts';
import type { PodClass } from './pod-class.ts';

export interface DrainerOptions {
  client: Pick<Client, 'list' | 'create' | 'raw'>;
  /** For one drain. */
  timeoutMs?: number;
  /** Pause before a rejected eviction is retried. */
  retryMs?: number;
  /** Interval of listing the pods. */
  pollMs?: number;
  /** Number of concurrent evictions. */
  parallel?: number;
  clock?: Clock;
  log?: Log;
}

/** A pod that was not evicted, and why. */
export interface BlockedPod {
  pod: Key;
  is: PodClass;
  /** Names of the PodDisruptionBudgets that protect it. */
  budgets: string[];
  /** False for a pod that is terminating, or was not evicted yet. */
  isRejected: boolean;
  message: string;
}

export interface DrainResult {
  /** Evicted pods. */
  gone: Key[];
  /** Pods that a drain does not evict. */
  left: { pod: Key; is: PodClass }[];
  /** Empty when the Node is drained. */
  blocked: BlockedPod[];
}

export interface DrainOptions {
  signal?: AbortSignal;
  /** Instead of that of the Drainer. */
  timeoutMs?: number;
  /** Called with the pods that are still to go, whenever they or their states change. */
  onProgress?: (left: readonly BlockedPod[]) => void;
}

/** Evicts the pods of Nodes. */
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

  /** Ends when all pods that can be evicted are gone, or the time is over; the result lists the others. */
  async drain(node: string, { signal, timeoutMs, onProgress }: DrainOptions = {}): Promise<DrainResult> {
    const { client, log } = this.#options;
    this.#version ??= await findPolicyVersion(client, signal && { signal });
    const options = {
      ...this.#options,
      ...(timeoutMs !== undefined && { timeoutMs }),
      log: log.with({ Node: node }),
      version: this.#version,
    };
    return await new DrainRun(node, options, { signal, onProgress }).run();
  }
}

export function drainError(node: string, { blocked }: DrainResult, furtherRemedy = ''): AppError {
  const remedy = furtherRemedy === '' ? blockedRemedy(blocked) : `${blockedRemedy(blocked)} ${furtherRemedy}`;
  return new AppError('DRAIN_BLOCKED', `Node ${node}: pods not evicted: ${describePods(blocked)}`, { remedy });
}
