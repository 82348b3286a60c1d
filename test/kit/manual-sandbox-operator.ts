import { vi } from 'vitest';
import { agentName, exporterService, namespaceName, ports, secretKey, secretName } from '../../src/contract/names.ts';
import { type Inventory, parseInventory } from '../../src/contract/inventory.ts';
import { file } from '../../src/contract/paths.ts';
import { printManifest } from '../../src/contract/services/print.ts';
import { Secret } from '../../src/base/secret.ts';
import type { ServiceAccountToken } from '../../src/cluster/facts.ts';
import type { HostConnection } from '../../src/host/host.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import { type CertificateSigningRequest, secrets, services } from '../../src/kube/resources.ts';
import { type BundleFile } from '../../src/node/bundle.ts';
import { payloadFor } from '../../src/node/payload.ts';
import type { PayloadSource } from '../../src/node/payload-source.ts';
import { simulatedPayload } from '../../src/sandbox/machines/programs/payload.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { AgentRecords, type InstallAnswer } from './agent-records.ts';
import { type Approver, approvedByTest, startApprover } from './approve-requests.ts';
import { installedAgent } from './installed-agent.ts';
import { bundlePath, ManualOperator } from './manual-operator.ts';
import { startMirroring } from './report-mirror.ts';
import { checkSandbox } from './secret-check.ts';

export interface ManualSandboxOptions {
  payloadBytes?: number;
  /** Which certificate requests are approved; all when absent. */
  approves?: (request: CertificateSigningRequest) => boolean;
}

/** A manual operator for the hosts of a sandbox, by real SSH. */
export class ManualSandboxOperator extends ManualOperator implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly payload: PayloadSource;
  readonly records: AgentRecords;
  readonly #approver: Approver;
  readonly #mirror: AsyncDisposable;

  private constructor(sandbox: Sandbox, { payloadBytes = 200_000, approves = () => true }: ManualSandboxOptions) {
    const { url, ca, namespace } = sandbox;
    super({ client: createClient(loadKubeconfig(sandbox.kubeconfig)), url, ca, namespace });
    this.sandbox = sandbox;
    this.records = new AgentRecords(namespace);
    this.#mirror = startMirroring(this.client, namespace);
    const programs = payloadFor('None').map(({ directory, name }) => `${directory}\\${name}`);
    const others = programs.filter(path => path !== file.agent);
    this.payload = simulatedPayload({
      version: this.version,
      agent: file.agent,
      programs: others,
      bytes: payloadBytes,
    });
    const isApproved = (request: CertificateSigningRequest) =>
      approves(request) && (this.records.approves(request) ?? true);
    this.#approver = startApprover(this.client, request => (isApproved(request) ? approvedByTest : undefined), 50);
  }

  /** With the rights of agents and the services ConfigMap in place. */
  static async start(sandbox: Sandbox, options: ManualSandboxOptions = {}): Promise<ManualSandboxOperator> {
    const operator = new ManualSandboxOperator(sandbox, options);
    await operator.publishData(printManifest(operator.manifest()));
    return operator;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#approver.stop();
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

  /** Rejects with the error output of a command that fails. */
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
    const chunks: Uint8Array[] = [];
    const sha256 = await this.pack(files, async bundle => {
      for await (const chunk of bundle) chunks.push(Uint8Array.from(chunk));
    });
    await connection.upload(bundlePath, Buffer.concat(chunks));
    await this.run(connection, installedAgent.stage(bundlePath, sha256));
  }

  async bootstrap(connection: HostConnection, node: string): Promise<string> {
    return this.run(connection, installedAgent.bootstrap({ version: this.version, namespace: this.namespace, node }));
  }

  /** Creates report and rights of the agent, installs it, and records its key. */
  async installAgent(connection: HostConnection, node: string): Promise<void> {
    await this.addAgent(node);
    const command = installedAgent.install({ namespace: this.namespace, node, newKey: false });
    this.records.recordKeys(node, JSON.parse(await this.run(connection, command)) as InstallAnswer);
  }

  /** Configures a host until its agent reports the version; gives the name of its Node. */
  async join(address: string, username?: string): Promise<string> {
    await using connection = await this.connect(address, username);
    await this.uploadAgent(connection);
    const inventory = await this.inventory(connection);
    // An ordinary user cannot list services, from which the name is derived.
    const nodeName = inventory.nodeName || inventory.hostName.toLowerCase();
    this.records.recordHost(nodeName, [address]);
    await this.stage(connection, nodeName);
    await this.bootstrap(connection, nodeName);
    const node = await this.findNode(connection.facts.address);
    await this.desire(node);
    await this.installAgent(connection, node);
    await this.waitForVersion(node, 60_000);
    return node;
  }

  async findNode(name: string): Promise<string> {
    const [address = name] = await this.sandbox.resolver.addresses(name);
    return this.nodeAt(address);
  }

  async texts(node: string): Promise<BundleFile[]> {
    const text = await this.#pairTexts();
    return this.textFiles({
      bootstrapToken: await this.bootstrapToken(),
      agentToken: await this.agentToken(node),
      tls: { certificate: text(secretKey.tlsCertificate), key: new Secret(text(secretKey.tlsKey)) },
    });
  }

  /** From the Secret of the machine config operator. */
  async bootstrapToken(): Promise<ServiceAccountToken> {
    const text = await this.#secretTexts(secretName.bootstrapToken, namespaceName.machineConfig);
    return { ca: text(secretKey.ca), token: new Secret(text(secretKey.token)) };
  }

  /** From the service CA, which issues the pair for the Service. */
  async #pairTexts(): Promise<(key: string) => string> {
    const { namespace } = this;
    const { name, secretAnnotation } = exporterService;
    const service = {
      metadata: { name, namespace, annotations: { [secretAnnotation]: secretName.tls } },
      spec: { ports: [{ port: ports.exporter }] },
    };
    await this.client.create(services, service).catch(unless(isAlreadyExists));
    // Also called outside of tests, where expect.poll fails.
    return vi.waitFor(() => this.#secretTexts(secretName.tls, namespace), { timeout: 60_000 });
  }

  async #secretTexts(name: string, namespace: string): Promise<(key: string) => string> {
    const { data } = await this.client.get(secrets, name, { namespace });
    return key => Buffer.from(data?.[key] ?? '', 'base64').toString();
  }

  async agentToken(node: string): Promise<ServiceAccountToken> {
    const token = await this.requestToken(agentName);
    this.records.recordToken(node, 'agent', token.token.reveal());
    return token;
  }
}
