import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Secret } from '../../../src/base/secret.ts';
import type { ClusterFacts, OperatorSettings } from '../../../src/cluster/facts.ts';
import { type AgentReport, reportName } from '../../../src/contract/agent-report.ts';
import { parseInventory } from '../../../src/contract/inventory.ts';
import { agentName, nodeAnnotation, nodeLabel } from '../../../src/contract/names.ts';
import { dir, file, requiredDirectories } from '../../../src/contract/paths.ts';
import { noReservations } from '../../../src/contract/reserved.ts';
import type { ServicesManifest } from '../../../src/contract/services/manifest.ts';
import { printManifest } from '../../../src/contract/services/print.ts';
import { servicesConfigMapName } from '../../../src/contract/version.ts';
import { isNotFound } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import { configMaps, type Node, nodes } from '../../../src/kube/resources.ts';
import { type BundleFile, packBundle } from '../../../src/node/bundle.ts';
import { servicesManifest } from '../../../src/node/desired/services.ts';
import type { Outcome } from './command.ts';
import type { WindowsHost } from './host.ts';
import { type Programs, programFiles, textFiles } from './operator-bundle.ts';
import { bootstrapperName, namespace } from './rights.ts';
import { agentLog } from './sight.ts';
import type { InstallAnswer } from '../agent-records.ts';
import { AgentRights } from '../agent-rights.ts';
import { installedAgent } from '../installed-agent.ts';
import { forgetVersion, makeReport, readReport } from '../report-mirror.ts';

export interface OperatorDeps extends Programs {
  /** With all rights. */
  client: Client;
  /** The API server as hosts reach it. */
  url: string;
  ca: string;
  agent: string;
}

export interface Wanted {
  proxy?: Record<string, string>;
  /** Content of the trusted bundle. */
  trustedCa?: string;
  debug?: boolean;
}

export const podSubnet = '10.132.0.0/24';
export const serviceCidr = '10.96.0.0/16';
/** Where a bundle is put on a host before it is staged. */
export const bundlePath = 'C:\\k\\bundle';

/** What the operator does for a host, step by step and by hand, so that the agent can be tested without one. */
export class PretendOperator {
  readonly world: OperatorDeps;
  readonly version: string;
  #wanted: Wanted = {};
  #programs: Promise<BundleFile[]> | undefined;
  #nudges = 0;
  readonly #rights: Promise<AgentRights>;

  constructor(world: OperatorDeps, version = '11.0.0-abcdef0') {
    this.world = world;
    this.version = version;
    this.#rights = rightsIn(world.client);
  }

  /** Writes the services ConfigMap anew, as the operator does: it is immutable. */
  async publish(wanted: Wanted = {}): Promise<void> {
    this.#wanted = wanted;
    await this.publishData(printManifest(this.manifest()));
  }

  /** Brings to a host first what it cannot see in the ConfigMap, so that one reboot is enough for all. */
  async publishTo(host: WindowsHost, wanted: Wanted): Promise<void> {
    this.#wanted = wanted;
    await this.#stageFiles(host, await this.#texts());
    await this.publish(wanted);
  }

