import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SimulatedHost } from '../../../src/sandbox/machines/host/host.ts';
import { Guard } from '../cluster/component.ts';
import type { PodNetwork } from './pod-network.ts';

/** What a Deployment says about the container of the operator, as far as it is followed here. */
export interface ContainerSpec {
  command: readonly string[];
  args: readonly string[];
  volumeMounts: readonly { name: string; mountPath: string }[];
}

export interface PodOptions {
  container: ContainerSpec;
  /** What the image says. */
  imageEnvironment: readonly string[];
  /** The unpacked image. Mount points are created in it, and nothing else can be changed. */
  rootfs: string;
  /** Below it everything of the pod is written. */
  parent: string;
  userId: number;
  /** Variables that the kubelet sets. */
  environment: Readonly<Record<string, string>>;
  /** Files of Secrets by name of the volume; all other volumes are empty folders. */
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  serviceAccount: Readonly<Record<'token' | 'ca.crt' | 'namespace', string>>;
  /** The API server, on a loopback port. */
  apiServer: string;
  /** The only host that can be reached, at the ports of SSH and of the kubelet. */
  host: SimulatedHost;
}

const healthPort = 9183;
const startLine = 'the pod is ready';

/** A container as a kubelet starts it: any user, read-only root, no capabilities, an own network. It ends with this process. */
export class Pod implements AsyncDisposable {
  readonly #lines: { text: string; atMs: number }[] = [];
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #guard: Guard;
  readonly #servers: readonly Server[];
  readonly #ended: Promise<number>;
  #hasEnded = false;

