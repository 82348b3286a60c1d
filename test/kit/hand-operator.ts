import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentReport } from '../../src/contract/agent-report.ts';
import { type Inventory, parseInventory } from '../../src/contract/inventory.ts';
import { nodeAnnotation, nodeLabel, secretKey, secretName, namespaceName } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { noReservations } from '../../src/contract/reserved.ts';
import { printManifest } from '../../src/contract/services/print.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import { Secret } from '../../src/base/secret.ts';
import type { ClusterFacts, ServiceAccountToken } from '../../src/cluster/facts.ts';
import type { HostConnection } from '../../src/host/host.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import {
  type CertificateSigningRequest,
  certificateSigningRequests as requests,
  configMaps,
  nodes,
  type Node,
  secrets,
} from '../../src/kube/resources.ts';
import { packBundle, packContent, type BundleFile } from '../../src/node/bundle.ts';
import { nodeFiles } from '../../src/node/desired/files.ts';
import { servicesManifest } from '../../src/node/desired/services.ts';
import { payloadFor } from '../../src/node/payload.ts';
import type { PayloadSource } from '../../src/node/payload-source.ts';
import { simulatedPayload } from '../../src/sandbox/machines/programs/payload.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { AgentRecords, type InstallAnswer } from './agent-records.ts';
import { AgentRights } from './agent-rights.ts';
import { installedAgent } from './installed-agent.ts';
import { makeReport, readReport, startMirroring } from './report-mirror.ts';
import { checkSandbox } from './secret-check.ts';

const version = '11.0.0-abcdef0';
const bundlePath = 'C:\\k\\bundle';

export interface HandOptions {
  payloadBytes?: number;
  /** Which certificates are let through; all when absent. */
  approves?: (request: CertificateSigningRequest) => boolean;
}

/** What the operator does for a host, step by step and by hand, through real SSH into a sandbox. */
export class HandOperator implements AsyncDisposable {
  readonly version = version;
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly payload: PayloadSource;
  readonly records: AgentRecords;
  readonly #stop = new AbortController();
  readonly #approving: Promise<void>;
  readonly #mirror: AsyncDisposable;
  readonly #rights: AgentRights;

  private constructor(
    sandbox: Sandbox,
    client: Client,
    rights: AgentRights,
    { payloadBytes = 200_000, approves = () => true }: HandOptions,
  ) {
    this.sandbox = sandbox;
    this.client = client;
    this.#rights = rights;
    this.records = new AgentRecords(sandbox.namespace);
    this.#mirror = startMirroring(client, sandbox.namespace);
    const others = payloadFor('None').filter(({ directory, name }) => `${directory}\\${name}` !== file.agent);
    const programs = others.map(({ directory, name }) => `${directory}\\${name}`);
    this.payload = simulatedPayload({ version, agent: file.agent, programs, bytes: payloadBytes });
    this.#approving = this.#approve(approves);
  }

  /** With the rights of agents and the services ConfigMap in place. */
  static async start(sandbox: Sandbox, options: HandOptions = {}): Promise<HandOperator> {
    const client = createClient(loadKubeconfig(sandbox.kubeconfig));
    const rights = await AgentRights.grant(client, sandbox.namespace);
    await rights.allowVersion(version);
    const operator = new HandOperator(sandbox, client, rights, options);
    const data = printManifest(servicesManifest(operator.facts(), operator.settings()));
    const metadata = { name: servicesConfigMapName(version), namespace: sandbox.namespace };
    await client.create(configMaps, { metadata, data, immutable: true });
    return operator;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the operator ends'));
    await this.#approving;
    await this.#mirror[Symbol.asyncDispose]();
    try {
      await checkSandbox(this.sandbox, this.client, []);
    } finally {
      await this.client.close();
    }
  }

  connect(address: string, username = 'Administrator'): Promise<HostConnection> {
    const privateKeys = [parsePrivateKey(this.sandbox.privateKey.reveal())];
    return this.sandbox.connect({ address, username, privateKeys, pinnedKey: undefined }, { dialTimeoutMs: 5000 });
  }

  /** Rejects with what the command said when it failed. */
  async run(connection: HostConnection, command: string): Promise<string> {
    const { exitCode, stdout, stderr } = await connection.exec(command);
    if (exitCode !== 0) throw new Error(`${command}: exit code ${exitCode}: ${stderr}`);
    return stdout;
  }

  async uploadAgent(connection: HostConnection): Promise<void> {
    const agent = await this.payload.agent();
    await connection.upload(agent.path, { size: agent.bytes, chunks: agent.content() });
  }

  async inventory(connection: HostConnection): Promise<Inventory> {
    const text = await this.run(connection, installedAgent.inventory({ apiServerUrl: this.sandbox.url }));
    return parseInventory(text, connection.facts.address);
  }

