import { systemClock } from '#base/clock.ts';
import type { RunningSandbox, SandboxFactory, SandboxRelease, SandboxSpec } from '#cli/sandbox/running.ts';
import { managedDescription } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { createClient } from '#kube/http-client.ts';
import { payloadFor } from '#node/payload.ts';
import type { PayloadSource } from '#node/payload-source.ts';
import { runOperator } from '#operator/operator.ts';
import { defaultSettings } from '#operator/settings.ts';
import { turnIntoGoCluster } from '#sandbox/go-operator/cluster.ts';
import { turnIntoGoHost } from '#sandbox/go-operator/host.ts';
import { goPodName, goVersion } from '#sandbox/go-operator/objects.ts';
import { endFaultAnnotation } from '#sandbox/machines/cluster/end-faults.ts';
import { faults } from '#sandbox/machines/faults.ts';
import type { SimulatedHost } from '#sandbox/machines/host/host.ts';
import { simulatedPayload } from '#sandbox/machines/programs/payload.ts';
import type { Defect } from '#sandbox/machines/programs/stamp.ts';
import { type Sandbox, startSandbox } from '#sandbox/sandbox.ts';

/** Small enough for a laptop, large enough to show progress. */
const payloadBytes = 8_000_000;

export const sandboxFactory: SandboxFactory = {
  faults: Object.entries(faults).map(([name, { description }]) => ({ name, description })),
  endFaultAnnotation,
  start,
};

async function start(spec: SandboxSpec): Promise<RunningSandbox> {
  const { hosts, machines, faults: faultNames, speed, folder, version, log, port } = spec;
  const sandbox = await startSandbox({
    hosts,
    listsNames: true,
    machines,
    faults: faultNames,
    speed,
    folder,
    agentVersion: version,
    ...(port !== undefined && { port }),
    times: { uploadBytesPerSecond: 4_000_000 },
  });
  const client = createClient(loadKubeconfig(sandbox.kubeconfig));
  const operatorExit = new AbortController();
  const startVersion = (release: SandboxRelease) =>
    startOperator({ sandbox, client, log }, release, reason => operatorExit.abort(reason));
  let stopOperator = startVersion({ version });
  return {
    kubeconfig: sandbox.kubeconfig,
    url: sandbox.url,
    namespace: sandbox.namespace,
    operatorExit: operatorExit.signal,
    hosts: () => sandbox.hosts.map(host => machineOf(host, sandbox)),
    readFile: (host, path) => sandbox.host(host).files.read(path),
    setAuthorizedKeys: (host, lines) => sandbox.host(host).setAuthorizedKeys(lines),
    replaceOperator: async release => {
      await stopOperator();
      stopOperator = startVersion(release);
    },
    becomeGoCluster: async () => {
      await stopOperator();
      stopOperator = async () => undefined;
      await leaveAsGoOperator(sandbox, client);
      return { version: goVersion, pod: goPodName };
    },
    [Symbol.asyncDispose]: async () => {
      await stopOperator();
      await client.close();
      await sandbox.stop();
    },
  };
}

/** Returns a function that stops it. */
function startOperator(
  { sandbox, client, log }: { sandbox: Sandbox; client: Client; log: SandboxSpec['log'] },
  release: SandboxRelease,
  onFailure: (reason: unknown) => void,
): () => Promise<void> {
  const { namespace, connect, dialTcp, resolver } = sandbox;
  const stop = new AbortController();
  const running = runOperator(
    {
      client,
      leaseClient: client,
      settings: defaultSettings({ namespace, version: release.version }),
      connect,
      dialTcp,
      resolver,
      payload: sandboxPayload(release, payloadBytes),
      clock: systemClock,
      log,
      metrics: new MemoryMetrics(),
      random: Math.random,
    },
    stop.signal,
  ).catch(onFailure);
  return async () => {
    stop.abort(new Error('the sandbox stops this operator'));
    await running;
  };
}

async function leaveAsGoOperator(sandbox: Sandbox, client: Client): Promise<void> {
  const { url: apiServerUrl, ca, namespace, hosts } = sandbox;
  for (const host of hosts) await turnIntoGoHost(host, { apiServerUrl, ca, namespace, clock: systemClock });
  const nodes = hosts.map(({ spec }) => ({ name: spec.name, address: spec.name, pin: 'node' as const }));
  await turnIntoGoCluster(client, nodes, { apiServerUrl, namespace });
}

function machineOf(host: SimulatedHost, sandbox: Sandbox): ReturnType<RunningSandbox['hosts']>[number] {
  const { stats, state, spec } = host;
  return {
    name: spec.name,
    faults: sandbox.faultsOf(spec.name),
    sshSessions: stats.execSessions + stats.sftpSessions,
    uploadedBytes: stats.uploadedBytes,
    reboots: stats.reboots,
    installed: {
      services: [...state.services.values()].filter(isManaged).map(({ name }) => name),
      networks: state.networks.map(({ name }) => name),
    },
  };
}

function isManaged({ name, config }: { name: string; config: { description: string } }): boolean {
  return config.description === managedDescription(name);
}

export interface PayloadRelease {
  version: string;
  /** The version from which it differs in the agent and `patchedPrograms`; otherwise all programs are new. */
  since?: string;
  agent?: Defect;
  kubelet?: Defect;
  /** Of Kubernetes; default is that of the payload. */
  kubeletVersion?: string;
}

export const patchedPrograms = [file.kubelet, file.kubeProxy] as const;

/** Payload programs of this size that simulated hosts can run. */
export function sandboxPayload(release: PayloadRelease, bytes: number, platform = 'None'): PayloadSource {
  const { version, since, agent, kubelet, kubeletVersion } = release;
  const files = payloadFor(platform).map(({ directory, name }) => `${directory}\\${name}`);
  return simulatedPayload({
    version,
    agent: file.agent,
    programs: files.filter(path => path !== file.agent),
    bytes,
    ...(since !== undefined && { since: { version: since, changed: patchedPrograms } }),
    ...(kubeletVersion !== undefined && { reports: { [file.kubelet]: kubeletVersion } }),
    defects: { ...(agent && { [file.agent]: agent }), ...(kubelet && { [file.kubelet]: kubelet }) },
  });
}
