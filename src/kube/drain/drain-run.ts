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
import type { BlockedPod, DrainerOptions, DrainResult } from './drain.ts';
import { evict } from './eviction.ts';
import { classify, type PodClass } from './pod-class.ts';

/** A pod that has to go. */
interface Target {
  pod: Pod;
  is: PodClass;
  state: 'new' | 'going' | 'later' | 'refused';
  askedMs: number;
  message: string;
}

const callMs = 15_000;
/** Also the last look, when the time is over, needs an answer. */
const shortestCallMs = 2000;

/** One drain of one Node: looks, asks for what is due, looks again. */
export class DrainRun {
  readonly #node: string;
  readonly #options: Required<DrainerOptions> & { version: PolicyVersion };
  readonly #signal: AbortSignal | undefined;
  readonly #targets = new Map<string, Target>();
  readonly #gone = new Map<string, Key>();
  #left: DrainResult['left'] = [];
  #endMs = 0;
  #hasSeen = false;

  constructor(node: string, options: Required<DrainerOptions> & { version: PolicyVersion }, signal?: AbortSignal) {
    this.#node = node;
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<DrainResult> {
    const { clock, timeoutMs, pollMs } = this.#options;
    this.#endMs = clock.monotonicMs() + timeoutMs;
    for (let isTruth = true; ; isTruth = false) {
      const hasSeen = await this.#look(isTruth);
      // The cache of the server may be behind: what counts at the end is the truth.
      const isOver = hasSeen && this.#isFinished() && (isTruth || ((await this.#look(true)) && this.#isFinished()));
      if (isOver || this.#leftMs() <= 0) return await this.#result();
      if (hasSeen) await this.#evictDue();
      await clock.sleep(Math.max(0, Math.min(pollMs, this.#leftMs())), this.#signal);
    }
  }

  #leftMs(): number {
    return this.#endMs - this.#options.clock.monotonicMs();
  }

  /** Nothing is left that could still go. */
  #isFinished(): boolean {
    return [...this.#targets.values()].every(({ state }) => state === 'refused');
  }

  /** False when the server did not answer. Asked for the truth it reads its database, otherwise its memory will do. */
  async #look(isTruth: boolean): Promise<boolean> {
    const { client, log } = this.#options;
    const fieldSelector = `spec.nodeName=${this.#node}`;
    const options = { fieldSelector, ...(!isTruth && { resourceVersion: '0' }), ...this.#callOptions() };
    try {
      const { items } = await client.list(pods, options);
      this.#compare(items);
      this.#hasSeen = true;
      return true;
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (isForGood(error) || (!this.#hasSeen && this.#leftMs() <= 0)) throw error;
      log.warn('Pods of the Node cannot be listed, trying again', { error });
      return false;
    }
  }

  #compare(present: readonly Pod[]): void {
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
        log.info('Pod cannot be evicted', { Pod: keyText(keyOf(target.pod)), because: answer.message });
      Object.assign(target, { state: answer.is, message: answer.message });
    } else {
      Object.assign(target, { state: 'going', message: '' });
    }
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
      message: message === '' ? silentStates[state] : message,
    }));
  }

  /** A report without names of budgets is better than none. */
  async #budgetsIn(namespaces: ReadonlySet<string>): Promise<PodDisruptionBudget[]> {
    const { client, log, version } = this.#options;
    const resource = version === 'v1' ? podDisruptionBudgets : podDisruptionBudgetsV1beta1;
    const signal = this.#signal;
    const lists = [...namespaces].map(async namespace => {
      try {
        return (await client.list(resource, { namespace, timeoutMs: callMs, ...(signal && { signal }) })).items;
      } catch (error) {
        log.warn('Pod disruption budgets cannot be read', { namespace, error });
        return [];
      }
    });
    return (await Promise.all(lists)).flat();
  }
}

const silentStates = {
  new: 'there was no time to evict it',
  going: 'it is being deleted but still there: its grace period runs, or its kubelet does not answer',
  later: 'its eviction was refused for now',
  refused: 'its eviction was refused',
} as const;

function uidOf(pod: Pod): string {
  return pod.metadata.uid ?? keyText(keyOf(pod));
}

/** The server does not know or does not allow it; waiting would not help. */
function isForGood(error: unknown): boolean {
  return error instanceof ApiError && error.code >= 400 && error.code < 500 && ![408, 410, 429].includes(error.code);
}
