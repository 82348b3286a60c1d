import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { Secret } from '../../../src/base/secret.ts';
import { type WindowsInstance, windowsInstances } from '../../../src/cluster/windows-instance-resource.ts';
import {
  type AgentReport,
  emptyReport,
  printReport,
  reportName,
  type ReportEvent,
} from '../../../src/contract/agent-report.ts';
import { nodeLabel } from '../../../src/contract/names.ts';
import { file } from '../../../src/contract/paths.ts';
import { noReservations } from '../../../src/contract/reserved.ts';
import type {
  InstanceReboot,
  InstanceRecord,
  WindowsInstanceSpec,
} from '../../../src/contract/windows-instance/resource.ts';
import { parsePrivateKey } from '../../../src/host/keys/private-key.ts';
import { MemoryMetrics } from '../../../src/kube/controller/metrics.ts';
import { type ConfigMap, type Node, nodes } from '../../../src/kube/resources.ts';
import { BundleHashCache } from '../../../src/node/bundle-hash-cache.ts';
import { createClusterNodes } from '../../../src/node/lifecycle/cluster-nodes.ts';
import type { DialTcp } from '../../../src/host/dial-tcp.ts';
import { ConfigureJourney } from '../../../src/node/lifecycle/configure/journey.ts';
import { JourneyRecord } from '../../../src/node/lifecycle/journey-record.ts';
import { NodeNames } from '../../../src/node/lifecycle/node-names.ts';
import { unlimitedGrants } from '../unlimited-grants.ts';
import { Slots } from '../../../src/base/waiting/slots.ts';
import { runSteps, type Step } from '../../../src/node/lifecycle/step.ts';
import { onlyLeader } from '../../../src/kube/leader/leader.ts';
import type { HostInputs, LifecycleDeps } from '../../../src/node/lifecycle/deps.ts';
import { MemoryApi } from '../memory-api.ts';
import { MemoryInformer } from '../memory-informer.ts';
import { recordedLog } from '../recorded-log.ts';
import { LabHost, newKey } from './lab-host.ts';
import { memoryPayload } from './memory-payload.ts';

export interface BenchOptions {
  spec?: Partial<WindowsInstanceSpec>;
  awaitsNode?: boolean;
  reboot?: InstanceReboot | undefined;
  /** What earlier journeys have recorded. */
  record?: InstanceRecord;
  /** That of an earlier journey. */
  host?: LabHost;
  inputs?: Partial<HostInputs>;
  names?: NodeNames;
  /** Accepts every connection by default. */
  dialTcp?: DialTcp;
}

/** One journey without a cluster, of which single steps can be taken. */
export class JourneyBench {
  readonly host: LabHost;
  readonly api = new MemoryApi();
  readonly nodes = new MemoryInformer<Node>(nodes);
  readonly reports = new MemoryInformer<ConfigMap>();
  readonly logged = recordedLog();
  readonly metrics = new MemoryMetrics();
  /** Speed of the clock of the journey. */
  pace = 200;
  readonly clock: Clock = {
    now: () => systemClock.now(),
    monotonicMs: () => systemClock.monotonicMs() * this.pace,
    sleep: (ms, signal) => systemClock.sleep(ms / this.pace, signal),
  };
  readonly journey: ConfigureJourney;
  readonly stop = new AbortController();
  /** Saved reboots, in order. */
  readonly reboots: (InstanceReboot | undefined)[] = [];
  /** Saved records, in order. */
  readonly records: InstanceRecord[] = [];
  readonly drained: string[] = [];
  readonly #key = parsePrivateKey(newKey());

