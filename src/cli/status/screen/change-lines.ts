import { oneLine, printable, type SafeText, safe } from '../../safe-text.ts';
import { durationText } from '../view/amounts.ts';
import { detailOf } from './host-table.ts';
import { type HostView, travelMs } from '../view/host-view.ts';
import { cutTo, padTo, widthOf } from './text-width.ts';

interface Told {
  text: string;
  /** The step, or the phase where there is none. */
  at: string;
  atMs: number;
  code: string | undefined;
}

/** Steps that follow each other quickly, or one that takes its time, would fill a log with lines that nobody reads. */
const [nextStepMs, sameStepMs] = [2000, 15_000];

/** Longer notes are for `wmco status HOST`. */
const longestText = 100;

/** News of hosts as lines of a log: each line stands alone, and none says what was said before. */
export class ChangeLines {
  readonly #stamp: (nowMs: number) => string;
  readonly #told = new Map<string, Told>();

  /** `stamp` gives the time as it stands before each line. */
  constructor(stamp: (nowMs: number) => string) {
    this.#stamp = stamp;
  }

  /** What is new since the last call. Steps come at most every other second for each host, all else at once. */
  next(hosts: readonly HostView[], nowMs: number): SafeText[] {
    const width = Math.max(0, ...hosts.map(({ name }) => widthOf(oneLine(name))));
    const stamp = printable(this.#stamp(nowMs));
    const indent = padTo(safe``, widthOf(stamp) + width + 6);
    const lines = hosts.flatMap(host =>
      this.#news(host, nowMs).map((text, index) =>
        index === 0
          ? safe`${stamp}  ${padTo(oneLine(host.name), width)}  ${oneLine(text)}`
          : safe`${indent}${oneLine(text)}`,
      ),
    );
    return [...lines, ...this.#gone(hosts, nowMs)];
  }

  #news(host: HostView, nowMs: number): string[] {
    const told = this.#told.get(host.name);
    const { tone } = host;
    const [at, text] = [host.step ?? host.phase, tone === 'busy' ? stepText(host) : stateText(host, nowMs)];
    if (told?.text === text || isSaid(told, host)) return [];
    const pauseMs = told?.at === at ? sameStepMs : nextStepMs;
    if (tone === 'busy' && told !== undefined && nowMs - told.atMs < pauseMs) return [];
    const problem = tone === 'bad' ? host.problem : undefined;
    this.#told.set(host.name, { text, at, atMs: nowMs, code: problem?.code });
    return [text, ...(problem === undefined ? [] : problemTexts(problem))];
  }

  #gone(hosts: readonly HostView[], nowMs: number): SafeText[] {
    const present = new Set(hosts.map(({ name }) => name));
    const gone = [...this.#told.keys()].filter(name => !present.has(name));
    for (const name of gone) this.#told.delete(name);
    return gone.map(name => safe`${printable(this.#stamp(nowMs))}  ${oneLine(name)}  is gone`);
  }
}

/** What is wrong was said; the steps on the way there again are no news. */
function isSaid(told: Told | undefined, { phase, problem }: HostView): boolean {
  return phase === 'Retrying' && told?.code !== undefined && told.code === problem?.code;
}

function problemTexts({ message, remedy }: NonNullable<HostView['problem']>): string[] {
  return [message, ...(remedy === '' ? [] : [`-> ${remedy}`])];
}

function stepText(host: HostView): string {
  const { phase, step } = host;
  const detail = detailOf(host);
  return cutTo(`${step ?? phase}${detail === '' ? '' : `: ${detail}`}`, longestText);
}

/** Never with what changes by itself, such as the number of attempts: that would be news for ever. */
function stateText(host: HostView, nowMs: number): string {
  const { phase, tone, problem, step, nodeName, note } = host;
  if (problem !== undefined && tone === 'bad') {
    return `${phase === 'Retrying' ? 'Failed' : phase}${step === undefined ? '' : ` at ${step}`}: ${problem.code}`;
  }
  const ms = host.endedMs === undefined ? undefined : travelMs(host, nowMs);
  const after = ms === undefined ? '' : ` after ${durationText(ms)}`;
  const node = nodeName === undefined ? '' : ` as Node ${nodeName}`;
  return `${phase}${tone === 'good' ? `${node}${after}` : ''}${note === undefined ? '' : `, ${note}`}`;
}
