#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { main, type Program } from '#cli/main.ts';
import { errorText, unwritable } from '#cli/output.ts';
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
    const { operatorProgram } = await import('#operator/program.ts');
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(new Error(signal)));
    const world = { environment: process.env, version: version(), runtime, out, err, signal: stop.signal };
    // What still goes on must not keep a process alive that has lost its right to act.
    process.exit(await operatorProgram(words, world));
  },
};

process.exitCode = await main(process.argv.slice(2), { out, err, stdin: () => text(process.stdin), version, runtime }, [
  operator,
]);
