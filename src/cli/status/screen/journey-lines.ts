import type { JourneyName } from '#contract/windows-instance/resource.ts';
import { oneLine, printable, type SafeText, safe } from '../../safe-text.ts';
import type { HostView } from '../view/host-view.ts';

/** Steps, waits and failures of one journey as log lines, each once. */
export class JourneyLines {
  readonly #journey: JourneyName;
  readonly #stamp: (nowMs: number) => SafeText;
  readonly #steps = new Set<string>();
  #note = '';
  #problem = '';

  /** `stamp` returns the time that begins each line. */
  constructor(journey: JourneyName, stamp: (nowMs: number) => SafeText = timeOfDay) {
    this.#journey = journey;
    this.#stamp = stamp;
  }

  /** The lines since the last call. A step is printed even if it ended in between. */
  next({ instance, timeline, note = '', problem }: HostView, nowMs: number): SafeText[] {
    const isRunning = instance?.status?.journey?.name === this.#journey;
    const steps = isRunning ? timeline.map(({ name }) => name).filter(name => !this.#steps.has(name)) : [];
    for (const name of steps) this.#steps.add(name);
    const texts = [...steps, ...(note === this.#note ? [] : [note])].filter(text => text !== '');
    this.#note = note;
    return [...texts.map(text => this.#line(text, nowMs)), ...this.#problemLines(problem, nowMs)];
  }

  #problemLines(problem: HostView['problem'], nowMs: number): SafeText[] {
    const text = problem === undefined ? '' : `${problem.code}: ${problem.message}`;
    const isPrinted = text === this.#problem;
    this.#problem = text;
    if (problem === undefined || isPrinted) return [];
    return [
      this.#line(`failed, is retried: ${text}`, nowMs),
      ...(problem.remedy === '' ? [] : [safe`  -> ${oneLine(problem.remedy)}`]),
    ];
  }

  #line(text: string, nowMs: number): SafeText {
    return safe`${this.#stamp(nowMs)}  ${oneLine(text)}`;
  }
}

function timeOfDay(nowMs: number): SafeText {
  return printable(new Date(nowMs).toISOString().slice(11, 19));
}
