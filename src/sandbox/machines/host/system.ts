import type { Adapter, FeatureState, OperatingSystem, System } from '#agent/ports.ts';
import type { Clock } from '#base/clock.ts';
import { ports, serviceName } from '#contract/names.ts';
import type { SimulatedFiles } from './files.ts';
import type { SimulatedProcesses } from './processes.ts';
import { bootIdOf, type HostState } from './state.ts';

export interface SystemOptions {
  state: HostState;
  files: Pick<SimulatedFiles, 'freeBytes'>;
  processes: Pick<SimulatedProcesses, 'isRunning'>;
  /** Clock of simulated delays. */
  clock: Clock;
  times: { featureMs: number };
  busyPorts: () => readonly number[];
  /** Reboots after a delay. */
  reboot(delaySeconds: number): void;
}

/** SSH, RPC and SMB. */
const windowsPorts = [22, 135, 445];

export class SimulatedSystem implements System {
  readonly #options: SystemOptions;

  constructor(options: SystemOptions) {
    this.#options = options;
  }

  async hostName(): Promise<string> {
    return this.#state.hostName;
  }

  async fqdn(): Promise<string> {
    const { hostName, dnsSuffix } = this.#state;
    return dnsSuffix === '' ? hostName : `${hostName}.${dnsSuffix}`;
  }

  async operatingSystem(): Promise<OperatingSystem> {
    return this.#state.os;
  }

  async bootId(): Promise<string> {
    return bootIdOf(this.#state);
  }

  async pendingReboot(): Promise<string[]> {
    return [...this.#state.pendingReboot];
  }

  async adapters(): Promise<Adapter[]> {
    return structuredClone(this.#state.adapters);
  }

  async freeBytes(): Promise<number> {
    return this.#options.files.freeBytes;
  }

  async containersFeature(): Promise<FeatureState> {
    return this.#state.containersFeature;
  }

  async enableContainers(signal: AbortSignal): Promise<boolean> {
    if (this.#state.containersFeature === 'enabled') return false;
    await this.#options.clock.sleep(this.#options.times.featureMs, signal);
    this.#state.containersFeature = 'enable-pending';
    this.#note('a feature or an update');
    return true;
  }

  /** Simulated services are never lost. */
  async flushServices(): Promise<void> {}

  async rename(name: string): Promise<boolean> {
    this.#state.newName = name;
    this.#note('the host was renamed');
    return true;
  }

  async reboot(delaySeconds: number): Promise<void> {
    this.#options.reboot(delaySeconds);
  }

  async isProcessRunning(name: string): Promise<boolean> {
    // Microsoft Defender runs on every Windows Server.
    return name.toLowerCase() === 'msmpeng' || this.#options.processes.isRunning(name);
  }

  get #state(): HostState {
    return this.#options.state;
  }

  async isAdministrator(): Promise<boolean> {
    return true;
  }

  async listeningPorts(): Promise<number[]> {
    const { services } = this.#state;
    const isUp = (name: string) => services.get(name.toLowerCase())?.state === 'running';
    return [
      ...windowsPorts,
      ...this.#options.busyPorts(),
      ...(isUp(serviceName.kubelet) ? [ports.kubelet] : []),
      ...(isUp(serviceName.exporter) ? [ports.exporter] : []),
    ];
  }

  #note(reason: string): void {
    const { pendingReboot } = this.#state;
    if (!pendingReboot.includes(reason)) pendingReboot.push(reason);
  }
}
