import { onTestFinished } from 'vitest';
import { runController } from '#agent/controller/run.ts';
import { createHostValues } from '#agent/host-values/host-values.ts';
import { createKey } from '#agent/identity/key.ts';
import { runAgent } from '#agent/verbs/run.ts';
import type { VerbDeps } from '#agent/verbs/verb.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import type { AgentReport } from '#contract/agent-report.ts';
import { agentName, nodeAnnotation } from '#contract/names.ts';
import { dir, file } from '#contract/paths.ts';
import { type Service, service } from '#contract/services/manifest.ts';
import { servicesConfigMap } from '#contract/services/print.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { configMaps, type Node, namespaces, nodes } from '#kube/resources.ts';
import { startEmbeddedCluster } from '../../src/sandbox/embedded-cluster.ts';
import { AgentRecords } from './agent-records.ts';
import { AgentRights } from './agent-rights.ts';
import { startRecordsApprover } from './approve-requests.ts';
import { fastClock } from './fast-clock.ts';
import { ModelHost } from './model-host.ts';
import { type RecordedLog, recordedLog } from './recorded-log.ts';
import { makeReport, readReport, startMirroring } from './report-mirror.ts';

export const namespace = 'wmco';
export const nodeName = 'win-1';
export const agentAccount = `system:serviceaccount:${namespace}:${agentName}`;

export const containerd = service({ name: 'containerd', command: 'c.exe', bootstrap: true });
export const kubelet = service({
  name: 'kubelet',
  command: 'k.exe',
  bootstrap: true,
  dependencies: ['containerd'],
  priority: 1,
});
export const kubeProxy = service({
  name: 'kube-proxy',
  command: 'p.exe --node NODE_NAME',
  nodeVariables: [{ name: 'NODE_NAME', jsonPath: '{.metadata.name}' }],
  dependencies: ['kubelet'],
  priority: 2,
});

/** Exit code and output of a command. */
export interface AgentOutput {
  code: number;
  out: string;
  err: string;
}

/** A cluster for agents to work in. */
export interface AgentPlace {
  /** Of the administrator. */
  client: Client;
  /** With the rights of the agent's service account. */
  kubeconfig: string;
  /** Ends the cluster, if it is for this test alone. */
  stop(): Promise<void>;
}

/** A simulated host in a cluster, with all that its agent needs. */
export interface AgentBench extends AsyncDisposable {
  host: ModelHost;
  /** Of the administrator. */
  client: Client;
  world: VerbDeps;
  logged: RecordedLog;
  /** Runs a command line of the agent to its end. */
  run(line: string): Promise<AgentOutput>;
  /** Makes the services ConfigMap of a version. */
  publish(version: string, services?: readonly Service[], environment?: Record<string, string>): Promise<void>;
  /** Makes the Node, with the annotations given. */
  register(annotations?: Record<string, string>, ready?: boolean): Promise<void>;
  annotate(annotations: Record<string, string | null>): Promise<void>;
  annotations(): Promise<Record<string, string>>;
  /** The report of the agent. */
  report(): Promise<AgentReport>;
  /** What the operator has recorded about the agent. */
  records: AgentRecords;
  rights: AgentRights;
  /** Stops the approval of certificate requests. */
  stopApproving(): Promise<void>;
  /** Ends the API server for good. */
  stopServer(): Promise<void>;
  /** The events in its report, each as `reason: message`. */
  events(): Promise<string[]>;
}

/** In its own embedded cluster. */
export async function startAgentBench(over: Partial<VerbDeps> = {}): Promise<AgentBench> {
  const cluster = await startEmbeddedCluster();
  const client = createClient(loadKubeconfig(cluster.kubeconfigFor()));
  const kubeconfig = cluster.kubeconfigFor({ commonName: agentAccount });
  return makeAgentBench({ client, kubeconfig, stop: () => cluster.close() }, over);
}

