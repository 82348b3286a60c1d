import { setTimeout as delay } from 'node:timers/promises';
import { configMapName } from '../../../src/contract/names.ts';
import type { WindowsInstanceStatus } from '../../../src/contract/windows-instance/resource.ts';
import { configMaps } from '../../../src/kube/resources.ts';
import type { WindowsHost } from './host.ts';
import { nextOperator } from './next-operator.ts';
import { subnetOf } from './real-doubles.ts';
import type { OperatorProcess } from './real-operator.ts';
import { type RealScene, startRealScene } from './real-scene.ts';
import type { Release } from './releases.ts';

/** Also on a busy machine. */
const limitMs = 900_000;

export type HostStatus = WindowsInstanceStatus;

/** Whether a host is in service with a version after its upgrade. */
export function runsVersion(version: string): (status: HostStatus) => boolean {
  return status => status.version === version && status.phase === 'Ready' && status.upgrade?.ready !== undefined;
}

/** Two hosts that are nodes of the first release, and the operators that follow. */
export class UpgradeScene implements AsyncDisposable {
  readonly real: RealScene;
  readonly hosts: readonly [WindowsHost, WindowsHost];
  operator: OperatorProcess;
  #release: Release;
  #runs = 0;

  private constructor(real: RealScene, hosts: readonly [WindowsHost, WindowsHost], operator: OperatorProcess) {
    this.real = real;
    this.hosts = hosts;
    this.operator = operator;
    this.#release = real.release;
  }

  /** With the settings of the roll-out, if any. */
  static async start(agent: string, settings?: Record<string, string>): Promise<UpgradeScene> {
    await using stack = new AsyncDisposableStack();
    const real = stack.use(await startRealScene(agent, { controllers: ['nodelifecycle', 'replicaset'] }));
    const hosts = await Promise.all([createHost(real, 'win-1'), createHost(real, 'win-2')]);
    const metadata = { name: configMapName.rollout, namespace: real.namespace };
    if (settings !== undefined) await real.admin.create(configMaps, { metadata, data: settings });
    await real.givePrivateKey();
    const addresses = hosts.map(({ address }) => address);
    await real.list(addresses);
    const operator = await real.startOperator('first');
    await real.ready(addresses, operator);
    stack.move();
    return new UpgradeScene(real, hosts, operator);
  }

  async status({ address }: WindowsHost): Promise<HostStatus> {
    return (await this.real.instances()).find(({ metadata }) => metadata.name === address)?.status ?? {};
  }

  /** Ends the operator and starts the next one, of the same release unless another is given, as a new pod would. */
  async replaceOperator(release = this.#release): Promise<void> {
    this.#release = release;
    this.#runs += 1;
    await this.operator.kill();
    this.operator = await nextOperator(this.real, `${release.version}-${this.#runs}`, release);
  }

  async until(host: WindowsHost, isSo: (status: HostStatus) => boolean): Promise<void> {
    await this.#untilOneOf([host], isSo);
  }

  /** Gives the first host for which it is so. */
  untilAny(isSo: (status: HostStatus) => boolean): Promise<WindowsHost> {
    return this.#untilOneOf(this.hosts, isSo);
  }

  async #untilOneOf(hosts: readonly WindowsHost[], isSo: (status: HostStatus) => boolean): Promise<WindowsHost> {
    for (const endMs = performance.now() + limitMs; ; await delay(200)) {
      for (const host of hosts) if (isSo(await this.status(host))) return host;
      if (performance.now() < endMs) continue;
      const lines = await Promise.all(
        hosts.map(async host => `${host.name}: ${JSON.stringify(await this.status(host))}`),
      );
      throw new Error(`not so in time:\n${lines.join('\n')}\n${this.operator.log}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.real[Symbol.asyncDispose]();
  }
}

async function createHost(real: RealScene, name: string): Promise<WindowsHost> {
  const host = await real.lab.createHost({ name, containers: 'Enabled' });
  await host.lab.setOverlay(subnetOf(host.address));
  return host;
}
