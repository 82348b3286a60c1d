import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { InstanceObject } from '../../../src/cluster/windows-instances.ts';
import { nodeLabel } from '../../../src/contract/names.ts';
import { file } from '../../../src/contract/paths.ts';
import type { InstanceReboot, WindowsInstanceSpec } from '../../../src/contract/windows-instance/resource.ts';
import { parsePrivateKey } from '../../../src/host/keys/private-key.ts';
import { MemoryMetrics } from '../../../src/kube/controller/metrics.ts';
import type { Informer } from '../../../src/kube/informer/informer.ts';
import { type KubeEvent, type Node, nodes } from '../../../src/kube/resources.ts';
import { BundleSeals } from '../../../src/node/bundle-seals.ts';
import { createClusterNodes } from '../../../src/node/lifecycle/cluster-nodes.ts';
import { ConfigureJourney } from '../../../src/node/lifecycle/configure/journey.ts';
import { Journal } from '../../../src/node/lifecycle/journal.ts';
import { Slots } from '../../../src/node/lifecycle/slots.ts';
import { runSteps, type Step } from '../../../src/node/lifecycle/step.ts';
import type { LifecycleWorld } from '../../../src/node/lifecycle/world.ts';
import { MemoryApi } from '../memory-api.ts';
import { MemorySource } from '../memory-source.ts';
import { recordedLog } from '../recorded-log.ts';
import { LabHost, newKey } from './lab-host.ts';
import { memoryPayload } from './memory-payload.ts';

export interface BenchOptions {
  spec?: Partial<WindowsInstanceSpec>;
  awaitsNode?: boolean;
  reboot?: InstanceReboot | undefined;
  /** That of an earlier journey. */
  host?: LabHost;
}

/** One journey without a cluster, of which single steps can be taken. */
export class JourneyBench {
  readonly host: LabHost;
  readonly api = new MemoryApi();
  readonly nodes = new MemorySource<Node>();
  readonly remarks = new MemorySource<KubeEvent>();
  readonly logged = recordedLog();
  readonly metrics = new MemoryMetrics();
  /** How much faster than the test's own the time of the journey goes by from the next wait on. */
  pace = 200;
  readonly clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => systemClock.sleep(ms / this.pace, signal),
  };
  readonly journal: Journal;
  readonly journey: ConfigureJourney;
  readonly stop = new AbortController();
  /** What was to be written down, in order. */
  readonly reboots: (InstanceReboot | undefined)[] = [];
  readonly drained: string[] = [];
  readonly #key = parsePrivateKey(newKey());

  constructor(options: BenchOptions = {}) {
    this.host = options.host ?? new LabHost('10.0.0.5');
    this.journal = new Journal([], this.clock, () => undefined);
    const instance: InstanceObject = {
      metadata: { name: 'win-5', namespace: 'wmco', generation: 1 },
      spec: { address: this.host.address, username: 'Administrator', ...options.spec },
    };
    const { reboots } = this;
    let { reboot } = options;
    const memory = {
      get reboot() {
        return reboot;
      },
      rememberReboot: async (next: InstanceReboot | undefined) => {
        reboot = next;
        reboots.push(next);
      },
      awaitsNode: options.awaitsNode ?? false,
    };
    this.journey = new ConfigureJourney(instance, this.#world(), memory);
  }

  take(...steps: Step<ConfigureJourney>[]): Promise<void> {
    const { journal, clock, metrics, stop, journey } = this;
    return runSteps(steps, journey, { journal, clock, metrics, log: this.logged.log, signal: stop.signal });
  }

  /** What the watch on Nodes would bring. */
  putNode(over: Partial<Node> = {}): void {
    const node = {
      metadata: { name: 'win-5', labels: { [nodeLabel.os]: 'windows' } },
      status: { addresses: [{ type: 'InternalIP', address: this.host.address }] },
      ...over,
    };
    this.api.put(nodes, node);
    this.nodes.put(node);
  }

  #world(): LifecycleWorld {
    const { api, clock, metrics, drained } = this;
    const content = new Secret('{}');
    return {
      connect: this.host.connect,
      resolver: { addresses: async name => (name === 'win.example.com' ? ['fd00::1', this.host.address] : []) },
      material: {
        keysFor: async () => [this.#key],
        materialFor: async () => ({
          version: 'v2',
          namespace: 'wmco',
          platform: 'None',
          apiServerUrl: '',
          files: { files: [{ path: file.kubeletConfig, content, sensitive: false }], ownedDirectories: [], hash: '' },
          publicKeyHash: 'hash',
          sealUsername: user => `sealed ${user}`,
        }),
      },
      payload: memoryPayload(),
      nodes: createClusterNodes({
        client: api,
        nodes: this.nodes as unknown as Informer<Node>,
        remarks: this.remarks as unknown as Informer<KubeEvent>,
        drainer: {
          drain: async node => {
            drained.push(node);
            return { gone: [], left: [], blocked: [] };
          },
        },
      }),
      hostKeys: {
        find: async () => undefined,
        remember: async () => undefined,
        forget: async () => undefined,
      },
      slots: { joins: new Slots(20), uploads: new Slots(5) },
      seals: new BundleSeals(),
      clock,
      log: this.logged.log,
      metrics,
    };
  }
}
