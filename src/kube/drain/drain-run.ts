import { ApiError } from '../api-error.ts';
import { type Key, keyOf, keyText } from '../resource.ts';
import {
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  podDisruptionBudgetsV1beta1,
  pods,
} from '../resources.ts';
import { budgetsOf, type PolicyVersion } from './budgets.ts';
import type { BlockedPod, DrainerOptions, DrainOptions, DrainResult } from './drain.ts';
import { evict } from './eviction.ts';
import { classify, type PodClass } from './pod-class.ts';

/** A pod to evict. */
interface Target {
  pod: Pod;
  is: PodClass;
  state: 'new' | 'going' | 'later' | 'refused';
  askedMs: number;
  message: string;
}

const callMs = 15_000;
/** For the last list, when the time is over. */
const shortestCallMs = 2000;

type RunOptions = Required<DrainerOptions> & { version: PolicyVersion };

interface RunListeners {
  signal: AbortSignal | undefined;
  onProgress: DrainOptions['onProgress'] | undefined;
}

/** One drain of one Node: lists pods and evicts them until all are gone. */
export class DrainRun {
  readonly #node: string;
  readonly #options: RunOptions;
  readonly #signal: RunListeners['signal'];
  readonly #onProgress: RunListeners['onProgress'];
  readonly #targets = new Map<string, Target>();
  readonly #gone = new Map<string, Key>();
  #left: DrainResult['left'] = [];
  #endMs = 0;
  #hasListed = false;
  #reported = '';

  constructor(node: string, options: RunOptions, { signal, onProgress }: RunListeners) {
    this.#node = node;
    this.#options = options;
    this.#signal = signal;
    this.#onProgress = onProgress;
  }

