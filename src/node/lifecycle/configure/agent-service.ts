import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Fields } from '#base/fields.ts';
import type { InstallOptions } from '#contract/agent-command.ts';
import type { NodeView } from '#contract/node.ts';
import { awaitsReboot, isUpToDate } from '#contract/node-marks.ts';
import { hasCloudNodeManager } from '../../desired/services.ts';
import { askAgent } from '../agent-call.ts';
import { untilNodes } from '../node-watch.ts';
import type { StepTimeout, Step, StepTurn } from '../step.ts';
import { askForInventory } from './agent-program.ts';
import type { ConfigureJourney } from './journey.ts';
import { rebootTimeout } from './prepare-windows.ts';
import { rebootOnce } from './reboot.ts';

const installMs = 4 * 60_000;
const installLimitMs = 5 * 60_000;
const settings = 'variables and certificates';

type Installation = Pick<InstallOptions, 'newKey' | 'keepCommand'>;

const versionTimeout: StepTimeout<ConfigureJourney> = {
  code: 'NODE_VERSION_TIMEOUT',
  message: ({ node, world, prepared }) => {
    const event = node && world.nodes.remarkOf(node.name);
    const said = event === undefined ? 'its agent has said nothing' : `its agent said last: ${event}`;
    return `Node ${node?.name} did not come to version ${prepared.inputs.version} (${said})`;
  },
  remedy: 'Look at the events of the Node and at C:\\var\\log\\wicd on the host.',
};

/** What both waits for the agent have in common: they are over when it has confirmed the version. */
const untilVersion: Pick<Step<ConfigureJourney>, 'limitMs' | 'timeout' | 'isDone'> = {
  limitMs: 20 * 60_000,
  timeout: versionTimeout,
  isDone: ({ node, prepared }) => isUpToDate(node, prepared.inputs.version),
};

export const installAgent: Step<ConfigureJourney> = {
  name: 'agent service',
  description: 'has the agent make its key and its Windows service and start it; records the hash of the key',
  limitMs: installLimitMs,
  run: (journey, turn) => {
    const { known, installsAgent } = journey.record;
    // A key that this very journey has made is as good, and its agent need not be started anew.
    return install(journey, { newKey: known.agent === undefined && !installsAgent }, turn);
  },
};

/** A new key for an agent whose credentials have run out, or whose key is not recorded. */
export const reinstallAgent: Step<ConfigureJourney> = {
  name: 'agent service',
  description: 'has the agent make a new key and start again with a fresh token; records the hash of the key',
  limitMs: installLimitMs,
  run: (journey, turn) => install(journey, { newKey: true }, turn),
};

/** As above for a host of another version: its program and its service stay what they are. */
export const rekeyAgent: Step<ConfigureJourney> = {
  name: 'agent service',
  description: 'has a new key made for the agent of another version and starts it again; records the hash of the key',
  limitMs: installLimitMs,
  run: (journey, turn) => install(journey, { newKey: true, keepCommand: true }, turn),
};

async function install(journey: ConfigureJourney, how: Installation, { signal }: StepTurn): Promise<void> {
  const { host, address, prepared, commands, joinedNode, record, world } = journey;
  const { namespace, agentLogMegabytes: logMegabytes, certificateLifetime, platform } = prepared.inputs;
  // A service that is left as it is uses the keys it was made for, and no others.
  const cloudNode = how.keepCommand === true ? record.known.cloudNode !== undefined : hasCloudNodeManager(platform);
  const command = commands.install({
    namespace,
    node: joinedNode.name,
    ...how,
    certificateLifetime,
    cloudNode,
    ...(logMegabytes !== undefined && { logMegabytes }),
  });
  const answer = await askAgent({ host, address, command, signal, timeoutMs: installMs });
  const installed = timestamp(world.clock.now());
  const identity = (hash: string) => ({ keyHash: hash, installed });
  // Requests of the agent are approved by the hash; one that comes earlier stays pending until it is recorded.
  await record.save({
    nodeUID: joinedNode.uid,
    agent: identity(hashIn(answer, 'keyHash')),
    ...(cloudNode && { cloudNode: identity(hashIn(answer, 'cloudKeyHash')) }),
  });
}

function hashIn(answer: Fields, name: string): string {
  const hash = answer.requiredString(name);
  if (/^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new AppError('AGENT_ANSWER_INVALID', `${answer.label}: ${name} is not a SHA-256 hash`, {
    remedy: 'Run the agent with `install` on the host to see what it prints.',
  });
}

export const awaitSettings: Step<ConfigureJourney> = {
  name: 'wait for agent',
  description: 'waits for the agent: it confirms the version, or asks for a reboot for variables and certificates',
  ...untilVersion,
  run: (journey, turn) => untilAgent(journey, turn, awaitsReboot),
};

export const rebootForSettings: Step<ConfigureJourney> = {
  name: 'reboot for settings',
  description: 'drains and reboots the host if the agent has asked for it',
  limitMs: 45 * 60_000,
  timeout: rebootTimeout,
  isDone: ({ node }) => node === undefined || !awaitsReboot(node),
  async run(journey, turn) {
    const { world, record, joinedNode } = journey;
    const { signal } = turn;
    turn.note('pods leave the Node');
    await world.nodes.drain(joinedNode.name, signal);
    turn.note(undefined);
    // What was seen at the beginning of the journey may be of an earlier boot.
    journey.inventory = await askForInventory(journey, signal);
    await rebootOnce(journey, settings, turn);
    await world.nodes.clearReport(joinedNode.name, 'rebootRequired', signal);
    // The next one that is asked for is another one.
    await record.saveReboot(undefined);
    await journey.host.close();
  },
};

export const awaitVersion: Step<ConfigureJourney> = {
  name: 'wait for version',
  description: 'waits until the agent confirms after that reboot that everything runs and the Node is ready',
  ...untilVersion,
  run: (journey, turn) => untilAgent(journey, turn, () => false),
};

/** Waits until the agent has confirmed the version, or something else is enough. */
async function untilAgent(
  journey: ConfigureJourney,
  { signal, note }: StepTurn,
  isEnough: (node: NodeView) => boolean,
): Promise<void> {
  // The network of the host changes now, which breaks connections, and nothing has to be asked for a while.
  await journey.host.close();
  const { nodes } = journey.world;
  const look = (): true | undefined => {
    const { node } = journey;
    if (node === undefined) return undefined;
    const { nodeUID = node.uid } = journey.record.known;
    if (nodeUID !== node.uid) throw madeAgain(node.name);
    if (isEnough(node) || isUpToDate(node, journey.prepared.inputs.version)) return true;
    note(nodes.remarkOf(node.name) ?? 'the agent sets up the host');
    return undefined;
  };
  await untilNodes(nodes, look, signal);
}

/** It lacks all marks, so that the journey has to begin again. */
function madeAgain(node: string): AppError {
  return new AppError('NODE_NOT_FOUND', `Node ${node} was deleted and registered again`, {
    remedy: 'Find out who deleted it; the host is set up again.',
  });
}