  async publishData(data: Record<string, string>): Promise<void> {
    await this.unpublish();
    await (await this.#rights).allowVersion(this.version);
    const metadata = { name: servicesConfigMapName(this.version), namespace };
    await this.world.client.create(configMaps, { metadata, data, immutable: true });
  }

  async unpublish(): Promise<void> {
    await this.world.client.delete(configMaps, servicesConfigMapName(this.version), { namespace }).catch(unlessGone);
  }

  manifest(): ServicesManifest {
    return servicesManifest(this.#facts(), this.#settings());
  }

  /** From a host with nothing but Windows to one that has everything but running services. */
  async stage(host: WindowsHost): Promise<void> {
    for (const directory of requiredDirectories) await mkdir(host.drive.path(directory), { recursive: true });
    if (!host.drive.exists(file.agent)) await host.drive.copyIn(this.world.agent, file.agent);
    await this.#stageFiles(host, await this.#allFiles());
  }

  /** Writes all that `stage` brings to a host into a bundle on this machine, and gives its hash. */
  async pack(path: string): Promise<string> {
    return this.#pack(path, await this.#allFiles());
  }

  bootstrap(host: WindowsHost): Promise<string> {
    const command = installedAgent.bootstrap({ version: this.version, namespace, node: nodeNameOf(host) });
    return host.run(command, { timeoutMs: 120_000 });
  }

  cleanup(host: WindowsHost, more = ''): Promise<Outcome> {
    return host.exec(`${installedAgent.cleanup(namespace)} -o json${more}`, { timeoutMs: 200_000 });
  }

  /** Waits for the Node that the kubelet registers, and plays the cluster network that gives it a subnet. */
  async findNode(host: WindowsHost): Promise<string> {
    const node = await this.waitFor(`a Node with address ${host.address}`, async () => {
      const { items } = await this.world.client.list(nodes, { labelSelector: `${nodeLabel.osId}=Windows` });
      return items.find(item => item.status?.addresses?.some(({ address }) => address === host.address));
    });
    const name = node.metadata.name ?? '';
    await this.annotate(name, { [nodeAnnotation.hybridOverlaySubnet]: podSubnet });
    return name;
  }

  /** Makes rights and report of the agent and installs it; gives what `install` has printed. */
  async installAgentService(host: WindowsHost): Promise<InstallAnswer> {
    const node = nodeNameOf(host);
    await (await this.#rights).addNode(node);
    await makeReport(this.world.client, namespace, node);
    const command = installedAgent.install({ namespace, node, newKey: false });
    return JSON.parse(await host.run(command, { timeoutMs: 120_000 })) as InstallAnswer;
  }

  /** Until the program can be replaced. */
  async removeAgentService(host: WindowsHost): Promise<void> {
    await host.exec(`sc.exe stop ${agentName} & sc.exe delete ${agentName}`);
    await this.waitFor(`the end of the agent on ${host.name}`, async () => {
      const { stdout } = await host.exec(`sc.exe query ${agentName} & tasklist`);
      return stdout.includes(agentName.slice(0, 20)) ? undefined : true;
    });
  }

  /** Fails where a program still has a file open, as on Windows. */
  async removeDirectories(host: WindowsHost): Promise<void> {
    await host.exec([dir.temp, dir.log, dir.cniState, dir.k].map(path => `rmdir /s /q ${path}`).join(' & '));
  }

  /** Reboots the host as the operator does, in the boot that it has seen. */
  async reboot(host: WindowsHost): Promise<{ bootId: string; answer: unknown }> {
    const boots = host.boots;
    const { bootId } = parseInventory(await host.run(installedAgent.inventory()), host.name);
    const answer: unknown = JSON.parse(await host.run(installedAgent.reboot(bootId, 0)));
    await host.waitForBoot(boots + 1);
    return { bootId, answer };
  }

  async desire(node: string): Promise<void> {
    await this.annotate(node, { [nodeAnnotation.desiredVersion]: this.version });
  }

  /** Until the agent has reported it and the Node has it. */
  async waitForVersion(node: string): Promise<void> {
    const hasCome = async () => {
      const isReported = (await this.report(node)).version === this.version;
      return isReported && (await this.marks(node))[nodeAnnotation.version] === this.version ? true : undefined;
    };
    await this.waitFor(`version in the report of ${node}`, hasCome, 150_000);
  }

  report(node: string): Promise<AgentReport> {
    return readReport(this.world.client, namespace, node);
  }

  /** As it is before the agent of a host is installed for the first time. */
  async emptyReport(host: WindowsHost): Promise<void> {
    const name = reportName(nodeNameOf(host));
    await this.world.client.delete(configMaps, name, { namespace }).catch(unlessGone);
    await makeReport(this.world.client, namespace, nodeNameOf(host));
  }

  /** From then on the version is there only when the agent has reported it again. */
  forgetVersion(node: string): Promise<void> {
    return forgetVersion(this.world.client, namespace, node);
  }

  /** The whole way from a fresh host to the annotation `version`; gives the name of the Node. */
  async join(host: WindowsHost, onStep: (name: string) => void = () => undefined): Promise<string> {
    await this.stage(host);
    onStep('stage');
    // Always, for nobody knows what was there; on a host that is new it finds nothing.
    await this.cleanup(host, ' --keep-settings');
    await this.forgetVersion(nodeNameOf(host)).catch(unlessGone);
    onStep('cleanup');
    await this.bootstrap(host);
    onStep('bootstrap');
    const node = await this.findNode(host);
    onStep('Node');
    await this.desire(node);
    await this.installAgentService(host);
    onStep('agent service');
    try {
      await this.waitForVersion(node);
    } catch (error) {
      throw new Error(`${host.name} did not become a node, and its agent says:\n${agentLog(host)}`, { cause: error });
    }
    onStep('version');
    return node;
  }

  async marks(node: string): Promise<Record<string, string>> {
    return (await this.node(node)).metadata.annotations ?? {};
  }

  node(name: string): Promise<Node> {
    return this.world.client.get(nodes, name);
  }

  async annotate(node: string, annotations: Record<string, string | null>): Promise<void> {
    await this.world.client.patch(nodes, node, { type: 'merge', body: { metadata: { annotations } } });
  }

  /** Makes the agent look at its host now, and not only when the next two minutes are over: commands are made of annotations. */
  async nudge(node: string): Promise<void> {
    this.#nudges += 1;
    await this.annotate(node, { 'test/nudge': `${this.#nudges}` });
  }

  /** Looks again and again until there is something; never for longer than the limit. */
  async waitFor<T>(what: string, look: () => Promise<T | undefined>, limitMs = 120_000): Promise<T> {
    const endMs = performance.now() + limitMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms in vain for ${what}`);
      await delay(100);
    }
  }

  #facts(): ClusterFacts {
    return {
      platform: 'None',
      apiServerUrl: this.world.url,
      network: { serviceCidr, clusterDns: '10.96.0.10', vxlanPort: '' },
      reserved: noReservations,
      kubeletArguments: {},
      workerFiles: {},
      kubeletCa: this.world.ca,
      registryBundles: [],
      trustedCa: this.#wanted.trustedCa,
    };
  }

  #settings(): OperatorSettings {
    const { debug = false, proxy = {} } = this.#wanted;
    const logRotation = { fileSize: '', fileAge: '', flushInterval: '' };
    return { namespace, version: this.version, debug, logRotation, proxy };
  }

  async #stageFiles(host: WindowsHost, files: readonly BundleFile[]): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'wmco-bundle-'));
    try {
      const path = join(folder, 'bundle');
      const sha256 = await this.#pack(path, files);
      await host.upload(path, bundlePath);
      await host.run(installedAgent.stage(bundlePath, sha256), { timeoutMs: 120_000 });
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async #pack(path: string, files: readonly BundleFile[]): Promise<string> {
    const digest = createHash('sha256');
    const bundle = packBundle(this.version, files);
    await writeFile(
      path,
      watched(bundle, chunk => digest.update(chunk)),
    );
    return digest.digest('hex');
  }

  async #allFiles(): Promise<BundleFile[]> {
    this.#programs ??= programFiles(this.world);
    return [...(await this.#texts()), ...(await this.#programs)];
  }

  async #texts(): Promise<BundleFile[]> {
    const [bootstrapToken, agentToken] = await Promise.all([this.#token(bootstrapperName), this.#token(agentName)]);
    return textFiles(this.#facts(), { bootstrapToken, agentToken });
  }

  async #token(name: string): Promise<{ ca: string; token: Secret }> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
    const { status } = await this.world.client.raw<{ status: { token: string } }>('POST', path, { body });
    return { ca: this.world.ca, token: new Secret(status.token) };
  }
}

/** One for each cluster: several operators may write their versions in turn. */
const rightsOf = new WeakMap<Client, Promise<AgentRights>>();

function rightsIn(client: Client): Promise<AgentRights> {
  const rights = rightsOf.get(client) ?? AgentRights.grant(client, namespace);
  rightsOf.set(client, rights);
  return rights;
}

/** The name under which the kubelet of a host registers. */
export function nodeNameOf(host: WindowsHost): string {
  return host.name.toLowerCase();
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

async function* watched(chunks: AsyncIterable<Uint8Array>, look: (chunk: Uint8Array) => void) {
  for await (const chunk of chunks) {
    look(chunk);
    yield chunk;
  }
}
