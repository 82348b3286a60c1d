import { relative } from 'node:path';

/** The part of vitest's JSON report that is looked at. */
export interface VitestReport {
  testResults: { name: string; status: string; message?: string; assertionResults: VitestResult[] }[];
}

interface VitestResult {
  status: string;
  fullName: string;
  failureMessages?: string[] | null;
}

/** A file with tests that failed, or that could not be run at all. */
export interface FailedFile {
  /** From the root of the project on. */
  path: string;
  /** Titles with the first lines of their messages. */
  failures: string[];
}

export type Outcome = 'passed' | 'failed' | 'passed, with flaky files' | 'not run';

export interface PartResult {
  name: string;
  outcome: Outcome;
  /** Why it was not run. */
  reason?: string;
  ms: number;
  failed: readonly FailedFile[];
  /** Files that failed, and passed when they were run once more. */
  flaky: readonly FailedFile[];
}

/** An agent's last words are among them. */
const shownLines = 50;

export function failedFiles(report: VitestReport, root: string): FailedFile[] {
  // A file whose process died is reported as passed, without results.
  const failed = report.testResults.filter(
    ({ status, assertionResults }) => status !== 'passed' || assertionResults.length === 0,
  );
  return failed.map(({ name, message = '', assertionResults }) => {
    const failures = assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${fullName}\n${firstLines(failureMessages?.join('\n') ?? '')}`);
    return { path: relative(root, name), failures: failures.length > 0 ? failures : [firstLines(message)] };
  });
}

function firstLines(text: string): string {
  const lines = text.split('\n').filter(line => !/^ +at .*(node_modules|new Promise)/.test(line));
  return lines
    .slice(0, shownLines)
    .map(line => `    ${line}`)
    .join('\n');
}

export interface RunFacts {
  logFolder: string;
  /** Less than the sum of the parts, which run beside each other. */
  ms: number;
  isCi: boolean;
}

/** What ends a run: everything a reader needs who sees only the last page of it. */
export function printSummary(results: readonly PartResult[], { logFolder, ms: total, isCi }: RunFacts): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const rows = results.map(
    ({ name, outcome, ms, reason }) =>
      `  ${name.padEnd(width)}  ${timeText(ms).padStart(12)}  ${outcome}${reason === undefined ? '' : `: ${reason}`}`,
  );
  const files = (title: string, pick: (result: PartResult) => readonly FailedFile[]) =>
    results
      .flatMap(pick)
      .map(({ path, failures }) => `\n${title}: ${path}\n${failures.map(failure => `  ${failure}`).join('\n')}`);
  return [
    ...files('flaky', result => result.flaky),
    ...files('failed', result => result.failed),
    '',
    ...rows,
    `  ${'all'.padEnd(width)}  ${timeText(total).padStart(12)}  ${overall(results, isCi)}`,
    `  output of each part: ${logFolder}`,
  ].join('\n');
}

/** In CI a part that was not run is a failure: the list of a green run is not read. */
export function overall(results: readonly PartResult[], isCi: boolean): Outcome {
  if (results.some(({ outcome }) => outcome === 'failed' || (isCi && outcome === 'not run'))) return 'failed';
  return results.some(({ flaky }) => flaky.length > 0) ? 'passed, with flaky files' : 'passed';
}

export function timeText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
