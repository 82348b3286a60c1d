/** When a process has to die: at a step of a host that is begun for the first time, and how long into it. */
export interface KillOrder {
  /** Steps that were begun before, as `stepKey` names them. */
  known: readonly string[];
  /** How many others begin until it happens. */
  after: number;
  delayMs: number;
}

export function stepKey(instance: string, step: string): string {
  return `${instance}: ${step}`;
}

/** The steps that began, in order, by the log of an operator. The status lags behind it. */
export function begunSteps(log: string): { key: string; step: string }[] {
  // The last line of a killed process may be incomplete.
  return log
    .split('\n')
    .slice(0, -1)
    .flatMap(line => begunStep(line) ?? []);
}

function begunStep(line: string): { key: string; step: string } | undefined {
  const { message, key, step } = JSON.parse(line) as { message: string; key?: string; step?: string };
  return message === 'Running step' && key !== undefined && step !== undefined ? { key, step } : undefined;
}

/** Follows the log of an operator until the moment of a kill order. */
export class Steps {
  readonly #onMoment: (delayMs: number) => void;
  readonly #begun = new Set<string>();
  #order: KillOrder | undefined;

  constructor(onMoment: (delayMs: number) => void) {
    this.#onMoment = onMoment;
  }

  killAt(order: KillOrder): void {
    this.#order = order;
    this.#look();
  }

  note(line: string): void {
    const begun = begunStep(line);
    if (begun === undefined) return;
    this.#begun.add(stepKey(begun.key, begun.step));
    this.#look();
  }

  #look(): void {
    if (this.#order === undefined) return;
    const { known, after, delayMs } = this.#order;
    if (this.#begun.difference(new Set(known)).size < after) return;
    this.#order = undefined;
    this.#onMoment(delayMs);
  }
}
