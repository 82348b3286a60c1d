import type { Waiting } from '../../src/base/waiting/poll.ts';
import type { Clock } from '../../src/base/clock.ts';
import { sha256 } from '../../src/base/sha256.ts';
import type { CertStore, Cluster, Environment, HostPorts, ManifestSource } from '../../src/agent/ports.ts';
import type { AgentPorts } from '../../src/agent/reconcile/reconcile-host.ts';
import { type AgentReport, emptyReport } from '../../src/contract/agent-report.ts';
import type { HostVariableSource, Preparation } from '../../src/contract/services/manifest.ts';
import { ModelFiles } from './model-files.ts';
import { settle } from './manual-clock.ts';
import { ModelServices } from './model-services.ts';
import { ModelNetwork, ModelSystem } from './model-system.ts';

export interface ModelNode {
  name: string;
  annotations: Record<string, string>;
  ready: boolean;
}

/** Time that passes only when everybody sleeps: whoever is due first is woken once nothing else is going on. */
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

/** A Windows host with its Node in memory: everything the agent reaches through its ports. */
export class ModelHost implements AgentPorts, HostPorts {
  readonly services = new ModelServices();
  readonly processes = this.services;
  readonly clock = new ModelClock();
  readonly system = new ModelSystem(call => this.#note(call));
  readonly network = new ModelNetwork(this.system, call => this.#note(call));
  readonly files = new ModelFiles(
    call => this.#note(call),
    call => this.before(call),
  );
  readonly fileTexts = this.files.texts;
  readonly store: Uint8Array[] = [];
  machine: Record<string, string> = {};
  process: Record<string, string> = {};
  node: ModelNode | undefined = { name: 'node', annotations: {}, ready: true };
  report: AgentReport = emptyReport;
  configMaps: { name: string; created: string; data: Record<string, string> }[] = [];
  /** Output of PowerShell texts; any other text fails. */
  scriptOutputs: Record<string, string> = {};
  hostValues: Partial<Record<HostVariableSource, string>> = {};
  /** Whether a preparation changes a file. */
  prepared: (preparation: Preparation) => boolean = () => false;
  /** Whether a preparation has left something to take back. */
  excluded = false;
  /** Everything changed or run, in order; services in their own list. */
  readonly log: string[] = [];
  /** Throws to make a call fail, or to end the agent at that point. */
  before: (call: string) => void = () => undefined;

  readonly environment: Environment = {
    machine: async () => ({ ...this.machine }),
    setMachine: async (name, value) => {
      this.#note(`set ${name}`);
      this.machine[name] = value;
    },
    removeMachine: async name => {
      this.#note(`unset ${name}`);
      this.machine = Object.fromEntries(Object.entries(this.machine).filter(([key]) => key !== name));
    },
    process: () => this.process,
  };

  readonly certificates: CertStore = {
    list: async () => this.store.map(der => sha256(der)),
    add: async der => {
      this.#note('add certificate');
      this.store.push(der);
    },
    remove: async hash => {
      this.#note('remove certificate');
      const at = this.store.findIndex(der => sha256(der) === hash);
      if (at !== -1) this.store.splice(at, 1);
    },
  };

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
    takeBack: async (): Promise<void> => {
      if (this.excluded) this.#note('take back');
      this.excluded = false;
    },
    bootId: () => this.system.bootId(),
  };

  readonly cluster: Cluster = {
    node: async () => this.node && nodeObject(this.node),
    readReport: async () => ({ ...this.report }),
    report: async change => {
      const after = { ...this.report, ...change, bootId: this.bootId };
      for (const name of ['version', 'rebootRequired'] as const) {
        if (after[name] !== this.report[name]) this.#note(`report ${name}=${after[name]}`);
      }
      this.report = after;
    },
    servicesConfigMap: async version =>
      this.configMaps.filter(({ name }) => name === `windows-services-${version}`).map(configMapObject)[0],
  };
  readonly manifests: ManifestSource = this.cluster;

  get bootId(): string {
    return `boot-${this.system.bootNumber}`;
  }

  /** A reboot: processes see the machine's variables, nothing but automatic services runs. */
  async reboot(): Promise<void> {
    this.system.boot();
    this.process = { ...this.machine };
    for (const { name, config } of await this.services.list()) {
      this.services.install(name, config, config.startType === 'automatic' ? 'running' : 'stopped');
    }
  }

  waiting(limitMs = 10_000): Waiting {
    return { clock: this.clock, signal: new AbortController().signal, patience: { everyMs: 1000, limitMs } };
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
