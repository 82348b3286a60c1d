#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { systemClock } from '#base/clock.ts';
import { main, type Program } from '#cli/main.ts';
import { errorText, unwritable } from '#cli/output.ts';
import { printable } from '#cli/safe-text.ts';
import type { LiveTerminal } from '#cli/terminal.ts';
import { sourceVersion } from '#cli/version.ts';

// The bundler puts the version in the place of this variable; from source it is asked from git.
const builtVersion = process.env['WMCO_VERSION'];
const version = () => builtVersion ?? sourceVersion();
const runtime = `${process.version} ${process.platform}/${process.arch}`;
const out = (line: string) => void process.stdout.write(line);
const err = (line: string) => void process.stderr.write(line);

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever read the output has seen enough, as `head` does; what was found still decides the exit code.
    if (error.code === 'EPIPE') return;
    process.stderr.write(`${errorText(unwritable('standard output', error))}\n`);
    process.exit(2);
  });
}

const operator: Program = {
  name: 'operator',
  summary: 'run the operator; see `wmco operator --help`',
  run: async words => {
    const [{ operatorProgram }, { stayLean }] = await Promise.all([
      import('#operator/program.ts'),
      import('#operator/memory.ts'),
    ]);
    stayLean();
    const world = { environment: process.env, version: version(), runtime, out, err, signal: stopSignal() };
    // What still goes on must not keep a process alive that has lost its right to act.
    process.exit(await operatorProgram(words, world));
  },
};

const status: Program = {
  name: 'status',
  summary: 'show how the Windows hosts of a cluster are; see `wmco status --help`',
  run: async words => (await import('#cli/status/program.ts')).statusProgram(words, liveTerminal()),
};

const sandbox: Program = {
  name: 'sandbox',
  summary: 'show the operator at work on simulated hosts; see `wmco sandbox --help`',
  run: async words => {
    const [{ sandboxProgram }, { sandboxFactory }] = await Promise.all([
      import('#cli/sandbox/program.ts'),
      import('./sandbox-world.ts'),
    ]);
    return sandboxProgram(words, liveTerminal(), sandboxFactory);
  },
};

/** Aborted when the process is told to stop for the first time. The second time it ends at once, as shells know it. */
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
    signal: stopSignal(),
    clock: systemClock,
  };
}

try {
  const terminal = { out, err, stdin: () => text(process.stdin), version, runtime };
  process.exitCode = await main(process.argv.slice(2), terminal, [operator, status, sandbox]);
} catch (error) {
  // A mistake of our own: all there is to know about it, though what foreign text is in it may not steer the terminal.
  err(`${printable(inspect(error))}\n`);
  process.exitCode = 1;
}