  constructor(options: BenchOptions = {}) {
    this.host = options.host ?? new LabHost('10.0.0.5');
    const { record = {}, reboot, awaitsNode = false } = options;
    const timeline = awaitsNode ? [{ name: 'bootstrap', started: '', attempts: 1 }] : [];
    const instance: WindowsInstance = {
      metadata: { name: 'win-5', namespace: 'wmco', generation: 1, uid: 'uid-win-5' },
      spec: { address: this.host.address, username: 'Administrator', ...options.spec },
      status: { ...record, ...(reboot && { reboot }), timeline, phase: 'Configuring', observedGeneration: 1 },
    };
    this.api.put(windowsInstances, instance);
    const world = this.#world(options);
    this.journey = new ConfigureJourney(instance, world, this.#record(instance, world));
  }

  take(...steps: Step<ConfigureJourney>[]): Promise<void> {
    const { clock, metrics, stop, journey } = this;
    const { journal } = journey.record;
    return runSteps(steps, journey, { journal, clock, metrics, log: this.logged.log, signal: stop.signal });
  }

  /** Adds a Node as the watch does. */
  putNode(over: Partial<Node> = {}): void {
    const node = {
      metadata: { name: 'win-5', labels: { [nodeLabel.os]: 'windows' } },
      status: { addresses: [{ type: 'InternalIP', address: this.host.address }] },
      ...over,
    };
    this.api.put(nodes, node);
    this.nodes.put(node);
  }

  /** Adds a report with one event as the watch does. */
  putReportEvent(event: Partial<ReportEvent>, about: Partial<AgentReport> = {}): void {
    const events = [{ type: 'Warning', reason: 'x', message: '', time: '2026-03-01T12:00:00Z', ...event } as const];
    const data = printReport({ ...emptyReport, ...about, events });
    this.reports.put({ metadata: { name: reportName('win-5'), namespace: 'wmco' }, data });
  }

  /** A real record that also lists its changes. */
  #record(instance: WindowsInstance, { nodes: cluster }: LifecycleDeps): JourneyRecord {
    const { api: client, clock, reboots, records } = this;
    class ListedRecord extends JourneyRecord {
      override saveReboot(reboot: InstanceReboot | undefined, change?: InstanceRecord): Promise<void> {
        reboots.push(reboot);
        return super.saveReboot(reboot, change);
      }
      override save(...saved: Parameters<JourneyRecord['save']>): Promise<void> {
        const [change] = saved;
        if (Object.keys(change).length > 0) records.push(change);
        return super.save(...saved);
      }
    }
    return new ListedRecord(instance, { client, clock, log: this.logged.log, nodes: cluster, phase: 'Configuring' });
  }

  #world(options: BenchOptions): LifecycleDeps {
    const { api, clock, metrics, drained } = this;
    const content = new Secret('{}');
    const facts = { version: 'v2', reserved: noReservations, platform: 'None', apiServerUrl: '', ...options.inputs };
    return {
      leader: onlyLeader,
      connect: this.host.connect,
      dialTcp: options.dialTcp ?? (async () => undefined),
      resolver: { addresses: async name => (name === 'win.example.com' ? ['fd00::1', this.host.address] : []) },
      inputs: {
        loadKeys: async () => [this.#key],
        readFacts: () => facts,
        prepareInputs: async () => ({
          ...facts,
          certificateLifetime: '24h',
          tokens: [{ id: 'JTI=one', use: 'kubelet', expires: '2999-01-01T00:00:00Z' }],
          namespace: 'wmco',
          vxlanPort: '',
          files: {
            files: [{ path: file.kubeletConfig, content, sensitive: false, use: 'start' }],
            ownedDirectories: [],
          },
          settings: {
            liveHash: 'live-1',
            services: `v2:${'0'.repeat(32)}:${'0'.repeat(32)}`,
            mirrors: [],
            hasProxy: false,
          },
          publicKeyHash: 'hash',
          sealUsername: user => `sealed ${user}`,
          ...options.inputs,
        }),
      },
      payload: memoryPayload(),
      nodes: createClusterNodes({
        client: api,
        nodes: this.nodes,
        configMaps: this.reports,
        namespace: 'wmco',
        drainer: {
          drain: async node => {
            drained.push(node);
            return { gone: [], left: [], blocked: [] };
          },
        },
      }),
      grants: unlimitedGrants,
      hostKeys: {
        find: async () => undefined,
        forget: async () => undefined,
      },
      slots: { joins: new Slots(20), uploads: new Slots(5) },
      bundleHashes: new BundleHashCache(),
      names: options.names ?? new NodeNames({ holders: () => [], named: () => [], find: () => undefined }),
      clock,
      log: this.logged.log,
      metrics,
    };
  }
}
