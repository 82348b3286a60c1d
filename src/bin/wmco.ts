#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { main } from '#cli/main.ts';
import { errorText, unwritable } from '#cli/output.ts';
import { sourceVersion } from '#cli/version.ts';

// The bundler puts the version in the place of this variable; from source it is asked from git.
const builtVersion = process.env['WMCO_VERSION'];

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever read the output has seen enough, as `head` does; what was found still decides the exit code.
    if (error.code === 'EPIPE') return;
    process.stderr.write(`${errorText(unwritable('standard output', error))}\n`);
    process.exit(2);
  });
}

process.exitCode = await main(process.argv.slice(2), {
  out: line => void process.stdout.write(line),
  err: line => void process.stderr.write(line),
  stdin: () => text(process.stdin),
  version: () => builtVersion ?? sourceVersion(),
  runtime: `${process.version} ${process.platform}/${process.arch}`,
});
