import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Guard } from './cluster/component.ts';
import { ensurePrograms } from './debian-package.ts';

export interface RegistrySettings {
  /** PEM files; plain HTTP without them. */
  tls?: { certificate: string; key: string };
  /** That of another registry; one of its own by default. */
  storage?: string;
  /** Further top-level lines of its configuration, such as `auth:`. */
  config?: readonly string[];
}

export interface Registry extends AsyncDisposable {
  /** Such as 127.0.0.1:35001. */
  readonly host: string;
  /** Where blobs and manifests are stored. */
  readonly storage: string;
  log(): string;
}

/** Debian's docker-registry on a free loopback port; it ends with this process and leaves nothing. Installs it as root. */
export async function startRegistry(settings: RegistrySettings = {}): Promise<Registry> {
  const program = '/usr/bin/docker-registry';
  ensurePrograms(program);
  const folder = mkdtempSync(join(tmpdir(), 'wmco-registry-'));
  const guard = new Guard(folder);
  const { tls, config = [], storage = join(folder, 'storage') } = settings;
  mkdirSync(storage, { recursive: true });
  const lines = [
    'version: 0.1',
    'storage:',
    `  filesystem: { rootdirectory: ${storage} }`,
    '  delete: { enabled: true }',
    'http:',
    '  addr: 127.0.0.1:0',
    ...(tls === undefined ? [] : [`  tls: { certificate: ${tls.certificate}, key: ${tls.key} }`]),
    ...config,
  ];
  writeFileSync(join(folder, 'config.yml'), `${lines.join('\n')}\n`);
  const child = spawn(program, ['serve', join(folder, 'config.yml')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // It would send its traces to another machine.
    env: { ...process.env, OTEL_TRACES_EXPORTER: 'none' },
  });
  guard.watch(child.pid ?? 0);
  const exited = once(child, 'exit');
  const output = { text: '' };
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
    await guard.release();
  };
  try {
    const port = await listeningPort(child, output);
    return { host: `127.0.0.1:${port}`, storage, log: () => output.text, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** The port in the line that it prints when it accepts connections. */
function listeningPort(child: ChildProcess, output: { text: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output.text += text;
        const [, port] = /listening on 127\.0\.0\.1:(\d+)/.exec(output.text) ?? [];
        if (port !== undefined) resolve(port);
      });
    child.once('error', reject);
    child.once('exit', code => reject(new Error(`docker-registry exited with ${code}: ${output.text}`)));
  });
}
