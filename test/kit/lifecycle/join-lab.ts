import { onTestFinished } from 'vitest';
import { systemClock, timestamp } from '../../../src/base/clock.ts';
import type { Condition } from '../../../src/base/condition.ts';
import { slimClient } from '../../../src/cluster/slim.ts';
import { type WindowsInstance, windowsInstances } from '../../../src/cluster/windows-instance-resource.ts';
import { parseReport, reportName } from '../../../src/contract/agent-report.ts';
import { agentName, configMapName, namespaceName, nodeAnnotation, nodeLabel } from '../../../src/contract/names.ts';
import { dir, file } from '../../../src/contract/paths.ts';
import { noReservations } from '../../../src/contract/reserved.ts';
import { servicesConfigMap } from '../../../src/contract/services/print.ts';
import { windowsInstanceCrd } from '../../../src/contract/windows-instance/crd.ts';
import {
  instanceCondition,
  type WindowsInstanceSpec,
  type WindowsInstanceStatus,
} from '../../../src/contract/windows-instance/resource.ts';
import { agentReportsController } from '../../../src/controllers/agent-reports/controller.ts';
import { type LifecycleParts, lifecycleController } from '../../../src/controllers/lifecycle/controller.ts';
import { instancesController } from '../../../src/controllers/instances/controller.ts';
import { Installation } from '../../../src/cluster/installation.ts';
import type { Connect, HostConnection } from '../../../src/host/host.ts';
import { parsePrivateKey } from '../../../src/host/keys/private-key.ts';
import { publicKeyHash } from '../../../src/host/keys/public-key.ts';
import { isNotFound } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import { loadKubeconfig } from '../../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../../src/kube/controller/metrics.ts';
import { EventRecorder } from '../../../src/kube/events/events.ts';
import { createClient } from '../../../src/kube/http-client.ts';
import { Informers } from '../../../src/kube/informer/informers.ts';
import {
  type ConfigMap,
  type CustomResourceDefinition,
  configMaps,
  customResourceDefinitions,
  events,
  type Node,
  namespaces,
  nodes,
} from '../../../src/kube/resources.ts';
import type { HostInputs } from '../../../src/node/lifecycle/deps.ts';
import { startEmbeddedCluster } from '../../../src/sandbox/embedded-cluster.ts';
import { containerd, kubelet, kubeProxy } from '../agent-bench.ts';
import { fastClock } from '../fast-clock.ts';
import { recordedLog } from '../recorded-log.ts';
import { until } from '../until.ts';
import { hostSettings, type LabBehavior, labFile, labFiles, type LabSettings } from './lab-settings.ts';
import { LabHost, newKey, unreachable } from './lab-host.ts';
import { memoryPayload } from './memory-payload.ts';
import { mortal } from './mortal-client.ts';

export const namespace = 'wmco';
export const version = '11.0.0-abc1234';
export const address = '10.0.0.5';

export interface LabOperator {
  /** Ends in good order. */
  stop(): Promise<void>;
  /** Ends like a killed process: no more writes, all connections break. */
  kill(): Promise<void>;
}

/** A cluster in memory with Windows hosts, and a lifecycle controller that can be started again and again. */
export class JoinLab {
  readonly client: Client;
  readonly url: string;
  readonly hosts = new Map<string, LabHost>();
  readonly logged = recordedLog();
  readonly metrics = new MemoryMetrics();
  behavior: LabBehavior = {};
  privateKey = parsePrivateKey(newKey());
  /** Whether hosts and Nodes are told of another private key. */
  followsKey = false;
  /** Changes the default inputs of a host. */
  inputs: (defaults: HostInputs) => HostInputs = defaults => defaults;
  tokens = 0;
  /** Settings of the cluster that hosts follow; none by default. */
  settings: LabSettings | undefined;
  readonly #settingsListeners = new Set<() => void>();
  /** Whether operators create instances of the entries of windows-instances. */
  hasEntries = false;
  /** Called for each connection of an operator that is alive. */
  onConnect: (address: string, connection: HostConnection) => void = () => undefined;
  readonly #kubeconfig: string;
  readonly #looking = new Map<LabHost, Promise<void>>();
  /** Process of the kubelet that has registered: one that runs does not register again. */
  readonly #registered = new Map<LabHost, number>();

  constructor(client: Client, url: string, kubeconfig: string) {
    this.client = client;
    this.url = url;
    this.#kubeconfig = kubeconfig;
  }

