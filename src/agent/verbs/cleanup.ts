import { isAppError } from '#base/errors.ts';
import type { Client } from '#kube/client.ts';
import { type CleanupOutcome, cleanUp } from '../cleanup/carry-out.ts';
import { createCluster } from '../cluster.ts';
import { locateOwnNode } from '../locate-node.ts';
import type { Cluster } from '../ports.ts';
import { retry } from '../retry.ts';
import { clientIn, portsIn, waitingIn } from './one-shot.ts';
import type { Answer, Verb, World } from './verb.ts';

/** How long the API server may keep a host from being cleaned. */
const reachMs = 30_000;

export const cleanup: Verb = {
  name: 'cleanup',
  summary: 'take from the host what the agent has put there; works without Node and API server, too',
  required: ['kubeconfig', 'namespace'],
  optional: ['keep-settings'],
  async run(values, world) {
    const keepSettings = values['keep-settings'] === 'true';
    const found = await findCluster(values.kubeconfig, values.namespace, world);
    try {
      const ports = { ...portsIn(world), cluster: found.cluster };
      world.log.info('Cleaning the host', { node: found.node, keepSettings });
      const onWarning = (text: string) => world.log.warn(text);
      return answerOf(await cleanUp(ports, { keepSettings, onWarning }, waitingIn(world)), found, keepSettings);
    } finally {
      await found.close();
    }
  },
};

interface Found {
  /** Name of the own Node; undefined when there is none, or none could be found. */
  node: string | undefined;
  cluster: Cluster;
  /** Why the cluster knows nothing of what is done here; undefined when it does. */
  unreached: string | undefined;
  close(): Promise<void>;
}

async function findCluster(kubeconfig: string, namespace: string, world: World): Promise<Found> {
  const { signal } = world;
  let client: Client | undefined;
  try {
    client = await clientIn(world, kubeconfig);
    const nodeName = await findNode(client, world);
    const close = client.close.bind(client);
    const cluster = createCluster({ client, nodeName, namespace, signal });
    return { node: nodeName, cluster, unreached: undefined, close };
  } catch (error) {
    await client?.close();
    signal.throwIfAborted();
    world.log.warn('Going on without the API server, by what is known on this host', { error });
    const unreached = error instanceof Error ? error.message : String(error);
    return { node: undefined, cluster: noCluster, unreached, close: () => Promise.resolve() };
  }
}

/** A host that is no Node is nothing unusual: it is cleaned before it is first configured, too. */
async function findNode(client: Client, world: World): Promise<string | undefined> {
  const { clock, signal, log } = world;
  const isAnswer = (error: unknown) => isAppError(error, 'NODE_NOT_FOUND');
  const onFailure = (error: unknown) => log.warn('The API server does not answer, trying again', { error });
  try {
    const locate = (within: AbortSignal) => locateOwnNode(client, world.host().system, within);
    return (await retry(locate, { clock, signal, limitMs: reachMs, isAnswer, onFailure })).name;
  } catch (error) {
    if (isAnswer(error)) return undefined;
    throw error;
  }
}

const noCluster: Cluster = {
  node: () => Promise.resolve(undefined),
  annotateNode: () => Promise.resolve(),
  servicesConfigMap: () => Promise.resolve(undefined),
  servicesConfigMaps: () => Promise.resolve([]),
};

function answerOf({ removed, rebootNeeded }: CleanupOutcome, found: Found, keepSettings: boolean): Answer {
  const { node, unreached } = found;
  const lines = [
    removed.length === 0 ? 'No services of ours were there.' : `Removed services: ${removed.join(', ')}`,
    ...(keepSettings ? ['Variables and certificates were kept.'] : []),
    ...(rebootNeeded ? [rebootLine(node)] : []),
    ...(unreached === undefined ? [] : [`The API server was not reached, so the Node was not changed: ${unreached}`]),
  ];
  return {
    text: lines.join('\n'),
    data: {
      removed,
      keptSettings: keepSettings,
      rebootNeeded,
      node: node ?? null,
      clusterReached: unreached === undefined,
    },
  };
}

function rebootLine(node: string | undefined): string {
  return node === undefined
    ? 'A reboot is needed, and there is no Node to ask for it: reboot the host.'
    : `A reboot is needed, and was asked for on Node ${node}.`;
}
