import { spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
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

/** `npm test`: all parts and a summary at the end. In CI every part runs; elsewhere none is started after a failure. */

const root = join(import.meta.dirname, '../..');
const logFolder = join(root, 'test-results');
const cache = join(homedir(), '.cache', 'windows-machine-config-operator');
const timesFile = join(cache, 'test-times.json');
const programsFile = join(logFolder, 'programs.json');
/** Where more files fail, it is no flake. */
const maxRepeats = 3;
const reportOf = (log: string) => join(logFolder, `${log}.json`);
const isCi = process.env['CI'] === 'true';
const startMs = performance.now();

await rm(logFolder, { recursive: true, force: true });
await mkdir(logFolder, { recursive: true });
const times = await lastTimes();
const results = new Map<Part, PartResult>();
await runParts();
if (isCi) for (const [part, result] of results) results.set(part, await repeatFailures(part, result));
const inOrder = parts.flatMap(part => results.get(part) ?? []);
console.log(printSummary(inOrder, { logFolder: 'test-results/', ms: performance.now() - startMs, isCi }));
process.exitCode = overall(inOrder, isCi) === 'failed' ? 1 : 0;
await keepTimes().catch((error: Error) => console.error(`the times of the parts are not kept: ${error.message}`));

/** Each part starts when those it comes after are over. */
async function runParts(): Promise<void> {
  const over = new Map(parts.map(({ name }) => [name, Promise.withResolvers<void>()]));
  const runOne = async (part: Part) => {
    for (const name of part.after) await over.get(name)?.promise;
    const failed = isCi ? undefined : [...results.values()].find(({ outcome }) => outcome === 'failed');
    results.set(part, failed === undefined ? await runPart(part) : notRun(part, `${failed.name} failed`));
    over.get(part.name)?.resolve();
  };
  await Promise.all(parts.map(runOne));
}

async function runPart(part: Part): Promise<PartResult> {
  const { name, about, needs } = part;
  const missing = needs === undefined ? undefined : (await missingPrograms())[needs];
  if (typeof missing === 'string') return notRun(part, missing);
  const last = times[name];
  console.log(`\n== ${name}: ${about}${last === undefined ? '' : ` (${timeText(last)} last time)`}\n`);
  const partStartMs = performance.now();
  const isPassed = await runScript(part, name, name === 'programs' ? [programsFile] : []);
  const ms = performance.now() - partStartMs;
  const outcome = isPassed ? 'passed' : 'failed';
  console.log(`\n== ${name}: ${outcome} after ${timeText(ms)}\n`);
  return { name, ms, outcome, failed: isPassed ? [] : await readFailures(name), flaky: [] };
}

function notRun({ name }: Part, reason: string): PartResult {
  console.log(`\n== ${name}: not run: ${reason}\n`);
  return { name, ms: 0, outcome: 'not run', reason, failed: [], flaky: [] };
}

/** Runs failed files once more, alone on the machine; those that pass then are flaky. */
async function repeatFailures(part: Part, result: PartResult): Promise<PartResult> {
  const { failed } = result;
  if (!part.isRepeated || failed.length === 0 || failed.length > maxRepeats) return result;
  // The failed files do not explain these.
  if ((await readFile(join(logFolder, `${part.name}.log`), 'utf8')).includes('Unhandled Error')) return result;
  const flaky: FailedFile[] = [];
  for (const file of failed) {
    console.log(`\n== ${part.name}: ${file.path} once more, alone\n`);
    const log = `${part.name}-again-${file.path.replaceAll('/', '-')}`;
    if (await runScript(part, log, [file.path])) flaky.push(file);
  }
  const lasting = failed.filter(file => !flaky.includes(file));
  return { ...result, failed: lasting, flaky, outcome: lasting.length > 0 ? 'failed' : 'passed, with flaky files' };
}

/** Shows the output line by line under the name of the part, and keeps it; gives whether the script succeeded. */
async function runScript(
  { name, script, isLowPriority }: Part,
  log: string,
  args: readonly string[] = [],
): Promise<boolean> {
  const isVitest = script.startsWith('test:') && !['test:conformance', 'test:programs'].includes(script);
  const reporters = isVitest ? ['--reporter=default', '--reporter=json', `--outputFile.json=${reportOf(log)}`] : [];
  const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const words = ['npm', 'run', '--silent', script, '--', ...reporters, ...args];
  const nice = isLowPriority ? ['nice', '-n', '10'] : [];
  const [program = '', ...rest] = [...nice, ...words];
  const child = spawn(program, rest, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...color },
  });
  const file = createWriteStream(join(logFolder, `${log}.log`));
  const shown = [child.stdout, child.stderr].map(stream => showLines(stream, name, file));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  await Promise.all(shown);
  file.end();
  await finished(file);
  return code === 0;
}

async function showLines(stream: Readable, name: string, file: WriteStream): Promise<void> {
  for await (const line of createInterface({ input: stream })) {
    console.log(`${name} | ${line}`);
    file.write(`${line}\n`);
  }
}

/** Per key of `needs`, why the programs cannot be had; null where they are there. */
async function missingPrograms(): Promise<Record<string, string | null>> {
  return JSON.parse(await readFile(programsFile, 'utf8').catch(() => '{}')) as Record<string, string | null>;
}

/** Empty where no report was written: then the part did not even begin. */
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

async function keepTimes(): Promise<void> {
  const passed = [...results.values()].filter(({ outcome }) => outcome === 'passed').map(({ name, ms }) => [name, ms]);
  await mkdir(cache, { recursive: true });
  await writeFile(timesFile, JSON.stringify({ ...times, ...(Object.fromEntries(passed) as Record<string, number>) }));
}