  host(at = address): LabHost {
    const known = this.hosts.get(at);
    if (known !== undefined) return known;
    const host = new LabHost(at);
    host.onChange = () => this.look(host);
    this.hosts.set(at, host);
    return host;
  }

  readonly connect: Connect = (target, options) => {
    const host = this.hosts.get(target.address);
    return host === undefined ? Promise.reject(unreachable(target.address)) : host.connect(target, options);
  };

  async add(spec: Partial<WindowsInstanceSpec> = {}, name = 'win-5'): Promise<WindowsInstance> {
    return this.client.create(windowsInstances, {
      metadata: { name, namespace },
      spec: { address, username: 'Administrator', source: { kind: 'ConfigMap', name: address }, ...spec },
    });
  }

  instance(name = 'win-5'): Promise<WindowsInstance> {
    return this.client.get(windowsInstances, name, { namespace });
  }

  async node(name = 'win-5'): Promise<Node | undefined> {
    return this.client.get(nodes, name).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  /** The first status that is so: what is read after it may be of the next attempt. */
  async statusWhen(isSo: (status: WindowsInstanceStatus) => boolean, name?: string): Promise<WindowsInstanceStatus> {
    let found: WindowsInstanceStatus | undefined;
    await until(async () => {
      const { status = {} } = await this.instance(name);
      if (isSo(status)) found ??= status;
      return found;
    });
    return found ?? {};
  }

  /** Until the host has joined. */
  ready(name?: string): Promise<WindowsInstanceStatus> {
    return this.statusWhen(({ phase }) => phase === 'Ready', name);
  }

  /** Waits until an attempt has failed for this reason; gives its message. */
  async failed(code: string, name?: string): Promise<string> {
    const isSo = ({ type, reason }: Condition) => type === instanceCondition.configured && reason === code;
    const { conditions } = await this.statusWhen(
      ({ phase, conditions: all }) => phase === 'Failed' && all?.some(isSo) === true,
      name,
    );
    return conditions?.find(isSo)?.message ?? '';
  }

  async patchSpec(spec: Partial<WindowsInstanceSpec>, name = 'win-5'): Promise<void> {
    await this.client.patch(windowsInstances, name, { type: 'merge', body: { spec } }, { namespace });
  }

  async patchNode(body: object, name = 'win-5'): Promise<void> {
    await this.client.patch(nodes, name, { type: 'merge', body });
  }

  /** Reason and message of events, by the kind and name of what they are about. */
  async events(): Promise<string[]> {
    const { items } = await this.client.list(events, { namespace: '' });
    return items
      .filter(({ source }) => source?.component === 'operator')
      .map(
        ({ involvedObject, reason, message }) => `${involvedObject.kind} ${involvedObject.name}: ${reason}: ${message}`,
      );
  }

  /** One process of the operator. */
  start(over: Partial<LifecycleParts> = {}): LabOperator {
    const stop = new AbortController();
    const death = new AbortController();
    const client = mortal(over.client ?? this.client, death.signal);
    const [clock, { log }] = [over.clock ?? fastClock(20), this.logged];
    const informers = new Informers({ client: slimClient(client), log });
    const recorder = new EventRecorder({ client, component: 'operator', flushMs: 200 });
    const connect: Connect = async (target, options) => {
      death.signal.throwIfAborted();
      const connection = await (over.connect ?? this.connect)(target, options);
      death.signal.addEventListener('abort', () => void connection.close(), { once: true });
      if (death.signal.aborted) await connection.close();
      else this.onConnect(target.address, connection);
      return connection;
    };
    const { version: own = version } = over;
    const shared = { informers, recorder, namespace, version: own, clock, log, metrics: this.metrics };
    const mirror = agentReportsController({ ...shared, client, installation: { problem: async () => undefined } });
    const resolver = { addresses: async (name: string) => (name === 'win.example.com' ? [address] : []) };
    const installation = new Installation(client, namespace);
    const entries = this.hasEntries ? [instancesController({ ...shared, client, resolver, installation })] : [];
    const controller = lifecycleController({
      ...shared,
      resolver,
      inputs: {
        loadKeys: async () => [this.privateKey],
        ...(this.followsKey && { currentKeyHash: () => publicKeyHash(this.privateKey.publicKey) }),
        readFacts: () => this.inputs({ ...this.#defaultInputs(), version: own }),
        prepareInputs: async () => {
          this.tokens += 1;
          return this.inputs({ ...this.#defaultInputs(), version: own });
        },
        desiredSettings: () => this.settings && hostSettings(this.settings, own),
        onSettingsChange: listener => {
          this.#settingsListeners.add(listener);
          return () => void this.#settingsListeners.delete(listener);
        },
      },
      dialTcp: async () => undefined,
      payload: memoryPayload(),
      ...over,
      client,
      connect,
    });
    const runs = [
      informers.run(stop.signal, () => undefined),
      recorder.run(stop.signal, () => undefined),
      controller.run(stop.signal, () => undefined),
      mirror.run(stop.signal, () => undefined),
      ...entries.map(one => one.run(stop.signal, () => undefined)),
    ];
    const end = async () => {
      stop.abort(new Error('stop'));
      await Promise.allSettled(runs);
    };
    onTestFinished(end);
    return {
      stop: end,
      kill: async () => {
        death.abort(new Error('killed'));
        await end();
      },
    };
  }

  /** Settings of the cluster change, and operators notice. */
  changeSettings(change: Partial<LabSettings>): void {
    this.settings = { mirrors: {}, kubelet: '{}', services: '0', ...this.settings, ...change };
    for (const listener of this.#settingsListeners) listener();
  }

  /** The kubelet restarts, and registers its Node if that is gone. */
  restartKubelet(host: LabHost): void {
    this.#registered.delete(host);
    this.look(host);
  }

  /** Lets kubelets and agents do what they do, on one host or on all. */
  look(host?: LabHost): void {
    for (const one of host === undefined ? this.hosts.values() : [host]) {
      const before = this.#looking.get(one) ?? Promise.resolve();
      const now = before.then(() => this.#lookAt(one)).catch(() => undefined);
      this.#looking.set(one, now);
    }
  }

  async #lookAt(host: LabHost): Promise<void> {
    const services = await host.model.services.list();
    const running = (name: string) => services.find(one => one.name === name && one.state === 'running');
    const node = host.model.state.hostName;
    const pid = running('kubelet')?.pid;
    if (pid !== undefined && !this.behavior.noNode && pid !== this.#registered.get(host)) {
      if ((await this.node(node)) === undefined) await this.#register(host);
      this.#registered.set(host, pid);
    }
    if (running(agentName)) await this.#actAsAgent(node, host);
  }

  async #register({ model, address: at }: LabHost): Promise<void> {
    const labels = { [nodeLabel.os]: 'windows', [nodeLabel.osId]: 'Windows' };
    const made = await this.client.create<Node>(nodes, { metadata: { name: model.state.hostName, labels } });
    const status = {
      addresses: [{ type: 'InternalIP', address: at }],
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    await this.client.replace(nodes, { ...made, status }, { subresource: 'status' });
  }

  /** Writes only its report, as the agent does. */
  async #actAsAgent(name: string, host: LabHost): Promise<void> {
    const wanted = await this.#versionFor(name, host);
    const report = await this.client.get(configMaps, reportName(name), { namespace });
    const { version: reported, rebootRequired, bootId, confirmedBoot, services: applied } = parseReport(report.data);
    const services = (await this.node(name))?.metadata.annotations?.[nodeAnnotation.desiredServices];
    const bootID = host.model.bootId;
    const isWaiting = rebootRequired && ['', bootID].includes(bootId);
    if (wanted === undefined || isWaiting) return;
    host.agentBoot ??= host.boots;
    const isBefore = this.behavior.settingsReboot === true && host.agentBoot === host.boots;
    if (isBefore) await this.report({ rebootRequired: 'true', bootID }, name);
    else if (reported !== wanted || confirmedBoot !== bootID)
      await this.report({ version: wanted, rebootRequired: 'false', bootID, confirmedBootID: bootID }, name);
    const isGood = services !== undefined && !services.includes(this.behavior.brokenServices ?? 'none');
    if (isGood && services !== applied) await this.report({ services }, name);
  }

  /** The version of the files of the host, if its agent works. */
  async #versionFor(name: string, host: LabHost): Promise<string | undefined> {
    const desired = (await this.node(name))?.metadata.annotations?.[nodeAnnotation.desiredVersion];
    if (desired === undefined || this.behavior.noVersion === true) return undefined;
    const version = (await host.activator.version()) || desired;
    return version !== this.behavior.brokenVersion && host.activator.reports(version) ? version : undefined;
  }

  /** No host is upgraded, however old its version is. */
  async pauseRollout(): Promise<void> {
    const metadata = { name: configMapName.rollout, namespace };
    await this.client.create<ConfigMap>(configMaps, { metadata, data: { paused: 'true' } });
  }

  /** The services that agents of a version apply. */
  async addServices(of: string): Promise<void> {
    const services = [containerd, kubelet, kubeProxy];
    const manifest = { services, files: [], environment: {}, watchedEnvironment: [] };
    await this.client.create(configMaps, servicesConfigMap(manifest, of, namespace));
  }

  /** What the agent of a host writes. */
  async report(data: Record<string, string>, node = 'win-5'): Promise<void> {
    await this.client.patch(configMaps, reportName(node), { type: 'merge', body: { data } }, { namespace });
  }

  /** The Node is as if its agent had confirmed no version yet. */
  async forgetVersion(node = 'win-5'): Promise<void> {
    this.behavior.noVersion = true;
    await this.report({ version: '' }, node);
    await this.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: null } } }, node);
  }

