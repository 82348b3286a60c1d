import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '../../../src/base/secret.ts';
import type { ClusterFacts, OperatorSettings } from '../../../src/cluster/facts.ts';
import { reportName } from '../../../src/contract/agent-report.ts';
import { parseInventory } from '../../../src/contract/inventory.ts';
import { agentName, nodeAnnotation } from '../../../src/contract/names.ts';
import { dir, file, requiredDirectories } from '../../../src/contract/paths.ts';
import { printManifest } from '../../../src/contract/services/print.ts';
import { servicesConfigMapName } from '../../../src/contract/version.ts';
import { isNotFound, unless } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import { configMaps } from '../../../src/kube/resources.ts';
import type { BundleFile } from '../../../src/node/bundle.ts';
import type { InstallAnswer } from '../agent-records.ts';
import { TestCa } from '../certificates.ts';
import { installedAgent } from '../installed-agent.ts';
import { bundlePath, ManualOperator } from '../manual-operator.ts';
import { forgetVersion, makeReport } from '../report-mirror.ts';
import type { Outcome } from './command.ts';
import type { WindowsHost } from './host.ts';
import { type Programs, programFiles } from './operator-bundle.ts';
import { bootstrapperName, namespace } from './rights.ts';
import { agentLog } from './sight.ts';

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
const exporter = new TestCa('exporter').issue({ commonName: 'exporter', names: ['exporter'] });

/** A manual operator for the hosts of a lab. */
export class ManualLabOperator extends ManualOperator {
  readonly deps: OperatorDeps;
  #wanted: Wanted = {};
  #programs: Promise<BundleFile[]> | undefined;
  #nudges = 0;

  constructor(deps: OperatorDeps, version?: string) {
    super({ ...deps, namespace }, version);
    this.deps = deps;
  }

  /** Replaces the services ConfigMap, which is immutable. */
  async publish(wanted: Wanted = {}): Promise<void> {
    this.#wanted = wanted;
    await this.publishData(printManifest(this.manifest()));
  }

  /** Stages first what is not in the ConfigMap. */
  async publishTo(host: WindowsHost, wanted: Wanted): Promise<void> {
    await this.stageTexts(host, wanted);
    await this.publish(wanted);
  }

  /** Replaces the files on the host that depend on the cluster. */
  async stageTexts(host: WindowsHost, wanted: Wanted): Promise<void> {
    this.#wanted = wanted;
    await this.#stageFiles(host, await this.#texts());
  }

  override async publishData(data: Record<string, string>): Promise<void> {
    await this.unpublish();
    await super.publishData(data);
  }

  async unpublish(): Promise<void> {
    await this.client.delete(configMaps, servicesConfigMapName(this.version), { namespace }).catch(unless(isNotFound));
  }

  /** Puts all files on a bare host. */
  async stage(host: WindowsHost): Promise<void> {
    for (const directory of requiredDirectories) await mkdir(host.drive.path(directory), { recursive: true });
    if (!host.drive.exists(file.agent)) await host.drive.copyIn(this.deps.agent, file.agent);
    await this.#stageFiles(host, await this.#allFiles());
  }