  private constructor(parts: { child: ChildProcess; folder: string; guard: Guard; servers: readonly Server[] }) {
    this.#child = parts.child;
    this.#folder = parts.folder;
    this.#guard = parts.guard;
    this.#servers = parts.servers;
    for (const stream of [parts.child.stdout, parts.child.stderr]) this.#collect(stream);
    this.#ended = once(parts.child, 'close').then(([code]: (number | null)[]) => {
      this.#hasEnded = true;
      return code ?? -1;
    });
  }

  static async start(options: PodOptions): Promise<Pod> {
    const folder = mkdtempSync(join(options.parent, 'pod-'));
    const guard = new Guard(folder);
    const { host, apiServer } = options;
    const servers = [
      await listen(join(folder, 'api'), () => Number(new URL(apiServer).port)),
      await listen(join(folder, 'ssh'), () => portOf(host)),
      await listen(join(folder, 'kubelet'), () => undefined),
    ];
    const child = spawn('unshare', wordsFor(options, folder), { stdio: ['pipe', 'pipe', 'pipe'] });
    guard.watch(child.pid ?? 0);
    return new Pod({ child, folder, guard, servers });
  }

  get log(): string {
    return this.#lines.map(({ text }) => `${text}\n`).join('');
  }

  /** Milliseconds since the program was started in its prepared pod. */
  get ageMs(): number {
    return performance.now() - this.#startedMs;
  }

  get #startedMs(): number {
    return this.#lines.find(({ text }) => text === startLine)?.atMs ?? performance.now();
  }

  /** Milliseconds from the start until a line with this text; fails with the log when the pod ends before. */
  async until(text: string, limitMs = 90_000): Promise<number> {
    for (const endMs = performance.now() + limitMs; ; ) {
      const found = this.#lines.find(line => line.text.includes(text));
      if (found !== undefined) return found.atMs - this.#startedMs;
      if (this.#hasEnded || performance.now() > endMs)
        throw new Error(`the log has no ${JSON.stringify(text)}:\n${this.log}`);
      await delay(10);
    }
  }

  /** Asks the server for probes, as the kubelet does. */
  probe(path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const call = request({ socketPath: join(this.#folder, 'health'), path, agent: false }, answer => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      call.once('error', reject);
      call.end();
    });
  }

  /** A file of /proc of the program in the image. */
  processFile(name: string): string {
    const newest = [...descendants(this.#child.pid ?? 0)].at(-1);
    return readFileSync(`/proc/${newest}/${name}`, 'utf8');
  }

  /** Sends SIGTERM and gives the exit code. */
  stop(): Promise<number> {
    this.#child.stdin?.end();
    return this.#ended;
  }

  /** Resolves with the exit code. */
  get ended(): Promise<number> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.#child.kill('SIGKILL');
    await this.#ended;
    for (const server of this.#servers) server.close();
    await this.#guard.release();
  }

  #collect(stream: NodeJS.ReadableStream | null): void {
    let rest = '';
    stream?.setEncoding('utf8');
    stream?.on('data', (piece: string) => {
      const texts = (rest + piece).split('\n');
      rest = texts.pop() ?? '';
      for (const text of texts) this.#lines.push({ text, atMs: performance.now() });
    });
  }
}

/** All processes that a process has started, directly or not, the oldest first. */
function* descendants(pid: number): Generator<number> {
  for (const thread of readdirSync(`/proc/${pid}/task`))
    for (const child of readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean)) {
      yield Number(child);
      yield* descendants(Number(child));
    }
}

function wordsFor(options: PodOptions, folder: string): string[] {
  const { container, imageEnvironment, rootfs, userId, environment, host, apiServer } = options;
  const { hostname, port } = new URL(apiServer);
  const { address } = host.spec;
  const network: PodNetwork = {
    relays: [
      { listen: { host: hostname, port: Number(port) }, to: { path: join(folder, 'api') } },
      { listen: { host: address, port: 22 }, to: { path: join(folder, 'ssh') } },
      { listen: { host: address, port: 10_250 }, to: { path: join(folder, 'kubelet') } },
      { listen: { path: join(folder, 'health') }, to: { host: '127.0.0.1', port: healthPort } },
    ],
    startLine,
    command: [...asUser(userId, rootfs), ...container.command, ...container.args],
    environment: {
      ...Object.fromEntries(imageEnvironment.map(each => each.split(/=(.*)/s, 2))),
      ...environment,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
    },
  };
  const [script, relay] = ['pod.sh', 'pod-network.ts'].map(name => join(import.meta.dirname, name));
  const inPod = [relay ?? '', JSON.stringify(network)];
  return namespaces.concat(script ?? '', rootfs, address, mountsOf(options, folder), '--', process.execPath, inPod);
}

const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child'];

/** Only the capabilities to change root and user, which are gone with the user. */
function asUser(userId: number, rootfs: string): string[] {
  const capabilities = ['--bounding-set=-all,+sys_chroot,+setuid,+setgid', '--inh-caps=-all'];
  const change = ['/usr/sbin/chroot', `--userspec=${userId}:0`, '--groups=', rootfs];
  return ['/usr/bin/setpriv', '--no-new-privs', ...capabilities, ...change];
}

function mountsOf({ container, secrets, serviceAccount }: PodOptions, folder: string): string[] {
  const bind = (name: string, files: Readonly<Record<string, string>>, path: string) => {
    for (const [file, text] of Object.entries(files)) write(join(folder, name, file), text);
    return `bind ${join(folder, name)} ${path}`;
  };
  write(join(folder, 'hosts'), '127.0.0.1 localhost\n');
  // Nobody answers there.
  write(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n');
  return [
    ...container.volumeMounts.map(({ name, mountPath }) => {
      const files = secrets[name];
      return files === undefined ? `tmpfs ${mountPath}` : bind(`volume-${name}`, files, mountPath);
    }),
    bind('serviceaccount', serviceAccount, '/var/run/secrets/kubernetes.io/serviceaccount'),
    ...['hosts', 'resolv.conf'].map(name => `bind ${join(folder, name)} /etc/${name}`),
  ];
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o644 });
}

function portOf(host: SimulatedHost): number | undefined {
  const route = host.route();
  return typeof route === 'object' ? route.port : undefined;
}

/** Passes connections on to a loopback port; without one it ends them. */
async function listen(path: string, target: () => number | undefined): Promise<Server> {
  const server = createServer((near: Socket) => {
    const port = target();
    if (port === undefined) near.end();
    else passOn(near, connect({ host: '127.0.0.1', port }));
  });
  server.listen(path);
  await once(server, 'listening');
  return server;
}

function passOn(near: Socket, far: Socket): void {
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
}