export async function makeAgentBench(place: AgentPlace, over: Partial<VerbDeps> = {}): Promise<AgentBench> {
  const { client } = place;
  await client.create(namespaces, { metadata: { name: namespace } });
  const rights = await AgentRights.grant(client, namespace);
  await rights.addNode(nodeName);
  await makeReport(client, namespace, nodeName);
  const records = new AgentRecords(namespace);
  const approver = startRecordsApprover(client, { operatorNamespace: namespace, hosts: {}, records });
  const mirror = startMirroring(client, namespace);
  const logged = recordedLog();
  const host = installedHost(place.kubeconfig, records);
  const world = worldOf(host, logged, over);
  const stopApproving = async () => approver[Symbol.asyncDispose]();
  const stopServer = async () => {
    await stopApproving();
    await mirror[Symbol.asyncDispose]();
    await client.close();
    await place.stop();
  };
  const report = () => readReport(client, namespace, nodeName);
  return {
    host,
    client,
    world,
    logged,
    records,
    rights,
    run: line => runIn(world, line),
    publish: async (version, services = [containerd, kubelet, kubeProxy], environment = {}) => {
      const manifest = { services: [...services], files: [], environment, watchedEnvironment: ['HTTP_PROXY'] };
      await rights.allowVersion(version);
      await client.create(configMaps, servicesConfigMap(manifest, version, namespace));
    },
    register: (annotations = {}, ready = true) => register(client, annotations, ready),
    annotate: async annotations =>
      void (await client.patch(nodes, nodeName, { type: 'merge', body: { metadata: { annotations } } })),
    annotations: async () => (await client.get(nodes, nodeName)).metadata.annotations ?? {},
    report,
    events: async () => (await report()).events.map(({ reason, message }) => `${reason}: ${message}`),
    stopApproving,
    stopServer,
    [Symbol.asyncDispose]: stopServer,
  };
}

/** A host after `install`, as far as the controller needs it. */
function installedHost(kubeconfig: string, records: AgentRecords): ModelHost {
  const host = new ModelHost();
  const key = createKey();
  host.fileTexts.set(file.agentKubeconfig, kubeconfig);
  host.fileTexts.set(file.caBundle, '');
  host.fileTexts.set(file.agentKey, key.pem.reveal());
  records.recordHost(nodeName, ['10.0.0.5']);
  records.recordKeys(nodeName, { keyHash: key.hash });
  return host;
}

export async function runIn(world: VerbDeps, line: string): Promise<AgentOutput> {
  const output = { out: '', err: '' };
  const out = (text: string) => void (output.out += text);
  const words = line === '' ? [] : line.split(' ');
  const code = await runAgent(words, world, { out, err: text => void (output.err += text) });
  return { code, ...output };
}

/** The world of verbs on a simulated host. */
export function worldOf(host: ModelHost, logged: RecordedLog = recordedLog(), over: Partial<VerbDeps> = {}): VerbDeps {
  return {
    host: () => host,
    // However fast time flies for the agent, a connection takes what it takes.
    client: { userAgent: 'agent-test', clock: systemClock },
    asService: () => Promise.reject(new Error('there is no service manager here')),
    openLog: () => logged.log,
    log: logged.log,
    // Polls of services that are still starting must not slow down tests.
    clock: fastClock(10),
    signal: new AbortController().signal,
    version: '11.0.0-test',
    runtime: 'here',
    program: file.agent,
    pid: 4711,
    ...over,
  };
}

async function register(client: Client, annotations: Record<string, string>, ready: boolean): Promise<void> {
  const labels = { 'kubernetes.io/os': 'windows' };
  const node = await client.create<Node>(nodes, { metadata: { name: nodeName, labels, annotations } });
  const status = {
    addresses: [{ type: 'InternalIP', address: '10.0.0.5' }],
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  };
  await client.replace(nodes, { ...node, status }, { subresource: 'status' });
}

export const wanted = (version: string): Record<string, string> => ({ [nodeAnnotation.desiredVersion]: version });

/** The controller on the host of a bench, running until the test ends. */
export function startAgentController({ host, world, logged }: AgentBench, clock: Clock = fastClock(10)) {
  const stop = new AbortController();
  const ready = { times: 0 };
  const ports = { ...world.host(), host: createHostValues(host, { clock }) };
  const options = {
    kubeconfigPath: file.agentKubeconfig,
    namespace,
    nodeName,
    cloudNode: false,
    caBundle: file.caBundle,
    certDir: dir.agentCerts,
    certDurationMs: 3_600_000,
  };
  const life = { signal: stop.signal, ready: () => void (ready.times += 1) };
  const ended = runController({ ports, client: world.client, clock, log: logged.log }, options, life).then(
    () => 'stopped',
    (error: unknown) => error,
  );
  const end = async () => {
    stop.abort(new Error('stop'));
    return ended;
  };
  onTestFinished(async () => void (await end()));
  return { end, ended, ready };
}

/** Whether the version was reported, and the operator has written it to the Node. */
export async function isMarked(bench: AgentBench, version: string): Promise<boolean> {
  const { version: reported } = await bench.report();
  return reported === version && (await bench.annotations())[nodeAnnotation.version] === version;
}

/** Name and state of every service on the host. */
export async function statesOf({ host }: AgentBench): Promise<Record<string, string>> {
  return Object.fromEntries((await host.services.list()).map(({ name, state }) => [name, state]));
}