  /** Writes all that `stage` brings to a host into a bundle on this machine; gives its hash. */
  async packAll(path: string): Promise<string> {
    return this.pack(await this.#allFiles(), chunks => writeFile(path, chunks));
  }

  bootstrap(host: WindowsHost): Promise<string> {
    const command = installedAgent.bootstrap({ version: this.version, namespace, node: nodeNameOf(host) });
    return host.run(command, { timeoutMs: 120_000 });
  }

  cleanup(host: WindowsHost, more = ''): Promise<Outcome> {
    return host.exec(`${installedAgent.cleanup(namespace)} -o json${more}`, { timeoutMs: 200_000 });
  }

  /** Waits for the Node, and assigns it a pod subnet as the cluster network does. */
  async findNode(host: WindowsHost): Promise<string> {
    const name = await this.nodeAt(host.address);
    await this.annotate(name, { [nodeAnnotation.hybridOverlaySubnet]: podSubnet });
    return name;
  }

  /** Creates rights and report of the agent and installs it; gives what `install` has printed. */
  async installAgentService(host: WindowsHost): Promise<InstallAnswer> {
    const node = nodeNameOf(host);
    await this.addAgent(node);
    const command = installedAgent.install({ namespace, node, newKey: false });
    return JSON.parse(await host.run(command, { timeoutMs: 120_000 })) as InstallAnswer;
  }

  /** Removes the agent, and waits until its program can be replaced. */
  async removeAgentService(host: WindowsHost): Promise<void> {
    await host.exec(`sc.exe stop ${agentName} & sc.exe delete ${agentName}`);
    await this.waitFor(`the end of the agent on ${host.name}`, async () => {
      const { stdout } = await host.exec(`sc.exe query ${agentName} & tasklist`);
      return stdout.includes(agentName.slice(0, 20)) ? undefined : true;
    });
  }

  /** Fails where a program still has a file open, as on Windows. */
  async removeDirectories(host: WindowsHost): Promise<void> {
    const folders = [dir.temp, dir.log, dir.cniState, dir.k, dir.agentPrograms];
    await host.exec(folders.map(path => `rmdir /s /q ${path}`).join(' & '));
  }

  /** Reboots the host as the operator does, in the boot that it has seen. */
  async reboot(host: WindowsHost): Promise<{ bootId: string; answer: unknown }> {
    const boots = host.boots;
    const { bootId } = parseInventory(await host.run(installedAgent.inventory()), host.name);
    const answer: unknown = JSON.parse(await host.run(installedAgent.reboot(bootId, 0)));
    await host.waitForBoot(boots + 1);
    return { bootId, answer };
  }

  /** Replaces the report by an empty one. */
  async emptyReport(host: WindowsHost): Promise<void> {
    const name = reportName(nodeNameOf(host));
    await this.client.delete(configMaps, name, { namespace }).catch(unless(isNotFound));
    await makeReport(this.client, namespace, nodeNameOf(host));
  }

  /** Removes the version until the agent reports it again. */
  forgetVersion(node: string): Promise<void> {
    return forgetVersion(this.client, namespace, node);
  }

  /** Configures a host until its Node has the annotation `version`; gives the name of the Node. */
  async join(host: WindowsHost, onStep: (name: string) => void = () => undefined): Promise<string> {
    await this.stage(host);
    onStep('stage');
    // Always, because the host may have been used before.
    await this.cleanup(host, ' --keep-settings');
    await this.forgetVersion(nodeNameOf(host)).catch(unless(isNotFound));
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
      throw new Error(`${host.name} did not become a node; log of its agent:\n${agentLog(host)}`, { cause: error });
    }
    onStep('version');
    return node;
  }

  /** Triggers a pass of the agent before its two minutes are over: it watches the annotations. */
  async nudge(node: string): Promise<void> {
    this.#nudges += 1;
    await this.annotate(node, { 'test/nudge': `${this.#nudges}` });
  }

  override facts(): ClusterFacts {
    const network = { serviceCidr, clusterDns: '10.96.0.10', vxlanPort: '' };
    const { proxy = {}, trustedCa } = this.#wanted;
    return super.facts({ network, proxy, trustedCa });
  }

  override settings(): OperatorSettings {
    const { debug = false } = this.#wanted;
    return super.settings({ debug });
  }

  async #stageFiles(host: WindowsHost, files: readonly BundleFile[]): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'wmco-bundle-'));
    try {
      const path = join(folder, 'bundle');
      const sha256 = await this.pack(files, chunks => writeFile(path, chunks));
      await host.upload(path, bundlePath);
      await host.run(installedAgent.stage(bundlePath, sha256), { timeoutMs: 120_000 });
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async #allFiles(): Promise<BundleFile[]> {
    this.#programs ??= programFiles(this.deps);
    return [...(await this.#texts()), ...(await this.#programs)];
  }

  async #texts(): Promise<BundleFile[]> {
    const tokens = await Promise.all([this.requestToken(bootstrapperName), this.requestToken(agentName)]);
    const tls = { certificate: exporter.cert, key: new Secret(exporter.key) };
    return this.textFiles({ bootstrapToken: tokens[0], agentToken: tokens[1], tls });
  }
}

/** The name under which the kubelet of a host registers. */
export function nodeNameOf(host: WindowsHost): string {
  return host.name.toLowerCase();
}