  async run(): Promise<DrainResult> {
    const { clock, timeoutMs, pollMs } = this.#options;
    this.#endMs = clock.monotonicMs() + timeoutMs;
    for (let isFresh = true; ; isFresh = false) {
      const hasListed = await this.#look(isFresh);
      // The cache of the server may be stale, so the final state is read past it.
      const isOver = hasListed && this.#isFinished() && (isFresh || ((await this.#look(true)) && this.#isFinished()));
      if (isOver || this.#leftMs() <= 0) return await this.#result();
      if (hasListed) await this.#evictDue();
      if (hasListed) await this.#report();
      await clock.sleep(Math.max(0, Math.min(pollMs, this.#leftMs())), this.#signal);
    }
  }

  #leftMs(): number {
    return this.#endMs - this.#options.clock.monotonicMs();
  }

  /** True when no pod is left that can be evicted. */
  #isFinished(): boolean {
    return [...this.#targets.values()].every(({ state }) => state === 'refused');
  }

  /** False when the server did not answer. A fresh list bypasses the cache of the server. */
  async #look(isFresh: boolean): Promise<boolean> {
    const { client, log } = this.#options;
    const fieldSelector = `spec.nodeName=${this.#node}`;
    const options = { fieldSelector, ...(!isFresh && { resourceVersion: '0' }), ...this.#callOptions() };
    try {
      const { items } = await client.list(pods, options);
      this.#update(items);
      this.#hasListed = true;
      return true;
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (isPermanent(error) || (!this.#hasListed && this.#leftMs() <= 0)) throw error;
      log.warn('Listing the pods of the Node failed; retrying', { error });
      return false;
    }
  }

  #update(present: readonly Pod[]): void {
    const classes = present.map(pod => ({ pod, ...classify(pod) }));
    this.#left = classes.filter(({ action }) => action === 'leave').map(({ pod, is }) => ({ pod: keyOf(pod), is }));
    const wanted = new Map(classes.filter(({ action }) => action !== 'leave').map(each => [uidOf(each.pod), each]));
    for (const [uid, { pod }] of this.#targets) {
      if (wanted.has(uid)) continue;
      this.#targets.delete(uid);
      this.#gone.set(uid, keyOf(pod));
    }
    for (const [uid, { pod, is, action }] of wanted) {
      const known = this.#targets.get(uid);
      this.#gone.delete(uid);
      const state = action === 'wait' ? 'going' : (known?.state ?? 'new');
      const message = known?.message ?? '';
      this.#targets.set(uid, { pod, is, state, askedMs: known?.askedMs ?? 0, message });
    }
  }

  async #evictDue(): Promise<void> {
    const { clock, parallel, retryMs } = this.#options;
    const nowMs = clock.monotonicMs();
    const due = [...this.#targets.values()].filter(
      ({ state, askedMs }) => state === 'new' || (state === 'later' && askedMs + retryMs <= nowMs),
    );
    const work = async (): Promise<void> => {
      for (let target = due.shift(); target !== undefined; target = due.shift()) {
        if (this.#leftMs() > 0) await this.#evict(target);
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallel, due.length) }, work));
  }

  async #evict(target: Target): Promise<void> {
    const { client, clock, log, version } = this.#options;
    target.askedMs = clock.monotonicMs();
    const answer = await evict(client, target.pod, version, this.#callOptions());
    if (answer.is === 'later' || answer.is === 'refused') {
      if (target.state !== answer.is)
        log.info('Eviction rejected', { Pod: keyText(keyOf(target.pod)), because: answer.message });
      Object.assign(target, { state: answer.is, message: answer.message });
    } else {
      Object.assign(target, { state: 'going', message: '' });
    }
  }

  /** Only after a change, because it reads the budgets. */
  async #report(): Promise<void> {
    const targets = [...this.#targets.values()];
    const states = targets.map(({ pod, state }) => `${uidOf(pod)} ${state}`).join();
    if (this.#onProgress === undefined || states === this.#reported) return;
    this.#reported = states;
    this.#onProgress(await this.#describe(targets));
  }

  #callOptions() {
    const signal = this.#signal;
    return { ...(signal && { signal }), timeoutMs: Math.max(shortestCallMs, Math.min(callMs, this.#leftMs())) };
  }

  async #result(): Promise<DrainResult> {
    return {
      gone: [...this.#gone.values()],
      left: this.#left,
      blocked: await this.#describe([...this.#targets.values()]),
    };
  }

  async #describe(targets: readonly Target[]): Promise<BlockedPod[]> {
    const held = targets.filter(({ state }) => state === 'later');
    const budgets = await this.#budgetsIn(new Set(held.map(({ pod }) => pod.metadata.namespace ?? '')));
    return targets.map(({ pod, is, state, message }) => ({
      pod: keyOf(pod),
      is,
      budgets: state === 'later' ? budgetsOf(pod, budgets, this.#options.version) : [],
      isRejected: state === 'later' || state === 'refused',
      message: message === '' ? defaultMessages[state] : message,
    }));
  }

  /** Returns no budgets when they cannot be read. */
  async #budgetsIn(namespaces: ReadonlySet<string>): Promise<PodDisruptionBudget[]> {
    const { client, log, version } = this.#options;
    const resource = version === 'v1' ? podDisruptionBudgets : podDisruptionBudgetsV1beta1;
    const signal = this.#signal;
    const lists = [...namespaces].map(async namespace => {
      try {
        return (await client.list(resource, { namespace, timeoutMs: callMs, ...(signal && { signal }) })).items;
      } catch (error) {
        log.warn('Reading PodDisruptionBudgets failed', { namespace, error });
        return [];
      }
    });
    return (await Promise.all(lists)).flat();
  }
}

const defaultMessages = {
  new: 'it is not evicted yet',
  going: 'it is terminating: its grace period runs, or its kubelet does not respond',
  later: 'its eviction was rejected for now',
  refused: 'its eviction was rejected',
} as const;

function uidOf(pod: Pod): string {
  return pod.metadata.uid ?? keyText(keyOf(pod));
}

/** A retry would not help. */
function isPermanent(error: unknown): boolean {
  return error instanceof ApiError && error.code >= 400 && error.code < 500 && ![408, 410, 429].includes(error.code);
}
