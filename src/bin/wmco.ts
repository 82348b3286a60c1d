#!/usr/bin/env node
import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { isSea } from 'node:sea';
import { text } from 'node:stream/consumers';
import { systemClock } from '#base/clock.ts';
import type { CommandLine } from '#base/command-line.ts';
import { asciiText, needsAscii } from '#cli/ascii-text.ts';
import { allPrograms, main } from '#cli/main.ts';
import { errorText, internalError, unwritableError } from '#cli/output.ts';
import type { Program } from '#cli/program.ts';
import { completionPlugins, named, programNameOf } from '#cli/program-name.ts';
import { payloadCommandLines, payloadSummary } from '#cli/payload/options.ts';
import { rolloutCommandLines, rolloutSummary } from '#cli/rollout/options.ts';
import { shellWord } from '#cli/shell-quote.ts';
import type { AskingTerminal, ExitCode, LiveTerminal } from '#cli/terminal.ts';
import { type BuildFacts, sourceVersion } from '#cli/version.ts';
import { operatorName } from '#contract/names.ts';

// The bundler replaces these variables with their values; from source, git has the version.
const builtVersion = process.env['WMCO_VERSION'];
const buildText = process.env['WMCO_BUILD'];
const build = buildText === undefined ? undefined : (JSON.parse(buildText) as BuildFacts);
const version = () => builtVersion ?? sourceVersion();
const runtime = `${process.version} ${process.platform}/${process.arch}`;
/** The name of the file that was called, which may be a link. */
const calledAs = basename(process.argv0);
const programName = programNameOf(calledAs);
const inLocale = needsAscii(process.env) ? asciiText : (text: string) => text;
const message = (text: string) => inLocale(named(programName, text));
const out = (text: string, is?: 'message' | 'data') => void process.stdout.write(is === 'data' ? text : message(text));
const err = (text: string) => void process.stderr.write(message(text));
// The log of the operator is data.
const rawStreams = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};

const readerGone = new AbortController();

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader, such as `head`, closed the pipe; the exit code still depends on the result.
    if (error.code === 'EPIPE') {
      // Programs that run until they are stopped have no reader any more.
      if (stream === process.stdout) readerGone.abort(new Error('EPIPE'));
      return;
    }
    process.stderr.write(`${errorText(unwritableError('standard output', error))}\n`);
    process.exit(2);
  });
}

const operator: Program = {
  name: 'operator',
  summary: 'run the operator; see `wmco operator --help`',
  line: async () => (await import('#operator/flags.ts')).operatorLine,
  run: async words => {
    // First, because V8 does not shrink what loading the operator has enlarged.
    (await import('#operator/memory.ts')).limitMemory();
    const { operatorProgram } = await import('#operator/program.ts');
    const deps = { environment: process.env, version: version(), runtime, ...rawStreams, signal: stopSignal() };
    // Exits at once: pending work must not outlive the lease.
    process.exit(await operatorProgram(words, deps));
  },
};

const status: Program = {
  name: 'status',
  summary: 'show the Windows hosts of a cluster; see `wmco status --help`',
  line: async () => (await import('#cli/status/options.ts')).statusLine,
  run: async words => (await import('#cli/status/program.ts')).statusProgram(words, liveTerminal()),
};

const checkUpgrade: Program = {
  name: 'upgrade',
  group: 'check',
  summary: 'check whether a live cluster can be upgraded; see `wmco check upgrade --help`',
  line: async () => (await import('#cli/check/upgrade/options.ts')).checkUpgradeLine,
  run: async words => (await import('#cli/check/upgrade/program.ts')).checkUpgradeProgram(words, liveTerminal()),
};

const remove: Program = {
  name: 'remove',
  summary: 'remove a Windows host from a cluster; see `wmco remove --help`',
  line: async () => (await import('#cli/remove/options.ts')).removeLine,
  run: async words => (await import('#cli/remove/program.ts')).removeProgram(words, askingTerminal()),
};

const rollout: Program = {
  name: 'rollout',
  summary: `${rolloutSummary}; see \`wmco rollout --help\``,
  programs: Object.entries<CommandLine>(rolloutCommandLines).map(([name, line]) => ({
    name,
    summary: line.summary,
    line: () => line,
    run: words => rollout.run([name, ...words]),
  })),
  run: async words => (await import('#cli/rollout/program.ts')).rolloutProgram(words, askingTerminal()),
};

const reboot: Program = {
  name: 'reboot',
  summary: 'reboot a Windows host within the budget; see `wmco reboot --help`',
  line: async () => (await import('#cli/reboot/options.ts')).rebootLine,
  run: async words => (await import('#cli/reboot/program.ts')).rebootProgram(words, liveTerminal()),
};

const sandbox: Program = {
  name: 'sandbox',
  summary: 'run a cluster with simulated hosts; see `wmco sandbox --help`',
  line: async () => (await import('#cli/sandbox/options.ts')).sandboxLine,
  run: async words => {
    const { sandboxProgram } = await import('#cli/sandbox/program.ts');
    const loadFactory = async () => (await import('./sandbox-factory.ts')).sandboxFactory;
    return sandboxProgram(words, liveTerminal(), loadFactory);
  },
};

const runtimeClass: Program = {
  name: 'runtimeclass',
  summary: 'print a RuntimeClass for each build of Windows; see `wmco runtimeclass --help`',
  line: async () => (await import('#cli/manifests/runtime-class-options.ts')).runtimeClassLine,
  run: async words => (await import('#cli/manifests/runtime-class.ts')).runtimeClassProgram(words, liveTerminal()),
};

