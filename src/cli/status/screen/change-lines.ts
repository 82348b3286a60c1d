import { oneLine, printable, type SafeText, safe } from '../../safe-text.ts';
import { durationText } from '../view/amounts.ts';
import { detailOf } from './host-table.ts';
import { configureMs, type HostView, isUnsettled, rowKey } from '../view/host-view.ts';
import { takeGone } from './take-gone.ts';
import { cutTo, padTo, widthOf } from './text-width.ts';

interface PrintedLine {
  name: string;
  text: string;
  /** The step, or the phase where there is none. */
  at: string;
  atMs: number;
  code: string | undefined;
}

/** Shortest time between lines about a host: for another step, and for the same step. */
const [nextStepMs, sameStepMs] = [2000, 15_000];

/** `wmco status HOST` prints longer notes in full. */
const maxTextLength = 100;

/** Changes of hosts as log lines without repetition. */
export class ChangeLines {
  readonly #stamp: (nowMs: number) => string;
  readonly #printed = new Map<string, PrintedLine>();

  /** `stamp` returns the time that begins each line. */
  constructor(stamp: (nowMs: number) => string) {
    this.#stamp = stamp;
  }

  /** Lines for the changes since the last call. Only steps are rate-limited. */
  next(hosts: readonly HostView[], nowMs: number): SafeText[] {
    const width = Math.max(0, ...hosts.map(({ name }) => widthOf(oneLine(name))));
    const stamp = printable(this.#stamp(nowMs));
    const indent = padTo(safe``, widthOf(stamp) + width + 6);
    const lines = hosts.flatMap(host =>
      this.#changesOf(host, nowMs).map((text, index) =>
        index === 0
          ? safe`${stamp}  ${padTo(oneLine(host.name), width)}  ${oneLine(text)}`
          : safe`${indent}${oneLine(text)}`,
      ),
    );
    const gone = takeGone(this.#printed, hosts).map(({ name }) => safe`${stamp}  ${oneLine(name)}  is gone`);
    return [...lines, ...gone];
  }

  #changesOf(host: HostView, nowMs: number): string[] {
    const printed = this.#printed.get(rowKey(host));
    const { tone } = host;
    const [at, text] = [host.step ?? host.phase, tone === 'busy' ? stepText(host) : stateText(host, nowMs)];
    if (printed?.text === text || isRepeated(printed, host)) return [];
    const pauseMs = printed?.at === at ? sameStepMs : nextStepMs;
    if (tone === 'busy' && printed !== undefined && nowMs - printed.atMs < pauseMs) return [];
    const problem = tone === 'bad' || tone === 'slow' ? host.problem : undefined;
    this.#printed.set(rowKey(host), { name: host.name, text, at, atMs: nowMs, code: problem?.code });
    return [text, ...(problem === undefined ? [] : problemTexts(problem))];
  }
}

/** The same problem was printed before; the steps of a retry are not worth a line. */
function isRepeated(printed: PrintedLine | undefined, host: HostView): boolean {
  const { phase, problem, activity } = host;
  const isRetrying = phase === 'Retrying' || (isUnsettled(host) && activity !== undefined);
  return isRetrying && printed?.code !== undefined && printed.code === problem?.code;
}

function problemTexts({ message, remedy }: NonNullable<HostView['problem']>): string[] {
  return [message, ...(remedy === '' ? [] : [`-> ${remedy}`])];
}

function stepText(host: HostView): string {
  const { phase, step } = host;
  const detail = detailOf(host);
  return cutTo(`${step ?? phase}${detail === '' ? '' : `: ${detail}`}`, maxTextLength);
}

/** Leaves out values that change by themselves, such as attempts, which would print a line each time. */
function stateText(host: HostView, nowMs: number): string {
  const { phase, tone, problem, step, nodeName, note } = host;
  if (problem !== undefined && tone === 'bad') {
    return `${phase === 'Retrying' ? 'Failed' : phase}${step === undefined ? '' : ` at ${step}`}: ${problem.code}`;
  }
  if (tone === 'slow') return `${phase} at ${step ?? ''}`;
  const ms = host.endedMs === undefined ? undefined : configureMs(host, nowMs);
  const after = ms === undefined ? '' : ` after ${durationText(ms)}`;
  const node = nodeName === undefined ? '' : ` as Node ${nodeName}`;
  return `${phase}${tone === 'good' ? `${node}${after}` : ''}${note === undefined ? '' : `, ${note}`}`;
}
