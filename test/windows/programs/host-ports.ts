import { readFileSync } from 'node:fs';
import { getRawAsset } from 'node:sea';
import { ensureHostRoute } from '../../../src/agent/host-values/host-route.ts';
import type { HostPorts } from '../../../src/agent/ports.ts';
import { openWindowsHost } from '../../../src/agent/win32/host.ts';
import { loadKoffi } from '../../../src/agent/win32/native.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { isAppError } from '../../../src/base/errors.ts';

/** Uses the ports of a real host: `host-ports.exe FILE` with a list of steps in JSON; prints the result of each. */

export type Step = [port: keyof HostPorts | 'test', method: string, ...args: unknown[]];

/** Result of a step: a value, or an error with code, message and remedy. */
export interface StepOutcome {
  value?: unknown;
  error?: { code: string; message: string; remedy: string };
}

type Method = (...args: unknown[]) => unknown;

const own: Record<string, (ports: HostPorts, ...args: never[]) => unknown> = {
  /** In hex, because JSON has no bytes. */
  addCertificate: (ports, base64: string) => ports.certificates.add(Buffer.from(base64, 'base64')),
  writeBytes: (ports, path: string, base64: string) => ports.files.writeChunks(path, chunksOf(base64)),
  async readBytes(ports, path: string) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of ports.files.readChunks(path)) chunks.push(chunk);
    return Buffer.concat(chunks).toString('base64');
  },
  runScript: (ports, text: string, limitMs = 60_000) => ports.scripts.run(text, AbortSignal.timeout(limitMs)),
  ensureHostRoute: (ports, address: string) => ensureHostRoute(address, ports),
  enableContainers: ports => ports.system.enableContainers(AbortSignal.timeout(60_000)),
};

async function* chunksOf(base64: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(base64, 'base64');
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
}

async function carryOut(ports: HostPorts, [port, name, ...args]: Step): Promise<StepOutcome> {
  try {
    if (port === 'test') return { value: await own[name]?.(ports, ...(args as never[])) };
    const methods = ports[port] as unknown as Record<string, Method>;
    return { value: await methods[name]?.call(methods, ...args) };
  } catch (error) {
    if (isAppError(error)) return { error: { code: error.code, message: error.message, remedy: error.remedy } };
    return { error: { code: 'NOT_AN_APP_ERROR', message: String(error), remedy: '' } };
  }
}

const koffi = loadKoffi(new Uint8Array(getRawAsset('koffi.node')), 'C:\\lab\\native');
const ports = openWindowsHost(koffi, { clock: systemClock, processEnvironment: process.env });
const steps = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Step[];
const outcomes: StepOutcome[] = [];
for (const step of steps) outcomes.push(await carryOut(ports, step));
console.log(JSON.stringify(outcomes));
