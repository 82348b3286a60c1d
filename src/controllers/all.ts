import { findCondition } from '#base/condition.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { Installation } from '#cluster/installation.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { secretName } from '#contract/names.ts';
import { lifetimeLimit } from '#contract/certificate-lifetime.ts';
import { writesTokenIds } from '#contract/token-id.ts';
import type { Resolver } from '#host/resolver.ts';
import { paceConnects } from '#host/pace-connects.ts';
import type { Controller } from '#kube/controller/controller.ts';
import { type Watch, watching } from '#kube/controller/watches.ts';
import { keyOf, type Resource } from '#kube/resource.ts';
import { secrets } from '#kube/resources.ts';
import { machineSets, machines } from '#kube/resources-openshift.ts';
import * as agentAccess from './agent-access/controller.ts';
import * as agentReports from './agent-reports/controller.ts';
import * as clusterChecks from './cluster-checks/controller.ts';
import * as condition from './condition/controller.ts';
import * as csr from './csr/controller.ts';
import * as exporter from './exporter/controller.ts';
import * as hostKeys from './host-keys/controller.ts';
import * as instances from './instances/controller.ts';
import * as lifecycle from './lifecycle/controller.ts';
import * as linuxNodes from './linux-nodes/controller.ts';
import * as machineSource from './machines/controller.ts';
import { machineNames, type MachinesParts } from './machines/observe.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { createRollout, type Rollout } from '#node/rollout/rollout.ts';
import type { Permission } from '#kube/permissions.ts';
import * as privateKey from './private-key/controller.ts';
import * as registries from './registries/controller.ts';
import * as removedHosts from './removed-hosts/controller.ts';
import * as servicesConfig from './services-config/controller.ts';
import { watchingSignal } from '#kube/controller/signal-watch.ts';
import * as trustedCa from './trusted-ca/controller.ts';
import * as userData from './user-data/controller.ts';

export interface AllParts
  extends ControllerParts,
    Pick<lifecycle.LifecycleParts, 'connect' | 'dialTcp' | 'inputs' | 'payload' | 'leader'> {
  resolver: Resolver;
  /** From 0 to 1. */
  random: () => number;
  hosts: Pick<lifecycle.LifecycleLimits, 'joins' | 'uploads'>;
  settings: OperatorSettings & agentAccess.AgentAccessParts['settings'] & { keepsPrivateKeys?: boolean };
  /** Go duration for which agents request their certificates. */
  certificateLifetime: string;
  facts: FactsSource;
  kind: 'openshift' | 'kubernetes';
  /** gitVersion of the API server. */
  serverVersion: string;
  /** Of the payload. */
  kubeletVersion: string;
  serves: (resource: Resource) => boolean;
  /** Value of OPERATOR_CONDITION_NAME, which OLM sets; empty without OLM. */
  conditionName: string;
  /** Called only in clusters with Machines. */
  machineSettings: () => Pick<MachinesParts, 'settings' | 'onSettingsChange'>;
}

/** Resources of the Machine API, which not every cluster has. */
export const optionalResources: readonly Resource[] = [machines, machineSets];

/** An SSH handshake blocks the event loop for about half this time. */
const handshakeEveryMs = 10;

/** The controllers that run on the leader, for the resources that the cluster serves. */
export function createControllers(given: AllParts): Controller[] {
  const connect = paceConnects(given.connect, handshakeEveryMs, given.clock);
  const parts = { ...given, connect, installation: new Installation(given.client, given.namespace, given.clock) };
  const rollout = createRollout(parts);
  const hasMachines = optionalResources.every(parts.serves);
  return [
    servicesConfig.servicesConfigController(parts),
    agentAccess.agentAccessController(parts),
    ...(parts.kind === 'openshift' ? [trustedCa.trustedCaController(parts)] : []),
    clusterChecks.clusterChecksController(parts),
    exporter.exporterController(parts),
    linuxNodes.linuxNodesController(parts),
    instances.instancesController(parts),
    privateKey.privateKeyController(parts),
    ...(hasMachines ? machineControllers({ ...parts, rollout }) : []),
    agentReports.agentReportsController(parts),
    removedHosts.removedHostsController(parts),
    hostKeys.hostKeysController({ ...parts, hasMachines }),
    ...(registries.registryResources.some(parts.serves) ? [registries.registriesController(parts)] : []),
    ...(parts.conditionName === '' ? [] : [condition.conditionController({ ...parts, rollout })]),
    csr.csrController({
      ...parts,
      hasTokenIds: writesTokenIds(parts.serverVersion),
      lifetime: lifetimeLimit(parts.certificateLifetime, parts.serverVersion),
    }),
    lifecycle.lifecycleController({
      ...parts,
      limits: parts.hosts,
      rollout,
      watches: retryTriggers(parts),
      ...(hasMachines && { machineNames: machineNames(parts.informers) }),
    }),
  ];
}

function machineControllers(
  parts: AllParts & Pick<MachinesParts, 'installation'> & { rollout: Rollout },
): Controller[] {
  return [
    userData.userDataController(parts),
    machineSource.machinesController({ ...parts, ...parts.machineSettings() }),
  ];
}

export const permissions: readonly Permission[] = [
  servicesConfig,
  agentAccess,
  trustedCa,
  clusterChecks,
  condition,
  exporter,
  userData,
  linuxNodes,
  instances,
  privateKey,
  machineSource,
  agentReports,
  removedHosts,
  hostKeys,
  registries,
  csr,
  lifecycle,
].flatMap(controller => controller.permissions);

/** Retries hosts at once when what they failed for appears: the private key, the TLS pair, or complete facts of the cluster. */
function retryTriggers({ informers, namespace, facts }: AllParts): Watch[] {
  const { store } = informers.get(windowsInstances, { namespace });
  const all = () => store.list().map(keyOf);
  // Others keep their backoff.
  const waiting = () => store.list().filter(lacksFiles).map(keyOf);
  const secret = (name: string) => informers.get(secrets, { namespace, fieldSelector: `metadata.name=${name}` });
  return [
    watching({ source: secret(secretName.privateKey), keys: all }),
    // A renewed pair is no reason to reconcile all hosts.
    watching({ source: secret(secretName.tls), predicate: onlyAdded, keys: waiting }),
    watchingSignal(listener => onFactsComplete(facts, listener), all),
  ];
}

/** Whether the host failed because the pair, or another input, was missing. */
function lacksFiles({ status }: WindowsInstance): boolean {
  return findCondition(status?.conditions, instanceCondition.configured)?.reason === 'MATERIAL_MISSING';
}

const onlyAdded = { updated: () => false, deleted: () => false };

function onFactsComplete(facts: FactsSource, listener: () => void): () => void {
  let wasComplete = facts.read().facts !== undefined;
  return facts.onChange(() => {
    const isComplete = facts.read().facts !== undefined;
    if (isComplete && !wasComplete) listener();
    wasComplete = isComplete;
  });
}
