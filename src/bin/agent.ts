#!/usr/bin/env node
import { getRawAsset } from 'node:sea';
import { interruptionOf } from '#agent/interruption.ts';
import { createFileLog, createLineLog } from '#agent/log/file-log.ts';
import { runAgent } from '#agent/verbs/run.ts';
import type { VerbDeps } from '#agent/verbs/verb.ts';
import { openWindowsHost } from '#agent/win32/host.ts';
import { type Koffi, loadKoffi } from '#agent/win32/native.ts';
import { endProcess, runAsService } from '#agent/win32/services/service-host.ts';
import { systemClock as clock } from '#base/clock.ts';
import { agentName } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';

// The bundler replaces this variable with the version.
const version = process.env['WMCO_VERSION'] ?? 'source';
const err = (text: string) => void process.stderr.write(text);
let log = createLineLog((_severity, line) => err(`${line}\n`), clock);
let service: Koffi | undefined;
const native = () => service ?? loadKoffi(new Uint8Array(getRawAsset('koffi.node')), dir.agentNative);

// After a broken SSH session output fails, but the work continues.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.on('uncaughtException', error => {
  log.error('Crashed', { error, stack: error.stack });
  if (service !== undefined) endProcess(service, 1);
  process.exit(1);
});

const build = `${agentName}/${version}`;
const common = { clock, log, version, signal: interruptionOf(process), client: { userAgent: build } };
const deps: VerbDeps = {
  ...common,
  program: process.execPath,
  pid: process.pid,
  runtime: `${process.version} ${process.platform}/${process.arch}`,
  host: () => openWindowsHost(native(), { clock, processEnvironment: process.env }),
  asService: body => runAsService((service = native()), agentName, body, clock),
  openLog: (directory, maxBytes) => (log = createFileLog({ directory, maxBytes, build, stderr: err, clock })),
};
process.exitCode = await runAgent(process.argv.slice(2), deps, { out: text => void process.stdout.write(text), err });
if (service !== undefined) endProcess(service, process.exitCode);