  async patchStatus(status: object, name = 'win-5'): Promise<void> {
    const patch = { type: 'merge', body: { status } } as const;
    await this.client.patch(windowsInstances, name, patch, { namespace, subresource: 'status' });
  }

  /** Records what the approver does: the end of the certificate that it has approved for a key. */
  async certify({ metadata, status }: WindowsInstance): Promise<void> {
    if (status?.agent === undefined || status.agent.certificateEnds !== undefined || this.behavior.noCertificate)
      return;
    await this.patchStatus({ agent: { certificateEnds: timestamp(Date.now() + 86_400_000) } }, metadata.name);
  }

  #defaultInputs(): HostInputs {
    const files = [
      labFile(file.agentKubeconfig, this.#kubeconfig, 'credential'),
      labFile(file.bootstrapKubeconfig, `token number ${this.tokens}`, 'credential'),
      ...labFiles(this.settings ?? { mirrors: { 'quay.io': 'server = "quay.io"' }, kubelet: '{}' }),
    ];
    const expires = timestamp(Date.now() + 3_600_000);
    return {
      version,
      reserved: noReservations,
      certificateLifetime: '24h',
      tokens: (['kubelet', 'agent'] as const).map(use => ({ id: `JTI=${use}-${this.tokens}`, use, expires })),
      namespace,
      platform: 'None',
      apiServerUrl: this.url,
      vxlanPort: '',
      files: { files, ownedDirectories: [dir.registries, dir.tlsCerts] },
      settings: hostSettings({ mirrors: {}, kubelet: '{}', services: '0', ...this.settings }, version),
      publicKeyHash: 'hash-of-key',
      sealUsername: user => `sealed ${user}`,
    };
  }
}