const machineSet: Program = {
  name: 'machineset',
  summary: 'print a MachineSet for Windows on your cloud; see `wmco machineset --help`',
  line: async () => (await import('#cli/manifests/machine-set-options.ts')).machineSetLine,
  run: async words =>
    (await import('#cli/manifests/machine-set.ts')).machineSetProgram(words, {
      ...askingTerminal(),
      stdin: terminal.stdin,
    }),
};

const install: Program = {
  name: 'install',
  summary: 'install or upgrade the operator without OLM; see `wmco install --help`',
  line: async () => (await import('#cli/install/options.ts')).installLine,
  run: async words => (await import('#cli/install/program.ts')).installProgram(words, liveTerminal()),
};

const prepareHost: Program = {
  name: 'prepare-host',
  summary: 'print the PowerShell that prepares a host of your own; see `wmco prepare-host --help`',
  line: async () => (await import('#cli/manifests/prepare-host-options.ts')).prepareHostLine,
  run: async words => (await import('#cli/manifests/prepare-host.ts')).prepareHostProgram(words, liveTerminal()),
};

const uninstall: Program = {
  name: 'uninstall',
  summary: 'uninstall the operator, with or without its nodes; see `wmco uninstall --help`',
  line: async () => (await import('#cli/uninstall/options.ts')).uninstallLine,
  run: async words => (await import('#cli/uninstall/program.ts')).uninstallProgram(words, askingTerminal()),
};

const payload: Program = {
  name: 'payload',
  summary: `${payloadSummary}; see \`wmco payload --help\``,
  programs: Object.entries<CommandLine>(payloadCommandLines).map(([name, line]) => ({
    name,
    summary: line.summary,
    line: () => line,
    run: words => payload.run([name, ...words]),
  })),
  run: async words => (await import('#cli/payload/program.ts')).payloadProgram(words, liveTerminal()),
};

const complete: Program = {
  name: '__complete',
  summary: 'print candidates for completion scripts',
  isHidden: true,
  run: async words => {
    const { completeProgram } = await import('#cli/completion/candidates.ts');
    // Exits at once: a slow cluster or login program must not block the shell.
    process.exit(await completeProgram(words, liveTerminal(), faultNames));
  },
};

const faultNames = async () => Object.keys((await import('#sandbox/machines/faults.ts')).faults);

/** The first signal aborts; the second exits at once with the exit code that shells expect. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
    ['SIGHUP', 1],
  ] as const) {
    process.on(signal, () => (stop.signal.aborted ? process.exit(128 + number) : stop.abort(new Error(signal))));
  }
  return stop.signal;
}

function liveTerminal(): LiveTerminal {
  const { stdout } = process;
  return {
    out,
    err,
    version,
    size: () => (stdout.isTTY ? { columns: stdout.columns || 80, rows: stdout.rows || 24 } : undefined),
    environment: process.env,
    command: () => (knownCommand ??= programCommand()),
    signal: AbortSignal.any([stopSignal(), readerGone.signal]),
    clock: systemClock,
  };
}

function askingTerminal(): AskingTerminal {
  const terminal = liveTerminal();
  const ask = process.stdin.isTTY && process.stdout.isTTY ? askOn(terminal.signal) : undefined;
  return { ...terminal, ask };
}

/** Reads one line; Ctrl-C stays a signal of the process, because readline does not control the terminal. */
function askOn(signal: AbortSignal): (question: string) => Promise<string> {
  return async question => {
    const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
    // Without a line, input has ended.
    const ended = new Promise<string>(resolve => lines.once('close', () => resolve('')));
    try {
      return await Promise.race([lines.question(inLocale(question), { signal }), ended]);
    } finally {
      lines.close();
    }
  };
}

/** Searched once: live tables show it several times a second. */
let knownCommand: string | undefined;

/** `wmco` if the shell finds it, or as a plugin; else the path of the file that runs this program. */
function programCommand(): string {
  if (programName !== 'wmco') return programName;
  const built = isSea() ? process.execPath : (process.argv[1] ?? 'wmco');
  const own = builtVersion === undefined ? join(import.meta.dirname, '..', '..', 'wmco') : built;
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(folder => folder !== '');
  const found = folders.map(folder => join(folder, 'wmco')).find(path => existsSync(path));
  return found !== undefined && isSameFile(found, own) ? 'wmco' : shellWord(own);
}

function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

/** The entry point of the image. */
async function runAsOperator(words: readonly string[]): Promise<ExitCode> {
  const { operatorSubcommand } = await import('#operator/subcommand.ts');
  const about = { program: process.argv0, version: version(), runtime };
  const result = operatorSubcommand(words, process.env, about);
  if (result === undefined) return operator.run(words);
  if (result.code === 0) rawStreams.out(result.out);
  else rawStreams.err(result.err);
  return result.code;
}

/** As `kubectl_complete-wmco`; exits at once, like `__complete`. */
async function completeAsPlugin(words: readonly string[]): Promise<ExitCode> {
  const { pluginCompletion } = await import('#cli/completion/plugin.ts');
  process.exit(await pluginCompletion(words, allPrograms(terminal, programs), liveTerminal(), faultNames));
}

const terminal = { out, err, stdin: () => text(process.stdin), version, runtime, ...(build && { build }) };
const programs = [
  operator,
  install,
  uninstall,
  status,
  checkUpgrade,
  rollout,
  reboot,
  remove,
  machineSet,
  runtimeClass,
  prepareHost,
  payload,
  sandbox,
  complete,
];

function runAs(name: string, words: readonly string[]): Promise<ExitCode> {
  if (name === operatorName) return runAsOperator(words);
  return completionPlugins.includes(name) ? completeAsPlugin(words) : main(words, terminal, programs);
}

try {
  const words = process.argv.slice(2);
  process.exitCode = await runAs(calledAs, words);
} catch (error) {
  err(`${errorText(internalError(error))}\n`);
  process.exitCode = 1;
}
