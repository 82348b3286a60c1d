import { AppError } from '#base/errors.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import { foreignNode } from '../configure/name-check.ts';
import { checkCluster, checkPods } from '../configure/remedies.ts';
import { evictPods, takeGrant } from '../out-of-service.ts';
import type { Step } from '../step.ts';
import { removalMode, type RemoveJourney } from './journey.ts';

const shortMs = 2 * 60_000;

export const confirmRemoval: Step<RemoveJourney> = {
  name: 'confirm removal',
  description: 'reads Namespace, CRD, instance and entry again; ends the removal if the host is to stay',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey, { signal }) {
    journey.refusal = await journey.cluster.refusal(journey.instance, signal);
    journey.mode = await removalMode(journey);
    if (journey.mode === 'force' && journey.nodeName === undefined) journey.claimedName = orphanName(journey);
  },
};

/**
 * The Node that a forced request without a record is about has the name of the request. It must be an orphan that the operator
 * configured, with the host key or the address of the request.
 */
function orphanName({ instance, deps }: RemoveJourney): string | undefined {
  const { name = '' } = instance.metadata;
  const node = deps.nodes.get(name);
  if (node === undefined || deps.names.holderOf(name, instance) !== undefined) return undefined;
  const [, key = ''] = (instance.spec.hostKey ?? '').split(' ');
  return foreignNode(node, key, instance.spec.address) === undefined ? name : undefined;
}

/** A Node that was not ready when the removal started, and needed no grant, may be in service again. */
export const awaitTurn = takeGrant<RemoveJourney>('remove', ({ node }) => node === undefined);

export const cordonNode: Step<RemoveJourney> = {
  name: 'cordon',
  description: 'cordons the Node; the cordon of an administrator stays as it is',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  isDone: ({ node }) => node === undefined,
  async run({ joinedNode, deps }, { signal }) {
    await deps.nodes.cordonAndLabel(joinedNode.name, {}, [], signal).catch(unless(isNotFound));
  },
};

export const drainNode: Step<RemoveJourney> = {
  name: 'drain',
  description: 'evicts the pods of the Node; goes on without them only if forced, or by the setting drainTimeout',
  usualMs: 5 * 60_000,
  // More than the longest setting.
  limitMs: 5 * 3_600_000,
  remedy: checkPods,
  // The kubelet of a Node that is not ready ends no pods; they are deleted with the Node.
  isDone: ({ node, mode }) => node === undefined || (mode === 'force' && !node.ready),
  run: (journey, turn) => evictPods(journey, turn, journey.mode === 'force'),
};

export const noteHost: Step<RemoveJourney> = {
  name: 'note host',
  description: 'notes a host that is removed by force in the ConfigMap windows-removed-hosts',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  isDone: ({ nodeName }) => nodeName === undefined,
  async run({ nodeName = '', address, instance, cluster }, { signal }) {
    await cluster.noteRemoved({ node: nodeName, address, instance: instance.metadata.name ?? '' }, signal);
  },
};

export const deleteNode: Step<RemoveJourney> = {
  name: 'delete node',
  description: 'deletes the Node, the stored host key and the note of an earlier removal by force',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey, { signal }) {
    const { node, nodeName, deps, instance, cluster, mode } = journey;
    if (node !== undefined) await cluster.deleteNode(node, signal);
    if (mode === 'host' && nodeName !== undefined) await cluster.forgetNote(nodeName, signal);
    await deps.hostKeys.forget(instance, signal);
  },
};

export const deleteInstance: Step<RemoveJourney> = {
  name: 'delete instance',
  description: 'deletes the WindowsInstance',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey, { signal }) {
    const { instance, cluster, deps } = journey;
    await deps.grants.end(instance, signal);
    cluster.report(journey);
    await cluster.deleteInstance(instance, signal);
  },
};

/** The error of a removal also says how to continue without the host. */
export function withForceRemedy(error: AppError, { instance }: Pick<RemoveJourney, 'instance'>): AppError {
  const { name, namespace } = instance.metadata;
  const { code, message, remedy } = error;
  return new AppError(code, message, {
    remedy:
      `${remedy} To remove the host without cleaning it, run \`kubectl annotate windowsinstance ${name} ` +
      `-n ${namespace} windowsmachineconfig.openshift.io/force-removal=true\`.`,
    cause: error,
  });
}
