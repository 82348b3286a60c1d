import type { Clock } from '../../src/base/clock.ts';
import { sha256 } from '../../src/base/sha256.ts';
import type { CertStore, Cluster, Environment, Files, Waiting } from '../../src/agent/ports.ts';
import type { AgentPorts } from '../../src/agent/reconcile/carry-out.ts';
import type { HostVariableSource, Preparation } from '../../src/contract/services/manifest.ts';
import { ModelServices } from './model-services.ts';

export interface ModelNode {
  name: string;
  annotations: Record<string, string>;
  ready: boolean;
}

/** Time that passes only when somebody sleeps. */
export class ModelClock implements Clock {
  ms = 0;
  now = () => this.ms;
  monotonicMs = () => this.ms;
  sleep = async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    this.ms += ms;
  };
}

/** A Windows host with its Node in memory: everything the agent reaches through its ports. */
export class ModelHost implements AgentPorts {
  readonly services = new ModelServices();
  readonly processes = this.services;
  readonly clock = new ModelClock();
  readonly fileTexts = new Map<string, string>();
  readonly store: Uint8Array[] = [];
  machine: Record<string, string> = {};
  process: Record<string, string> = {};
  bootId = 'boot-1';
  node: ModelNode | undefined = { name: 'node', annotations: {}, ready: true };
  configMaps: { name: string; created: string; data: Record<string, string> }[] = [];
  /** Output of PowerShell texts; any other text fails. */
  scriptOutputs: Record<string, string> = {};
  hostValues: Partial<Record<HostVariableSource, string>> = {};
  /** Whether a preparation changes a file. */
  prepared: (preparation: Preparation) => boolean = () => false;
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

  readonly files: Files = {
    read: async path => this.fileTexts.get(path),
    write: async (path, text) => {
      this.#note(`write ${path}`);
      this.fileTexts.set(path, text);
    },
    remove: async path => void this.fileTexts.delete(path),
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
    bootId: async () => this.bootId,
  };

  readonly cluster: Cluster = {
    node: async () => this.node && nodeObject(this.node),
    annotateNode: async annotations => {
      for (const [name, value] of Object.entries(annotations)) {
        this.#note(`annotate ${name.split('/')[1]}=${value}`);
        if (this.node === undefined) throw new Error('the Node does not exist');
        if (value === null) delete this.node.annotations[name];
        else this.node.annotations[name] = value;
      }
    },
    servicesConfigMaps: async () =>
      this.configMaps.map(({ name, created, data }) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'ns', creationTimestamp: created },
        data,
      })),
  };

  /** A reboot: processes see the machine's variables, nothing but automatic services runs. */
  async reboot(): Promise<void> {
    this.bootId = `boot-${Number(this.bootId.slice(5)) + 1}`;
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

function nodeObject({ name, annotations, ready }: ModelNode): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations: { ...annotations } },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}
