import { systemClock } from '#base/clock.ts';
import type { RunningSandbox, SandboxFactory, SandboxSpec } from '#cli/sandbox/running.ts';
import { managedDescription } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { createClient } from '#kube/http-client.ts';
import { payloadFor } from '#node/payload.ts';
import type { PayloadSource } from '#node/payload-source.ts';
import { runOperator } from '#operator/operator.ts';
import { defaultSettings } from '#operator/settings.ts';
import { endFaultAnnotation } from '#sandbox/machines/cluster/end-faults.ts';
import { faults } from '#sandbox/machines/faults.ts';
import { simulatedPayload } from '#sandbox/machines/programs/payload.ts';
import { startSandbox } from '#sandbox/sandbox.ts';

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
  const { namespace, connect, dialTcp, resolver } = sandbox;
  const client = createClient(loadKubeconfig(sandbox.kubeconfig));
  const [stop, operatorExit] = [new AbortController(), new AbortController()];
  const running = runOperator(
    {
      client,
      leaseClient: client,
      settings: defaultSettings({ namespace, version }),
      connect,
      dialTcp,
      resolver,
      payload: sandboxPayload(version, payloadBytes),
      clock: systemClock,
      log,
      metrics: new MemoryMetrics(),
      random: Math.random,
    },
    stop.signal,
  ).catch((error: unknown) => operatorExit.abort(error));
  return {
    kubeconfig: sandbox.kubeconfig,
    url: sandbox.url,
    namespace,
    operatorExit: operatorExit.signal,
    hosts: () =>
      sandbox.hosts.map(host => ({
        name: host.spec.name,
        faults: sandbox.faultsOf(host.spec.name),
        sshSessions: host.stats.execSessions + host.stats.sftpSessions,
        uploadedBytes: host.stats.uploadedBytes,
        reboots: host.stats.reboots,
        installed: {
          services: [...host.state.services.values()].filter(isManaged).map(({ name }) => name),
          networks: host.state.networks.map(({ name }) => name),
        },
      })),
    [Symbol.asyncDispose]: async () => {
      stop.abort(new Error('the sandbox is stopping'));
      await running;
      await client.close();
      await sandbox.stop();
    },
  };
}

function isManaged({ name, config }: { name: string; config: { description: string } }): boolean {
  return config.description === managedDescription(name);
}

/** Payload programs of this size that simulated hosts can run. */
export function sandboxPayload(version: string, bytes: number, platform = 'None'): PayloadSource {
  const files = payloadFor(platform).map(({ directory, name }) => `${directory}\\${name}`);
  const programs = files.filter(path => path !== file.agent);
  return simulatedPayload({ version, agent: file.agent, programs, bytes });
}