  /** Tokens are recorded as those of the host that joins under this name. */
  async stage(connection: HostConnection, node: string): Promise<void> {
    const files = [...(await this.texts(node)), ...(await this.payload.files('None'))];
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of packBundle(version, files)) {
      hash.update(chunk);
      size += chunk.length;
    }
    await connection.upload(bundlePath, { size, chunks: packBundle(version, files) });
    await this.run(connection, installedAgent.stage(bundlePath, hash.digest('hex')));
  }

  async bootstrap(connection: HostConnection, node: string): Promise<string> {
    const { namespace } = this.sandbox;
    return this.run(connection, installedAgent.bootstrap({ version, namespace, node }));
  }

  /** Makes report and rights of the agent, installs it, and records its key. */
  async installAgent(connection: HostConnection, node: string): Promise<void> {
    const { namespace } = this.sandbox;
    await this.#rights.addNode(node);
    await makeReport(this.client, namespace, node);
    const answer = await this.run(connection, installedAgent.install({ namespace, node, newKey: false }));
    this.records.recordKeys(node, JSON.parse(answer) as InstallAnswer);
  }

  report(node: string): Promise<AgentReport> {
    return readReport(this.client, this.sandbox.namespace, node);
  }

  /** The whole way of a host to the version in its report; gives the name of its Node. */
  async join(address: string, username?: string): Promise<string> {
    await using connection = await this.connect(address, username);
    await this.uploadAgent(connection);
    const inventory = await this.inventory(connection);
    // An ordinary user may not look at services, of which the name is made.
    const nodeName = inventory.nodeName || inventory.hostName.toLowerCase();
    this.records.recordHost(nodeName, [address]);
    await this.stage(connection, nodeName);
    await this.bootstrap(connection, nodeName);
    const node = await this.findNode(connection.facts.address);
    await this.desire(node);
    await this.installAgent(connection, node);
    await this.waitFor('version', async () => {
      const isReported = (await this.report(node)).version === version;
      const { metadata } = await this.client.get(nodes, node);
      return isReported && metadata.annotations?.[nodeAnnotation.version] === version ? true : undefined;
    });
    return node;
  }

  async #approve(isWanted: (request: CertificateSigningRequest) => boolean): Promise<void> {
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'approved by a test' }];
    const patch = { type: 'merge', body: { status: { conditions } } } as const;
    while (!this.#stop.signal.aborted) {
      const pending = (await this.client.listAll(requests)).items.filter(({ status }) => !status?.conditions);
      for (const request of pending.filter(each => isWanted(each) && (this.records.approves(each) ?? true))) {
        await this.client.patch(requests, request.metadata.name ?? '', patch, { subresource: 'approval' });
      }
      await delay(50, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  async findNode(name: string): Promise<string> {
    const [address = name] = await this.sandbox.resolver.addresses(name);
    const node = await this.waitFor(`a Node at ${address}`, async () => {
      const { items } = await this.client.list(nodes, { labelSelector: `${nodeLabel.osId}=Windows` });
      return items.find(item => item.status?.addresses?.some(each => each.address === address));
    });
    return node.metadata.name ?? '';
  }

  async desire(node: string): Promise<void> {
    const body = { metadata: { annotations: { [nodeAnnotation.desiredVersion]: version } } };
    await this.client.patch(nodes, node, { type: 'merge', body });
  }

  node(name: string): Promise<Node> {
    return this.client.get(nodes, name);
  }

  async waitFor<T>(what: string, look: () => Promise<T | undefined>, limitMs = 60_000): Promise<T> {
    for (const endMs = performance.now() + limitMs; performance.now() < endMs; await delay(50)) {
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error(`waited ${limitMs} ms in vain for ${what}`);
  }

  facts(): ClusterFacts {
    return {
      platform: 'None',
      apiServerUrl: this.sandbox.url,
      network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: '' },
      reserved: noReservations,
      kubeletArguments: {},
      workerFiles: {},
      kubeletCa: this.sandbox.ca,
      registryBundles: [],
      trustedCa: undefined,
    };
  }

  settings() {
    const logRotation = { fileSize: '', fileAge: '', flushInterval: '' };
    return { namespace: this.sandbox.namespace, version, debug: false, logRotation, proxy: {} };
  }

  /** Kubeconfigs, kubelet configuration, CA bundle and so on. */
  async texts(node: string): Promise<BundleFile[]> {
    const text = await this.#secretTexts(secretName.tls, this.sandbox.namespace);
    const { files } = nodeFiles({
      facts: this.facts(),
      bootstrapToken: await this.bootstrapToken(),
      agentToken: await this.agentToken(node),
      tls: { certificate: text(secretKey.tlsCertificate), key: new Secret(text(secretKey.tlsKey)) },
      registries: {},
    });
    return Promise.all(
      files.map(async ({ path, content, sensitive }) => ({
        path,
        secret: sensitive,
        ...(await packContent(new TextEncoder().encode(content.reveal()))),
      })),
    );
  }

  /** As the machine config operator keeps it. */
  async bootstrapToken(): Promise<ServiceAccountToken> {
    const text = await this.#secretTexts(secretName.bootstrapToken, namespaceName.machineConfig);
    return { ca: text(secretKey.ca), token: new Secret(text(secretKey.token)) };
  }

  async #secretTexts(name: string, namespace: string): Promise<(key: string) => string> {
    const { data } = await this.client.get(secrets, name, { namespace });
    return key => Buffer.from(data?.[key] ?? '', 'base64').toString();
  }

  async agentToken(node: string): Promise<ServiceAccountToken> {
    const path = `/api/v1/namespaces/${this.sandbox.namespace}/serviceaccounts/windows-instance-config-daemon/token`;
    const spec = { expirationSeconds: 3600 };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const answer = await this.client.raw<{ status: { token: string } }>('POST', path, { body });
    this.records.recordToken(node, 'agent', answer.status.token);
    return { ca: this.sandbox.ca, token: new Secret(answer.status.token) };
  }
}
