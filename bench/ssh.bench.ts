import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { AppError } from '../src/base/errors.ts';
import { type HostConnection, type HostTarget, uploadChunkBytes } from '../src/host/host.ts';
import { connect } from '../src/host/ssh/connect.ts';
import { type OpenSsh, sshUser, startOpenSsh } from '../test/kit/openssh.ts';
import { makeKey } from '../test/kit/ssh-server.ts';
import type { Report } from './run.ts';

export const description = 'SSH to Debian’s OpenSSH on loopback: upload rate beside scp, round trips, 200 connections';

const rounds = 5;
const connections = 200;

/** `npm run bench -- ssh [MEGABYTES]`. The server needs root. */
export async function run(report: Report, [size = '207']: readonly string[]): Promise<void> {
  const megabytes = Number(size);
  if (!Number.isInteger(megabytes) || megabytes < 1)
    throw new AppError('USAGE', `${JSON.stringify(size)} is not a whole number`, {
      remedy: 'Give megabytes, such as 207.',
    });
  const folder = mkdtempSync(join(tmpdir(), 'wmco-bench-ssh-'));
  const { text, key } = makeKey();
  writeFileSync(join(folder, 'key'), text, { mode: 0o600 });
  writeFileSync(join(folder, 'payload'), randomBytes(megabytes * 1_000_000));
  try {
    await using server = await startOpenSsh({ authorized: [key.publicKey] });
    const target = {
      address: '127.0.0.1',
      port: server.port,
      username: sshUser,
      privateKeys: [key],
      pinnedKey: undefined,
    };
    await measureUploads(report, { server, target, folder, megabytes });
    await measureRoundTrips(report, target);
    await measureMany(report, target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Uploads {
  server: OpenSsh;
  target: HostTarget;
  folder: string;
  megabytes: number;
}

/** Both alternately, so that other load affects both. */
async function measureUploads(report: Report, { server, target, folder, megabytes }: Uploads): Promise<void> {
  const source = join(folder, 'payload');
  const [wmcoSeconds, scpSeconds]: [number[], number[]] = [[], []];
  const [cpu, stalls]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    scpSeconds.push(await seconds(() => scp(server, folder, source)));
    await using host = await connect(target);
    const chunks = createReadStream(source, { highWaterMark: uploadChunkBytes });
    const before = process.cpuUsage();
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    wmcoSeconds.push(
      await seconds(() => host.upload(join(server.home, 'wmco'), { size: megabytes * 1_000_000, chunks })),
    );
    delay.disable();
    stalls.push(delay.max / 1e6);
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1e6);
  }
  const [wmcoRate, scpRate] = [megabytes / median(wmcoSeconds), megabytes / median(scpSeconds)];
  report(`upload of ${megabytes} MB`, wmcoRate, 'MB/s');
  report('the same by scp', scpRate, 'MB/s');
  report('upload rate beside scp', wmcoRate / scpRate, 'times');
  report('CPU of an upload', median(cpu), 's');
  report('longest stall of the event loop while uploading', median(stalls), 'ms');
}

async function scp(server: OpenSsh, folder: string, source: string): Promise<void> {
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes', 'LogLevel=ERROR'];
  const words = ['-q', '-F', 'none', '-i', join(folder, 'key'), '-P', String(server.port)];
  const target = `${sshUser}@127.0.0.1:${join(server.home, 'scp')}`;
  await promisify(execFile)('scp', [...words, ...options.flatMap(option => ['-o', option]), source, target]);
}

async function measureRoundTrips(report: Report, target: HostTarget): Promise<void> {
  const handshakes: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    let host: HostConnection | undefined;
    handshakes.push(
      await seconds(async () => {
        host = await connect(target);
      }),
    );
    await host?.close();
  }
  report('connect and authenticate', median(handshakes) * 1000, 'ms');
  await using host = await connect(target);
  const [commands, files]: [number[], number[]] = [[], []];
  for (let round = 0; round < 4 * rounds; round += 1) {
    commands.push(await seconds(() => host.exec('true')));
    files.push(await seconds(() => host.upload('small', new Uint8Array(1000))));
  }
  report('command', median(commands) * 1000, 'ms');
  report('small file', median(files) * 1000, 'ms');
}

async function measureMany(report: Report, target: HostTarget): Promise<void> {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const opened: HostConnection[] = [];
  const took = await seconds(async () => {
    const all = Array.from({ length: connections }, () =>
      connect(target, { handshakeTimeoutMs: 120_000, dialTimeoutMs: 60_000 }),
    );
    opened.push(...(await Promise.all(all)));
  });
  await Promise.all(opened.map(host => host.exec('true', { timeoutMs: 120_000 })));
  report(`${connections} connections at once`, took, 's');
  report('memory of one of them', (process.memoryUsage().rss - before) / connections / 1024, 'KiB');
  await Promise.all(opened.map(host => host.close()));
}

async function seconds(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1000;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
