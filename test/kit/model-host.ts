import type { Waiting } from '#base/waiting/poll.ts';
import type { Clock } from '#base/clock.ts';
import type { Adapter, Cluster, HnsNetwork, HostPorts, ManifestSource } from '#agent/ports.ts';
import type { AgentPorts } from '#agent/reconcile/reconcile-host.ts';
import { type AgentReport, emptyReport } from '#contract/agent-report.ts';
import { hnsNetwork } from '#contract/names.ts';
import type { HostVariableSource, Preparation } from '#contract/services/manifest.ts';
import { sha256 } from '#base/sha256.ts';
import { hostPorts } from '../../src/sandbox/machines/host/ports.ts';
import { bootIdOf, bootState, freshState, type HostState } from '../../src/sandbox/machines/host/state.ts';
import { defaultTraits } from '../../src/sandbox/machines/traits.ts';
import { beforeCalls } from './before-calls.ts';
import { ModelFiles } from './model-files.ts';
import { settle } from './manual-clock.ts';
import { ModelServices } from './model-services.ts';

export interface ModelNode {
  name: string;
  annotations: Record<string, string>;
  ready: boolean;
}

/** Time that passes only while all callers sleep: the first one due is woken once no other work is ready. */
export class ModelClock implements Clock {
  ms = 0;
  readonly #sleepers = new Set<{ dueMs: number; wake: () => void }>();
  #passing = false;
  now = () => this.ms;
  monotonicMs = () => this.ms;

  sleep = async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { dueMs: this.ms + ms, wake: resolve };
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    this.#sleepers.add(sleeper);
    void this.#pass();
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#sleepers.delete(sleeper);
    }
  };

  async #pass(): Promise<void> {
    if (this.#passing) return;
    this.#passing = true;
    while (this.#sleepers.size > 0) {
      await settle();
      const [first] = [...this.#sleepers].toSorted((one, other) => one.dueMs - other.dueMs);
      if (first === undefined) continue;
      this.ms = Math.max(this.ms, first.dueMs);
      first.wake();
      await settle();
    }
    this.#passing = false;
  }
}

/** A simulated Windows host with its Node: everything the agent reaches through its ports, without waits and with a log of calls. */
export class ModelHost implements AgentPorts, HostPorts {
  readonly state: HostState = {
    ...freshState(
      { hostName: 'win-1', address: '10.0.0.5', dnsSuffix: '', id: 'boot' },
      structuredClone(defaultTraits),
    ),
    adapters: [adapter('Ethernet', ['10.0.0.5/24', 'fe80::5/64'], 25)],
    routes: [{ destination: '0.0.0.0/0', gateway: '10.0.0.1', interfaceIndex: 7, metric: 0 }],
    variables: {},
    variablesAtBoot: {},
  };
  readonly services = new ModelServices();
  readonly processes = this.services;
  readonly clock = new ModelClock();
  readonly files = new ModelFiles(
    call => this.#note(call),
    call => this.before(call),
  );
  readonly fileTexts = this.files.texts;
  node: ModelNode | undefined = { name: 'node', annotations: {}, ready: true };
  report: AgentReport = emptyReport;
  configMaps: { name: string; created: string; data: Record<string, string> }[] = [];
  /** Output of PowerShell texts; any other text fails. */
  scriptOutputs: Record<string, string> = {};
  hostValues: Partial<Record<HostVariableSource, string>> = {};
  /** Whether a preparation changes a file. */
  prepared: (preparation: Preparation) => boolean = () => false;
  /** Whether a preparation has excluded something that `revertPreparations` includes again. */
  excluded = false;
  isAdministrator = true;
  listeningPorts = [22];
  /** Programs without a service, such as `msmpeng`. */
  readonly runningPrograms = new Set<string>();
  /** Queries of the networks until the overlay appears; undefined when it never does. */
  overlayAfter: number | undefined;
  /** Every change, in order; those of services are in their own list. */
  readonly log: string[] = [];
  /** Throws to make a call fail, or to end the agent at that point. */
  before: (call: string) => void = () => undefined;
  /** What a boot makes of the state. */
  boot = (): void => bootState(this.state);

