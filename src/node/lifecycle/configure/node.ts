import { joinMarks } from '../../desired/marks.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { Marks } from '#contract/node-marks.ts';
import { printHostKey } from '#host/host-key.ts';
import { untilNodes } from '../node-watch.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';

const shortMs = 2 * 60_000;

export const findNode: Step<ConfigureJourney> = {
  name: 'find node',
  description: 'waits for the Node that the kubelet of the host registers',
  limitMs: 10 * 60_000,
  timeout: {
    code: 'NODE_NOT_FOUND',
    message: ({ address, nodeName }) => `${address}: Node ${nodeName} was not registered`,
    remedy:
      'Look for pending certificate requests of the kubelet (`kubectl get csr`) and events on them, and at the log of the kubelet on the host.',
  },
  isDone: ({ node }) => node !== undefined,
  async run(journey, { signal, note }) {
    note('the kubelet asks for a certificate and registers its Node');
    await untilNodes(journey.world.nodes, () => journey.node, signal);
  },
};

export const cordonAndLabelNode: Step<ConfigureJourney> = {
  name: 'mark node',
  description: 'cordons the Node and sets labels, annotations and taints',
  limitMs: shortMs,
  async run(journey, { signal }) {
    const { joinedNode: node, world, instance, record } = journey;
    await world.nodes.cordonAndLabel(node.name, marksFor(journey, node), instance.spec.taints ?? [], signal);
    const { nodeUID = node.uid } = record.known;
    if (nodeUID === node.uid) return;
    // What the agent has reported was about a Node that is gone. The first one is recorded with the key of the agent.
    await world.nodes.clearReport(node.name, 'version', signal);
    await record.save({ nodeUID: node.uid });
  },
};

export const desireVersion: Step<ConfigureJourney> = {
  name: 'desired version',
  description:
    'tells on the Node which version the agent has to apply, before there is an agent that could apply another',
  limitMs: shortMs,
  isDone: ({ node, prepared }) => node?.annotations[nodeAnnotation.desiredVersion] === prepared.inputs.version,
  async run({ joinedNode, world, prepared }, { signal }) {
    const annotations = { [nodeAnnotation.desiredVersion]: prepared.inputs.version };
    await world.nodes.annotate(joinedNode.name, annotations, signal);
  },
};

export const releaseNode: Step<ConfigureJourney> = {
  name: 'uncordon',
  description: 'lets pods come to the Node, unless an administrator has cordoned it',
  limitMs: shortMs,
  async run({ joinedNode, world, instance }, { signal }) {
    await world.nodes.release(joinedNode.name, signal);
    try {
      await world.hostKeys.forget(instance, signal);
    } catch (error) {
      signal.throwIfAborted();
      // The record has the key; a copy too many does no harm.
      world.log.warn('Host key stays in the ConfigMap although it is recorded', { error });
    }
  },
};

function marksFor({ instance, prepared, username, hostKey }: ConfigureJourney, node: NodeView): Marks {
  const { publicKeyHash } = prepared.inputs;
  const has = (name: string, value: string) => node.annotations[name] === value;
  const isSealed = has(nodeAnnotation.pubKeyHash, publicKeyHash) && node.annotations[nodeAnnotation.username];
  const isKept = hostKey === undefined || has(nodeAnnotation.sshHostKey, printHostKey(hostKey));
  const marks = joinMarks({
    byoh: instance.spec.source?.kind !== 'Machine',
    pubKeyHash: publicKeyHash,
    // The seal is another one each time, so what was sealed with this key stays.
    sealedUsername: isSealed || prepared.inputs.sealUsername(username),
    ...(!isKept && { hostKey: { type: hostKey.type, base64: printHostKey(hostKey) } }),
  });
  return { ...marks, labels: { ...instance.spec.labels, ...marks.labels } };
}
