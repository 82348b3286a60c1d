import type { Clock } from '#base/clock.ts';
import { setRecent } from '#base/recent-map.ts';

export interface AnswerCacheOptions<T> {
  clock: Clock;
  /** How long an answer is valid. */
  validMs(answer: T): number;
  /** How long a failure is returned without asking again. */
  failureMs: number;
  maxAnswers?: number;
}

interface Entry<T> {
  answer: Promise<T>;
  /** Infinity while the answer is pending. */
  expiresMs: number;
}

/** Caches answers. Questions that are asked while one is pending share its answer. */
export class AnswerCache<T> {
  readonly #options: Required<AnswerCacheOptions<T>>;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(options: AnswerCacheOptions<T>) {
    this.#options = { maxAnswers: 4096, ...options };
  }

  get(question: string, ask: () => Promise<T>): Promise<T> {
    const { clock, validMs, failureMs, maxAnswers } = this.#options;
    const known = this.#entries.get(question);
    if (known !== undefined && known.expiresMs > clock.monotonicMs()) return known.answer;
    const entry: Entry<T> = { answer: ask(), expiresMs: Infinity };
    setRecent(this.#entries, question, entry, maxAnswers);
    const expireAfter = (ms: number) => {
      entry.expiresMs = clock.monotonicMs() + ms;
    };
    entry.answer.then(
      answer => expireAfter(validMs(answer)),
      () => expireAfter(failureMs),
    );
    return entry.answer;
  }
}
