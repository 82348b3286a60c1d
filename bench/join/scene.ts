import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import type { PayloadRelease } from '../../src/bin/sandbox-factory.ts';
import { silentLog } from '../../src/base/log.ts';
import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import { configMaps, leases } from '../../src/kube/resources.ts';
import type { Report } from '../run.ts';
import { Child } from './child.ts';
import type { HostsFigures, HostsOptions, HostsReady, HostsRequest } from './hosts-process.ts';
import type { OperatorFigures, OperatorRequest } from './operator-process.ts';
import { OperatorProgram } from './operator-program.ts';

const hostsProgram = fileURLToPath(import.meta.resolve('./hosts-process.ts'));

export interface SceneOptions {
  hosts: number;
  payloadBytes: number;
  /** Versions of the operator that can be started; one by default. */
  releases?: readonly PayloadRelease[];
  faults?: readonly string[];
}

const [lookMs, tellMs, limitMs] = [50, 2000, 570_000];

/** Simulated hosts in one process, the operator in another, and this one that measures. */
export class Scene implements AsyncDisposable {
  readonly client: Client;
  readonly ready: HostsReady;
  readonly #folder: string;
  readonly #hosts: Child;
  readonly #program: OperatorProgram;
  readonly #informers: Informers;
  #operator: Child | undefined;

  private constructor(parts: { ready: HostsReady; folder: string; hosts: Child; program: OperatorProgram }) {
    this.client = createClient(loadKubeconfig(parts.ready.kubeconfig));
    this.#program = parts.program;
    this.ready = parts.ready;
    this.#folder = parts.folder;
    this.#hosts = parts.hosts;
    this.#informers = new Informers({ client: this.client, clock: systemClock, log: silentLog, random: Math.random });
    this.#informers.get(windowsInstances, { namespace: this.ready.namespace });
    this.#informers.start();
  }

  static async open({ hosts, payloadBytes, releases, faults = [] }: SceneOptions): Promise<Scene> {
    const folder = mkdtempSync(join(tmpdir(), 'wmco-bench-join-'));
    mkdirSync(join(folder, 'hosts'));
    const child = new Child(
      hostsProgram,
      { hosts, faults, folder: join(folder, 'hosts') } satisfies HostsOptions,
      join(folder, 'hosts.log'),
    );
    try {
      const ready = await child.hear<HostsReady>();
      const kubeconfigs = { operator: ready.operatorKubeconfig, network: ready.kubeconfig };
      const { namespace } = ready;
      const program = await OperatorProgram.build(folder, kubeconfigs, {
        payloadBytes,
        namespace,
        ...(releases && { releases }),
      });
      return new Scene({ ready, folder, hosts: child, program });
    } catch (error) {
      await child.kill();
      rmSync(folder, { recursive: true });
      throw error;
    }
  }

  /** Resolves when it leads; a replacement does not pack programs again. */
  async startOperator(release?: PayloadRelease): Promise<void> {
    const { namespace } = this.ready;
    for (const { metadata } of (await this.client.list(leases, { namespace })).items)
      await this.client.delete(leases, metadata.name ?? '', { namespace });
    this.#operator = this.#program.start(release);
    const isLeading = async () => (await this.client.list(leases, { namespace })).items.length > 0;
    await this.#until(isLeading, 'the operator leads');
  }

  async killOperator(): Promise<void> {
    await this.#operator?.kill();
  }

  /** Lists all hosts and more entries in windows-instances. */
  async list(more: Record<string, string> = {}): Promise<void> {
    const data = { ...Object.fromEntries(this.ready.entries), ...more };
    const { namespace } = this.ready;
    await this.client.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
  }

  get instances(): WindowsInstance[] {
    return this.#informers.get(windowsInstances, { namespace: this.ready.namespace }).store.list();
  }

  /** Seconds until this number is Ready. */
  async untilReady(count: number): Promise<number> {
    const startMs = performance.now();
    const isReady = () => this.instances.filter(({ status }) => status?.phase === 'Ready').length >= count;
    await this.#until(isReady, `${count} hosts are ready`, () => progressText(this.instances));
    return (performance.now() - startMs) / 1000;
  }

  async until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    await this.#until(isSo, what, () => progressText(this.instances));
  }

  hostFigures(): Promise<HostsFigures> {
    return this.#hosts.hear('figures' satisfies HostsRequest);
  }

  /** Makes the API server slow or busy for everyone but this process, or switches hosts off and on. */
  change(request: Exclude<HostsRequest, string>): Promise<HostsFigures> {
    return this.#hosts.hear(request);
  }

  operatorFigures(request: OperatorRequest = 'figures'): Promise<OperatorFigures> {
    if (this.#operator === undefined) throw new Error('no operator is running');
    return this.#operator.hear(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#informers.stop();
    await this.client.close();
    await this.#operator?.kill('SIGTERM');
    await this.#hosts.kill('SIGTERM');
    rmSync(this.#folder, { recursive: true });
  }

  async #until(isSo: () => boolean | Promise<boolean>, what: string, progress = () => ''): Promise<void> {
    const startMs = performance.now();
    let toldMs = startMs;
    while (!(await isSo())) {
      const nowMs = performance.now();
      if (this.#operator?.hasEnded === true) throw new Error('the operator has exited');
      if (nowMs - startMs > limitMs) throw new Error(`not in time: ${what}. ${progress()}`);
      if (nowMs - toldMs >= tellMs) {
        toldMs = nowMs;
        console.error(`${((nowMs - startMs) / 1000).toFixed(0).padStart(5)} s until ${what}: ${progress()}`);
      }
      await delay(lookMs);
    }
  }
}

/** Number of hosts at each step. */
function progressText(instances: readonly WindowsInstance[]): string {
  const steps = Map.groupBy(instances, ({ status }) =>
    status?.phase === 'Configuring' ? (status.step ?? 'new') : (status?.phase ?? 'new'),
  );
  return [...steps].map(([step, { length }]) => `${length} ${step}`).join(', ');
}

/** Prints the load; false when times are not reliable. */
export function machineLoad(report: Report): boolean {
  const [load = 0] = loadavg();
  report('load of the machine before', load, '');
  if (load <= 1) return true;
  console.error(`note: with a load of ${load.toFixed(1)} everything takes longer than on a quiet machine`);
  return false;
}
