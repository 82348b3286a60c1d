import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { detectCluster, type DetectedCluster } from '#cluster/detect.ts';
import { checkDiscoveryAccess, discoveryResources } from '#cluster/discovery-objects.ts';
import { type FactsSource, kubernetesSource, openshiftResources, openshiftSource } from '#cluster/facts-source.ts';
import { slimClient } from '#cluster/slim.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { operatorName } from '#contract/names.ts';
import { registryResources } from '#controllers/registries/controller.ts';
import { createControllers, optionalResources } from '#controllers/all.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import type { DialTcp } from '#host/dial-tcp.ts';
import type { Connect } from '#host/host.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Client } from '#kube/client.ts';
import { type Runnable, runManager } from '#kube/controller/manager.ts';
import type { MemoryMetrics } from '#kube/controller/metrics.ts';
import { EventRecorder } from '#kube/events/events.ts';
import { Informers } from '#kube/informer/informers.ts';
import type { PayloadSource } from '#node/payload-source.ts';
import { healthServer, Readiness, readyWhenReached } from './serve/health.ts';
import { leadershipOf } from './leadership.ts';
import { machineSettings } from '#controllers/machines/act/machine-settings.ts';
import { hostInputSource, mirrorResources } from '#node/inputs/host-inputs.ts';
import { logOrigins } from './log-origins.ts';
import { metricsServer } from './serve/metrics-server.ts';
import { printMetrics } from './serve/metrics-text.ts';
import { processMetrics } from './serve/process-metrics.ts';
import type { RunSettings } from './settings.ts';
import { checkServer, suitability } from './suitability.ts';

export interface OperatorParts {
  client: Client;
  /** With a connection of its own: whatever else is in progress, renewals of the Lease do not wait for it. */
  leaseClient: Client;
  settings: RunSettings;
  connect: Connect;
  dialTcp: DialTcp;
  resolver: Resolver;
  payload: PayloadSource;
  clock: Clock;
  log: Log;
  metrics: MemoryMetrics;
  /** From 0 to 1. */
  random: () => number;
}

/** Runs the operator until the signal is aborted; rejects when it cannot start, fails, or loses the lease. */
export async function runOperator(parts: OperatorParts, signal: AbortSignal): Promise<void> {
  const { client, settings, log, clock, metrics, random } = parts;
  const resources = [
    ...openshiftResources,
    ...discoveryResources,
    ...mirrorResources,
    ...registryResources,
    ...optionalResources,
  ];
  const cluster = await detectCluster(client, [...resources, windowsInstances], signal);
  log.info('Detected cluster', { kind: cluster.kind, serverVersion: cluster.serverVersion });
  checkServer(cluster, settings);
  const informers = new Informers({ client: slimClient(client), clock, log, random });
  const facts = await createFacts(cluster, informers, parts, signal);
  const { namespace, version, podName } = settings;
  const recorder = new EventRecorder({ client, component: operatorName, instance: podName, clock, log, metrics });
  const common: ControllerParts = { client, informers, recorder, namespace, version, clock, log, metrics };
  const leader = await leadershipOf(
    { client: parts.leaseClient, namespace, podName, clock, log, random, lease: settings.lease },
    signal,
  );
  const controllers = createControllers({
    ...parts,
    ...common,
    ...cluster,
    leader,
    facts,
    kubeletVersion: settings.kubeletVersion,
    certificateLifetime: settings.certificateLifetime,
    conditionName: settings.conditionName,
    hosts: { joins: settings.maxParallelJoins, uploads: settings.maxParallelUploads },
    inputs: hostInputSource({ ...common, ...cluster, settings, facts }),
    machineSettings: () => machineSettings(informers, facts, namespace),
  });
  const readiness = new Readiness();
  await runManager(
    {
      servers: serversOf(parts, { informers, facts, readiness }),
      caches: [informers],
      others: [
        recorder,
        suitability({ ...parts, kind: cluster.kind, facts }),
        logOrigins(facts, log),
        readyWhenReached('caches', readiness),
      ],
      leaderOnly: controllers,
      leadership: leader,
      clock,
      log,
      startTimeoutMs,
    },
    signal,
  );
}

/** A server that is too busy at the start is waited for; after a restart it would be busy, too. */
const startTimeoutMs = 600_000;

async function createFacts(
  { kind, serves }: DetectedCluster,
  informers: Informers,
  { client, settings, payload }: OperatorParts,
  signal: AbortSignal,
): Promise<FactsSource> {
  const { optionalPrograms = [] } = payload;
  if (kind === 'openshift') return openshiftSource(informers, { ...settings, optionalPrograms }, serves);
  return kubernetesSource(informers, settings, await checkDiscoveryAccess(client, serves, signal));
}

function serversOf(
  { client, settings, clock, log, metrics }: OperatorParts,
  { informers, facts, readiness }: { informers: Informers; facts: FactsSource; readiness: Readiness },
): Runnable[] {
  const { healthAddress, metricsAddress } = settings;
  const troubles = () => informers.troubles().map(({ informer, trouble }) => `${informer}: ${trouble}`);
  return [
    ...(healthAddress ? [healthServer({ address: healthAddress, readiness, troubles, log })] : []),
    ...(metricsAddress
      ? [metricsServer({ address: metricsAddress, client, facts, print: printer(metrics, informers), clock, log })]
      : []),
  ];
}

/** Prints all metrics, with those of the process at the time of the call. */
function printer(metrics: MemoryMetrics, informers: Informers): () => string {
  const updateProcessMetrics = processMetrics(metrics, () => informers.figures());
  return () => {
    updateProcessMetrics();
    return printMetrics(metrics.all());
  };
}
