import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Secret } from '../../src/base/secret.ts';
import type { ClusterFacts, OperatorSettings, ServiceAccountToken } from '../../src/cluster/facts.ts';
import type { AgentReport } from '../../src/contract/agent-report.ts';
import { nodeAnnotation, nodeLabel } from '../../src/contract/names.ts';
import { noReservations } from '../../src/contract/reserved.ts';
import type { ServicesManifest } from '../../src/contract/services/manifest.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import type { Client } from '../../src/kube/client.ts';
import { configMaps, type Node, nodes } from '../../src/kube/resources.ts';
import { type BundleFile, packBundle, packContent } from '../../src/node/bundle.ts';
import { nodeFiles, type NodeFilesInput } from '../../src/node/desired/files.ts';
import { servicesManifest } from '../../src/node/desired/services.ts';
import { accountToken } from './account-token.ts';
import { AgentRights } from './agent-rights.ts';
import { makeReport, readReport } from './report-mirror.ts';

/** Where a bundle is put on a host before it is staged. */
export const bundlePath = 'C:\\k\\bundle';

export interface ManualCluster {
  /** With all rights. */
  client: Client;
  /** The API server as hosts reach it. */
  url: string;
  ca: string;
  namespace: string;
}

/** What the operator does in the cluster for a host, step by step, so that the agent can be tested without the operator. */
export abstract class ManualOperator {
  readonly version: string;
  readonly client: Client;
  readonly namespace: string;
  readonly #cluster: ManualCluster;
  readonly #rights: Promise<AgentRights>;

  constructor(cluster: ManualCluster, version = '11.0.0-abcdef0') {
    this.#cluster = cluster;
    this.client = cluster.client;
    this.namespace = cluster.namespace;
    this.version = version;
    this.#rights = rightsIn(cluster);
  }

  manifest(): ServicesManifest {
    return servicesManifest(this.facts(), this.settings());
  }

  /** Creates the services ConfigMap, and the right of agents to read it. */
  async publishData(data: Record<string, string>): Promise<void> {
    await (await this.#rights).allowVersion(this.version);
    const metadata = { name: servicesConfigMapName(this.version), namespace: this.namespace };
    await this.client.create(configMaps, { metadata, data, immutable: true });
  }

  /** Creates rights and report of the agent of a Node. */
  async addAgent(node: string): Promise<void> {
    await (await this.#rights).addNode(node);
    await makeReport(this.client, this.namespace, node);
  }

  /** Waits for the Node that the kubelet of a host registers. */
  async nodeAt(address: string): Promise<string> {
    const node = await this.waitFor(`a Node with address ${address}`, async () => {
      const { items } = await this.client.list(nodes, { labelSelector: `${nodeLabel.osId}=Windows` });
      return items.find(item => item.status?.addresses?.some(each => each.address === address));
    });
    return node.metadata.name ?? '';
  }

  desire(node: string): Promise<void> {
    return this.annotate(node, { [nodeAnnotation.desiredVersion]: this.version });
  }

  async annotate(node: string, annotations: Record<string, string | null>): Promise<void> {
    await this.client.patch(nodes, node, { type: 'merge', body: { metadata: { annotations } } });
  }

  node(name: string): Promise<Node> {
    return this.client.get(nodes, name);
  }

  async annotations(node: string): Promise<Record<string, string>> {
    return (await this.node(node)).metadata.annotations ?? {};
  }

  report(node: string): Promise<AgentReport> {
    return readReport(this.client, this.namespace, node);
  }

  /** Waits until the agent has reported the version and the Node has it. */
  async waitForVersion(node: string, limitMs = 150_000): Promise<void> {
    const isWritten = async () => {
      const isReported = (await this.report(node)).version === this.version;
      return isReported && (await this.annotations(node))[nodeAnnotation.version] === this.version ? true : undefined;
    };
    await this.waitFor(`version in the report of ${node}`, isWritten, limitMs);
  }

  /** Polls until the result is not undefined. */
  async waitFor<T>(what: string, look: () => Promise<T | undefined>, limitMs = 120_000): Promise<T> {
    for (const endMs = performance.now() + limitMs; ; await delay(200)) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > endMs) throw new Error(`timed out after ${limitMs} ms waiting for ${what}`);
    }
  }

  facts(over: Partial<ClusterFacts> = {}): ClusterFacts {
    return {
      platform: 'None',
      apiServerUrl: this.#cluster.url,
      network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: '' },
      reserved: noReservations,
      kubeletArguments: {},
      workerFiles: {},
      kubeletCa: this.#cluster.ca,
      registryBundles: [],
      proxy: {},
      trustedCa: undefined,
      ...over,
    };
  }

  settings(over: Partial<OperatorSettings> = {}): OperatorSettings {
    const logRotation = { fileSize: '', fileAge: '', flushInterval: '' };
    return { namespace: this.namespace, version: this.version, debug: false, logRotation, proxy: {}, ...over };
  }

  async requestToken(account: string): Promise<ServiceAccountToken> {
    const token = await accountToken(this.client, this.namespace, account);
    return { ca: this.#cluster.ca, token: new Secret(token) };
  }

  /** Kubeconfigs, kubelet configuration, CA bundle and so on. */
  async textFiles(input: Omit<NodeFilesInput, 'facts' | 'registries'>): Promise<BundleFile[]> {
    const { files } = nodeFiles({ facts: this.facts(), registries: {}, ...input });
    return Promise.all(
      files.map(async ({ path, content, sensitive }) => ({
        path,
        secret: sensitive,
        ...(await packContent(new TextEncoder().encode(content.reveal()))),
      })),
    );
  }

  /** Writes a bundle of these files chunk by chunk; gives its hash. */
  async pack(
    files: readonly BundleFile[],
    write: (chunks: AsyncIterable<Uint8Array>) => Promise<void>,
  ): Promise<string> {
    const digest = createHash('sha256');
    const bundle = packBundle({ version: this.version, files });
    async function* hashed() {
      for await (const chunk of bundle) {
        digest.update(chunk);
        yield chunk;
      }
    }
    await write(hashed());
    return digest.digest('hex');
  }
}

/** One for each cluster, because several operators publish versions in it. */
const rightsOf = new WeakMap<Client, Promise<AgentRights>>();

function rightsIn({ client, namespace }: ManualCluster): Promise<AgentRights> {
  const rights = rightsOf.get(client) ?? AgentRights.grant(client, namespace);
  rightsOf.set(client, rights);
  return rights;
}
