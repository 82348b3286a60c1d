import type { FetchReport, SourceOutcome } from '#payload/fetch/fetch.ts';
import { errorText } from '../output.ts';
import { printable, safe, type SafeText } from '../safe-text.ts';
import { Screen } from '../status/screen/screen.ts';
import type { LiveTerminal } from '../terminal.ts';
import { megabytes } from './size-text.ts';

/** Nothing is said about what takes less. */
const quietMs = 2000;
/** Where lines are not redrawn. */
const betweenLinesMs = 10_000;
const redrawMs = 500;

interface Work {
  source: string;
  startMs: number;
  /** Of the first data, to tell the speed without what an earlier run has downloaded. */
  first: { ms: number; bytes: number } | undefined;
  bytes: number;
  total: number | undefined;
  lineMs: number;
}

/** Shows what is being downloaded, on one line that is redrawn, or in a log. */
export function fetchProgress({ terminal }: { terminal: LiveTerminal }): FetchReport & { end: () => void } {
  const { clock } = terminal;
  const screen = terminal.size() === undefined ? undefined : new Screen(terminal);
  const ended = new AbortController();
  let work: Work | undefined;
  void tick();
  return {
    started: source => {
      const ms = clock.monotonicMs();
      work = { source, startMs: ms, first: undefined, bytes: 0, total: undefined, lineMs: ms };
    },
    progress: (_, bytes, total) => {
      if (work === undefined) return;
      if (work.first === undefined || bytes < work.bytes) work.first = { ms: clock.monotonicMs(), bytes };
      Object.assign(work, { bytes, total });
    },
    retried: (source, why, pauseMs) =>
      print(terminal.err, printable(`${source}: ${why}; next attempt in ${Math.ceil(pauseMs / 1000)} s`)),
    ended: outcome => {
      work = undefined;
      if (outcome.kind === 'failed') print(terminal.err, safe`${errorText(outcome.error)}`);
      // All further sources have stopped, too: the summary counts them.
      else if (outcome.kind !== 'stopped') print(terminal.out, printable(`${outcome.source}: ${endText(outcome)}`));
    },
    end: () => {
      ended.abort();
      screen?.close([]);
    },
  };

  function print(write: (text: SafeText) => void, line: SafeText): void {
    screen?.close([]);
    write(safe`${line}\n`);
  }

  async function tick(): Promise<void> {
    while (!ended.signal.aborted) {
      await clock.sleep(redrawMs, ended.signal).catch(() => undefined);
      if (work !== undefined && !ended.signal.aborted) show(work, clock.monotonicMs());
    }
  }

  function show(current: Work, nowMs: number): void {
    if (nowMs - current.startMs < quietMs) return;
    const line = printable(`${current.source}: ${workText(current, nowMs)}`);
    if (screen !== undefined) return screen.draw([line]);
    const isFirst = current.lineMs === current.startMs;
    if (!isFirst && nowMs - current.lineMs < betweenLinesMs) return;
    current.lineMs = nowMs;
    terminal.err(safe`${line}\n`);
  }
}

function workText({ first, bytes, total }: Work, nowMs: number): string {
  if (first === undefined) return 'waiting for an answer';
  if (bytes === total) return `${megabytes(bytes)}, being checked and unpacked`;
  const perSecond = ((bytes - first.bytes) / Math.max(1, nowMs - first.ms)) * 1000;
  const share = total === undefined ? '' : ` of ${megabytes(total)} (${Math.floor((bytes / total) * 100)}%)`;
  return `${megabytes(bytes)}${share}, ${megabytes(perSecond)}/s`;
}

function endText(outcome: Exclude<SourceOutcome, { kind: 'failed' | 'stopped' }>): string {
  const programs = outcome.files.length === 1 ? outcome.files.join('') : `${outcome.files.length} programs`;
  switch (outcome.kind) {
    case 'present':
      return `${programs}, already there`;
    case 'not given':
      return 'not downloaded: build it with `npm run build:agent`, and pass the program with --agent';
    case 'fetched':
    default: {
      const pinned = outcome.pinned === 1 ? '1 checksum' : `${outcome.pinned} checksums`;
      return outcome.pinned === 0 ? programs : `${programs}, ${pinned} entered in the lock without a check`;
    }
  }
}
