import { joinMarks } from '../../desired/marks.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { Marks } from '#contract/node-marks.ts';
import { printHostKey } from '#host/host-key.ts';
import { untilNode } from '../node-watch.ts';
import type { HostInputs } from '../deps.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { checkCluster, checkRegistration } from './remedies.ts';

const shortMs = 2 * 60_000;

export const findNode: Step<ConfigureJourney> = {
  name: 'find node',
  description: 'waits for the Node that the kubelet of the host registers',
  usualMs: 30_000,
  limitMs: 10 * 60_000,
  remedy: checkRegistration,
  timeout: {
    code: 'NODE_NOT_FOUND',
    message: ({ address, nodeName }) => `${address}: Node ${nodeName} was not registered`,
  },
  isDone: ({ node }) => node !== undefined,
  async run(journey, { signal, note }) {
    note('the kubelet requests a certificate and registers its Node');
    await untilNode(journey.deps.nodes, journey.nodeName ?? '', () => journey.node, signal);
  },
};

export const cordonAndLabelNode: Step<ConfigureJourney> = {
  name: 'mark node',
  description: 'cordons the Node and sets labels, annotations and taints',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey, { signal }) {
    const { joinedNode: node, deps, instance, record } = journey;
    await deps.nodes.cordonAndLabel(node.name, marksFor(journey, node), instance.spec.taints ?? [], signal);
    const { nodeUID = node.uid } = record.known;
    if (nodeUID === node.uid) return;
    // The report is about an earlier Node. The UID of the first one is recorded with the key of the agent.
    await deps.nodes.clearReport(node.name, 'version', signal);
    await record.save({ nodeUID: node.uid });
  },
};

export const desireVersion: Step<ConfigureJourney> = {
  name: 'desired version',
  description: 'annotates the Node with the version and the settings that the agent has to apply, before it starts',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  isDone: ({ node, prepared }) =>
    Object.entries(desiredMarks(prepared.inputs)).every(([name, value]) => node?.annotations[name] === value),
  async run({ joinedNode, deps, prepared }, { signal }) {
    await deps.nodes.annotate(joinedNode.name, desiredMarks(prepared.inputs), signal);
  },
};

export const releaseNode: Step<ConfigureJourney> = {
  name: 'uncordon',
  description: 'uncordons the Node, unless an administrator cordoned it',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run({ joinedNode, deps, instance }, { signal }) {
    await deps.nodes.release(joinedNode.name, signal);
    try {
      await deps.hostKeys.forget(instance, signal);
    } catch (error) {
      signal.throwIfAborted();
      // The key is recorded, so the copy is harmless.
      deps.log.warn('Removing host key from ConfigMap failed', { error });
    }
  },
};

function desiredMarks({ version, settings }: HostInputs): Record<string, string> {
  return { [nodeAnnotation.desiredVersion]: version, [nodeAnnotation.desiredServices]: settings.services };
}

function marksFor({ instance, prepared, username, hostKey }: ConfigureJourney, node: NodeView): Marks {
  const { publicKeyHash } = prepared.inputs;
  const has = (name: string, value: string) => node.annotations[name] === value;
  const isSealed = has(nodeAnnotation.pubKeyHash, publicKeyHash) && node.annotations[nodeAnnotation.username];
  const isStored = hostKey === undefined || has(nodeAnnotation.sshHostKey, printHostKey(hostKey));
  const marks = joinMarks({
    byoh: instance.spec.source?.kind !== 'Machine',
    pubKeyHash: publicKeyHash,
    // Sealing gives another result each time, so a name sealed with this key stays.
    sealedUsername: isSealed || prepared.inputs.sealUsername(username),
    ...(!isStored && { hostKey: { type: hostKey.type, base64: printHostKey(hostKey) } }),
  });
  return { ...marks, labels: { ...instance.spec.labels, ...marks.labels } };
}