export async function startJoinLab(): Promise<JoinLab> {
  const cluster = await startEmbeddedCluster();
  const kubeconfig = cluster.kubeconfigFor();
  const client = createClient(loadKubeconfig(kubeconfig), { clock: systemClock });
  onTestFinished(async () => {
    await client.close();
    await cluster.close();
  });
  for (const name of [namespace, namespaceName.machineApi]) await client.create(namespaces, { metadata: { name } });
  await client.create(customResourceDefinitions, windowsInstanceCrd() as CustomResourceDefinition);
  const lab = new JoinLab(client, cluster.url, kubeconfig);
  await lab.addServices(version);
  const informers = new Informers({ client });
  const seen = informers.get(nodes);
  const lookFor = ({ metadata }: Node) =>
    lab.hosts.forEach(host => (host.model.state.hostName === metadata.name ? lab.look(host) : undefined));
  seen.addHandler({ added: lookFor, updated: (_old, node) => lookFor(node) });
  // The first pass of an agent may come before the operator has made its report.
  const lookAtReport = ({ metadata }: ConfigMap) =>
    lab.hosts.forEach(host => (reportName(host.model.state.hostName) === metadata.name ? lab.look(host) : undefined));
  informers
    .get(configMaps, { namespace })
    .addHandler({ added: lookAtReport, updated: (_old, map) => lookAtReport(map) });
  const certify = (instance: WindowsInstance) => void lab.certify(instance).catch(() => undefined);
  informers.get(windowsInstances, { namespace }).addHandler({ added: certify, updated: (_old, now) => certify(now) });
  informers.start();
  onTestFinished(() => informers.stop());
  await seen.synced;
  await client.list(windowsInstances, { namespace });
  return lab;
}