  readonly #ports = hostPorts({
    state: this.state,
    files: this.files,
    services: this.services,
    processes: this.services.processes,
    delays: { now: () => 0, monotonicMs: () => 0, sleep: async (_, signal) => signal?.throwIfAborted() },
    times: { featureMs: 0, scriptMs: 0 },
    busyPorts: () => [],
    reboot: () => undefined,
  });

  readonly system = beforeCalls(
    Object.assign(this.#ports.system, {
      isAdministrator: async () => this.isAdministrator,
      listeningPorts: async () => this.listeningPorts,
      isProcessRunning: async (name: string) => this.runningPrograms.has(name.toLowerCase()),
    }),
    call => this.#note(call),
    {
      enableContainers: () => (this.state.containersFeature === 'enabled' ? undefined : 'enable containers'),
      rename: name => `rename ${name}`,
      reboot: delaySeconds => `reboot in ${delaySeconds} s`,
    },
  );

  readonly network = beforeCalls(this.#ports.network, call => this.#note(call), {
    networks: () => this.#addOverlay(),
    createEndpoint: (_, name) => `create endpoint ${name}`,
    attachToHost: id => `attach ${id}`,
    removeEndpoint: id => (this.state.endpoints.some(each => each.id === id) ? `remove endpoint ${id}` : undefined),
    removeNetwork: id => (this.state.networks.some(each => each.id === id) ? `remove network ${id}` : undefined),
  });

  readonly locks = this.#ports.locks;
  readonly routes = beforeCalls(this.#ports.routes, call => this.#note(call), {
    add: ({ destination, gateway }) => `add route ${destination} over ${gateway}`,
    remove: ({ destination, gateway }) => `remove route ${destination} over ${gateway}`,
  });

  readonly environment = beforeCalls(this.#ports.environment, call => this.#note(call), {
    setMachine: name => `set ${name}`,
    removeMachine: name => `unset ${name}`,
  });

  readonly certificates = beforeCalls(this.#ports.certificates, call => this.#note(call), {
    add: () => 'add certificate',
    remove: () => 'remove certificate',
  });

  readonly scripts = {
    run: async (text: string): Promise<string> => {
      this.#note(`run ${text}`);
      const output = this.scriptOutputs[text];
      if (output === undefined) throw new Error(`script failed: ${text}`);
      return output;
    },
  };

  readonly host = {
    resolve: async (source: HostVariableSource): Promise<string> => {
      const value = this.hostValues[source];
      if (value === undefined) throw new Error(`${source} is out of reach`);
      return value;
    },
    prepare: async (preparation: Preparation): Promise<boolean> => {
      this.#note(`prepare ${preparation.kind}`);
      return this.prepared(preparation);
    },
    revertPreparations: async (): Promise<void> => {
      if (this.excluded) this.#note('take back');
      this.excluded = false;
    },
    bootId: () => this.system.bootId(),
  };

  readonly cluster: Cluster = {
    node: async () => this.node && nodeObject(this.node),
    readReport: async () => ({ ...this.report }),
    report: async change => {
      const confirmedBoot = change.version === undefined ? this.report.confirmedBoot : this.bootId;
      const after = { ...this.report, ...change, bootId: this.bootId, confirmedBoot };
      for (const name of ['version', 'rebootRequired', 'services', 'variablesBoot'] as const) {
        if (after[name] !== this.report[name]) this.#note(`report ${name}=${after[name]}`);
      }
      this.report = after;
    },
    confirm: async () => this.#note('confirm report'),
    servicesConfigMap: async version =>
      this.configMaps.filter(({ name }) => name === `windows-services-${version}`).map(configMapObject)[0],
  };
  readonly manifests: ManifestSource = this.cluster;

  get bootId(): string {
    return bootIdOf(this.state);
  }

  /** DER of the root certificates. */
  get roots(): Uint8Array[] {
    return [...this.state.certificates.values()];
  }

  addRoots(...certificates: readonly Uint8Array[]): void {
    for (const der of certificates) this.state.certificates.set(sha256(der), der);
  }

  async reboot(): Promise<void> {
    this.boot();
    this.locks.clear();
    this.services.reboot();
  }

  waiting(limitMs = 10_000): Waiting {
    return { clock: this.clock, signal: new AbortController().signal, patience: { everyMs: 1000, limitMs } };
  }

  #addOverlay(): undefined {
    if (this.overlayAfter === undefined || this.overlayAfter-- > 0) return;
    this.overlayAfter = undefined;
    this.state.networks.push(overlayNetwork());
  }

  #note(call: string): void {
    this.before(call);
    this.log.push(call);
  }
}

function configMapObject({ name, created, data }: ModelHost['configMaps'][number]): unknown {
  const metadata = { name, namespace: 'ns', creationTimestamp: created };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

function nodeObject({ name, annotations, ready }: ModelNode): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations: { ...annotations } },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

export function adapter(name: string, addresses: string[], defaultRouteMetric?: number): Adapter {
  return { name, index: 7, mac: '00-15-5d-aa-bb-cc', addresses, isUp: true, defaultRouteMetric };
}

export function overlayNetwork(over: Partial<HnsNetwork> = {}): HnsNetwork {
  return { id: 'net-1', name: hnsNetwork.overlay, subnets: ['10.132.1.0/24'], managementIp: '10.0.0.5', ...over };
}
