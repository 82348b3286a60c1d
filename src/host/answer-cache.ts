import type { Clock } from '#base/clock.ts';

export interface AnswerCacheOptions<T> {
  clock: Clock;
  /** How long an answer is good. */
  goodMs(answer: T): number;
  /** How long a failure is told again without asking. */
  failedMs: number;
  maxAnswers?: number;
}

interface Entry<T> {
  answer: Promise<T>;
  /** Endless while it is being asked. */
  untilMs: number;
}

/** Remembers answers for a while. Whoever asks the same meanwhile waits for the same answer. */
export class AnswerCache<T> {
  readonly #options: Required<AnswerCacheOptions<T>>;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(options: AnswerCacheOptions<T>) {
    this.#options = { maxAnswers: 4096, ...options };
  }

  get(question: string, ask: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const known = this.#entries.get(question);
    if (known !== undefined && known.untilMs > clock.monotonicMs()) return known.answer;
    const entry: Entry<T> = { answer: ask(), untilMs: Number.POSITIVE_INFINITY };
    this.#remember(question, entry);
    entry.answer.then(
      answer => this.#keep(entry, this.#options.goodMs(answer)),
      () => this.#keep(entry, this.#options.failedMs),
    );
    return entry.answer;
  }

  #keep(entry: Entry<T>, ms: number): void {
    entry.untilMs = this.#options.clock.monotonicMs() + ms;
  }

  #remember(question: string, entry: Entry<T>): void {
    this.#entries.delete(question);
    this.#entries.set(question, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#options.maxAnswers) break;
      this.#entries.delete(oldest);
    }
  }
}
