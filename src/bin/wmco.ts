#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { main } from '#cli/main.ts';
import { sourceVersion } from '#cli/version.ts';

// The bundler puts the version in the place of this variable; from source it is asked from git.
const builtVersion = process.env['WMCO_VERSION'];

process.exitCode = await main(process.argv.slice(2), {
  out: line => void process.stdout.write(line),
  err: line => void process.stderr.write(line),
  stdin: () => text(process.stdin),
  version: () => builtVersion ?? sourceVersion(),
  runtime: `${process.version} ${process.platform}/${process.arch}`,
});
