import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../running-server.ts';
import { compileCache, repositoryRoot } from '../run-wmco.ts';

/** What a deployment gives the operator. */
export interface Deployment {
  /** Below the folder of a lab, so that the guard of the lab ends the operator. */
  folder: string;
  namespace: string;
  podName: string;
  version: string;
  /** The API server, on loopback. */
  url: string;
  ca: string;
  /** Of the operator's own service account. */
  token: string;
  payload: string;
  /** Version of the API server, for which the payload of a test stands. */
  kubeletVersion: string;
  /** The only one that the operator can ask for names. */
  nameServer: string;
}

/** `wmco operator` in its own process, with the environment and files of a pod. */
export class OperatorProcess implements AsyncDisposable {
  readonly #deployment: Deployment;
  readonly #ended: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #logFile: string;

  private constructor(deployment: Deployment, logFile: string) {
    this.#deployment = deployment;
    this.#logFile = logFile;
    const log = openSync(logFile, 'w');
    this.#child = spawn('unshare', [...namespaces, ...this.#words()], {
      env: this.#environment(),
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    this.#ended = new Promise(resolve => this.#child.once('exit', resolve).once('error', resolve));
  }

  /** Resolves when the process is there; it may still end at once; see `log`. */
  static async start(deployment: Deployment, run: string): Promise<OperatorProcess> {
    const { folder, token, ca, namespace, nameServer } = deployment;
    await mkdir(join(folder, 'serviceaccount'), { recursive: true });
    const files = {
      'serviceaccount/token': token,
      'serviceaccount/ca.crt': ca,
      'serviceaccount/namespace': namespace,
      hosts: '127.0.0.1 localhost\n',
      'resolv.conf': `nameserver ${nameServer}\n`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
    return new OperatorProcess(deployment, join(folder, `${run}.log`));
  }

  get log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  /** Waits for a text in the log; fails with all of it when the process ends before. */
  async waitForLog(text: string, limitMs = 120_000): Promise<void> {
    for (const endMs = performance.now() + limitMs; !this.log.includes(text); await delay(50)) {
      if (this.#child.exitCode !== null || performance.now() > endMs) {
        throw new Error(`the log of the operator has no ${JSON.stringify(text)}:\n${this.log}`);
      }
    }
  }

  /** Waits until a controller has made this many passes and is idle. */
  async waitUntilIdle(controller: string, passes: number, limitMs = 120_000): Promise<void> {
    for (const endMs = performance.now() + limitMs; ; await delay(100)) {
      const figures = await this.#figures();
      const sum = (name: string) =>
        figures.filter(line => line.startsWith(`${name}{`) && line.includes(`"${controller}"`)).reduce(addValue, 0);
      const isIdle = sum('controller_runtime_active_workers') === 0 && sum('workqueue_depth') === 0;
      if (isIdle && sum('controller_runtime_reconcile_total') >= passes) return;
      if (performance.now() > endMs) throw new Error(`${controller} does not become idle:\n${figures.join('\n')}`);
    }
  }

  /** As when its machine dies. */
  async kill(): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #figures(): Promise<string[]> {
    const [, port] = /"Starting metrics server","address":"127\.0\.0\.1:(\d+)"/.exec(this.log) ?? [];
    return (await ask(`http://127.0.0.1:${port}/metrics`)).text.split('\n');
  }

  #words(): string[] {
    const { folder, payload, kubeletVersion, version } = this.#deployment;
    return [
      join(import.meta.dirname, 'real-pod.sh'),
      folder,
      process.execPath,
      join(repositoryRoot, 'src/bin/wmco.ts'),
      'operator',
      `--payload-dir=${payload}`,
      `--payload-key=${join(payload, 'payload-key.pub')}`,
      `--payload-cache-dir=${join(folder, `cache-${version}`)}`,
      `--kubelet-version=${kubeletVersion}`,
      '--metrics-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=127.0.0.1:0',
    ];
  }

  #environment(): Record<string, string | undefined> {
    const { namespace, podName, version, url } = this.#deployment;
    const { hostname, port } = new URL(url);
    return {
      PATH: process.env['PATH'],
      WATCH_NAMESPACE: namespace,
      POD_NAME: podName,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      WMCO_VERSION: version,
      ...compileCache,
      ...proxy,
    };
  }
}

function addValue(sum: number, line: string): number {
  return sum + Number(line.split(' ').at(-1));
}

/** As OLM passes on that of the cluster; there is none for https, so that nothing in the lab needs it. */
const proxy = { HTTP_PROXY: 'http://proxy.test:3128', NO_PROXY: '.svc,apiserver.test' };

/** All processes inside end with the first of them. */
const namespaces = ['--mount', '--propagation=private', '--pid', '--fork', '--kill-child', '--mount-proc'];
