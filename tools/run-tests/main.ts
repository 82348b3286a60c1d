import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { type Part, parts } from './parts.ts';
import {
  type FailedFile,
  failedFiles,
  overall,
  type PartResult,
  printSummary,
  timeText,
  type VitestReport,
} from './report.ts';

/** `npm test`: all parts and a summary at the end. In CI every part runs; elsewhere the first that fails ends it. */

const root = join(import.meta.dirname, '../..');
const logFolder = join(root, 'test-results');
const timesFile = join(homedir(), '.cache', 'windows-machine-config-operator', 'test-times.json');
/** Where more files fail, it is no flake. */
const mostRepeats = 3;
const reportOf = (log: string) => join(logFolder, `${log}.json`);
const isCi = process.env['CI'] === 'true';

await rm(logFolder, { recursive: true, force: true });
await mkdir(logFolder, { recursive: true });
const results: PartResult[] = [];
for (const part of parts) {
  results.push(await runPart(part, await lastTimes()));
  if (overall(results) === 'failed' && !isCi) break;
}
await keepTimes(results);
console.log(printSummary(results, 'test-results/'));
process.exitCode = overall(results) === 'failed' ? 1 : 0;

async function runPart(part: Part, times: Record<string, number>): Promise<PartResult> {
  const { name, about } = part;
  const last = times[name];
  console.log(`\n== ${name}: ${about}${last === undefined ? '' : ` (${timeText(last)} last time)`}`);
  const startMs = performance.now();
  const isGood = await runScript(part, name);
  const failed = isGood ? [] : await readFailures(name);
  const canRepeat = isCi && part.isRepeated && failed.length > 0 && failed.length <= mostRepeats;
  const flaky = canRepeat ? await repeat(part, failed) : [];
  const lasting = failed.filter(file => !flaky.includes(file));
  const isPassed = isGood || (failed.length > 0 && lasting.length === 0);
  const outcome = isPassed ? (flaky.length > 0 ? 'passed, with flaky files' : 'passed') : 'failed';
  return { name, outcome, ms: performance.now() - startMs, failed: lasting, flaky };
}

/** Gives the files that pass when they are run alone. */
async function repeat(part: Part, failed: readonly FailedFile[]): Promise<FailedFile[]> {
  const flaky: FailedFile[] = [];
  for (const file of failed) {
    console.log(`\n== ${part.name}: ${file.path} once more, alone`);
    const log = `${part.name}-again-${file.path.replaceAll('/', '-')}`;
    if (await runScript(part, log, [file.path])) flaky.push(file);
  }
  return flaky;
}

/** Shows the output and keeps it; gives whether all went well. */
async function runScript({ script }: Part, log: string, words: readonly string[] = []): Promise<boolean> {
  const isVitest = script.startsWith('test:') && script !== 'test:conformance';
  const reporters = isVitest ? ['--reporter=default', '--reporter=json', `--outputFile.json=${reportOf(log)}`] : [];
  const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = spawn('npm', ['run', '--silent', script, '--', ...reporters, ...words], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...color },
  });
  const file = createWriteStream(join(logFolder, `${log}.log`));
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(process.stdout, { end: false });
    stream.pipe(file, { end: false });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  file.end();
  await finished(file);
  return code === 0;
}

/** Nothing where no report was written: then the part did not even begin. */
async function readFailures(log: string): Promise<FailedFile[]> {
  const text = await readFile(reportOf(log), 'utf8').catch(() => undefined);
  return text === undefined ? [] : failedFiles(JSON.parse(text) as VitestReport, root);
}

async function lastTimes(): Promise<Record<string, number>> {
  try {
    return JSON.parse(await readFile(timesFile, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}

async function keepTimes(results: readonly PartResult[]): Promise<void> {
  const passed = results.filter(({ outcome }) => outcome === 'passed').map(({ name, ms }) => [name, ms] as const);
  await mkdir(join(timesFile, '..'), { recursive: true });
  await writeFile(timesFile, JSON.stringify({ ...(await lastTimes()), ...Object.fromEntries(passed) }));
}
