import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Fields } from '#base/fields.ts';
import type { InstallOptions } from '#contract/agent-command.ts';
import type { NodeView } from '#contract/node.ts';
import { awaitsReboot, isUpToDate } from '#contract/node-marks.ts';
import { hasCloudNodeManager } from '../../desired/services.ts';
import { askAgent } from '../agent-call.ts';
import type { EventLimits } from '../deps.ts';
import type { HostJourney } from '../host-journey.ts';
import type { StepTimeout, Step, StepTurn } from '../step.ts';
import { bootOf, untilAgent } from '../until-agent.ts';
import { askForInventory } from './agent-program.ts';
import type { ConfigureJourney } from './journey.ts';
import { maxSkewMs } from './preflight.ts';
import { rebootTimeout } from './prepare-windows.ts';
import { rebootWithinLimit } from './reboot.ts';
import { checkAgent, checkCommand, checkReboot } from './remedies.ts';

const installMs = 4 * 60_000;
const settings = 'variables and certificates';

type InstallMode = Pick<InstallOptions, 'newKey' | 'keepCommand'>;

const versionTimeout: StepTimeout<ConfigureJourney> = {
  code: 'NODE_VERSION_TIMEOUT',
  message: journey => {
    const { address, node, deps, prepared } = journey;
    const event = node && deps.nodes.lastEvent(node, sinceInstall(journey));
    const report = event === undefined ? 'its agent reported no event' : `last event of its agent: ${event}`;
    return `${address}: Node ${node?.name} did not reach version ${prepared.inputs.version} (${report})`;
  },
};

const untilVersion: Pick<Step<ConfigureJourney>, 'usualMs' | 'limitMs' | 'timeout' | 'isDone' | 'remedy'> = {
  usualMs: 60_000,
  remedy: checkAgent,
  limitMs: 20 * 60_000,
  timeout: versionTimeout,
  isDone: journey => hasVersion(journey, journey.node),
};

export const installAgent = installStep(
  'has the agent create its key and its Windows service and start it; records the hash of the key',
  // A key that an earlier attempt of this journey created is good, and the agent need not restart.
  ({ record }) => ({ newKey: record.known.agent === undefined && !record.installsAgent }),
);

/** For an agent whose credentials expired, or whose key is not recorded. */
export const reinstallAgent = installStep(
  'has the agent create a new key and restart with a new token; records the hash of the key',
  () => ({ newKey: true }),
);

/** For a host of another version: its program and its service stay unchanged. */
export const rekeyAgent = installStep(
  'creates a new key for the agent of another version and restarts it; records the hash of the key',
  () => ({ newKey: true, keepCommand: true }),
);

function installStep(description: string, modeFor: (journey: ConfigureJourney) => InstallMode): Step<ConfigureJourney> {
  return {
    name: 'agent service',
    description,
    usualMs: 20_000,
    limitMs: 5 * 60_000,
    remedy: checkCommand,
    run: (journey, turn) => install(journey, modeFor(journey), turn),
  };
}

async function install(journey: ConfigureJourney, mode: InstallMode, { signal, note }: StepTurn): Promise<void> {
  const { host, address, prepared, commands, joinedNode, record, deps } = journey;
  await record.saveTimeline();
  const { namespace, agentLogMegabytes: logMegabytes, certificateLifetime, platform } = prepared.inputs;
  // A service that stays unchanged uses the keys it was created for.
  const cloudNode = mode.keepCommand === true ? record.known.cloudNode !== undefined : hasCloudNodeManager(platform);
  const command = commands.install({
    namespace,
    node: joinedNode.name,
    ...mode,
    certificateLifetime,
    cloudNode,
    ...(logMegabytes !== undefined && { logMegabytes }),
  });
  const answer = await askAgent({ host, address, command, signal, note, timeoutMs: installMs });
  const installed = timestamp(deps.clock.now());
  const identity = (hash: string) => ({ keyHash: hash, installed });
  // Requests of the agent are approved by this hash and stay pending until it is recorded.
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
  description: 'waits until the agent confirms the version or requests a reboot for variables and certificates',
  ...untilVersion,
  run: (journey, turn) =>
    untilAgent(journey, turn, { isEnough: node => awaitsReboot(node) || hasVersion(journey, node) }),
};

export const rebootForSettings: Step<HostJourney> = {
  name: 'reboot for settings',
  description: 'drains the Node and reboots the host if the agent requested it',
  usualMs: 5 * 60_000,
  limitMs: 45 * 60_000,
  remedy: checkReboot,
  timeout: rebootTimeout,
  isDone: ({ node }) => node === undefined || !awaitsReboot(node),
  async run(journey, turn) {
    const { deps, record, joinedNode } = journey;
    const { signal, note } = turn;
    note('draining the Node');
    await deps.nodes.drain(joinedNode.name, { signal, note });
    turn.note(undefined);
    // The inventory from the beginning of the journey may be of an earlier boot.
    journey.inventory = await askForInventory(journey, signal);
    await rebootWithinLimit(journey, settings, turn);
    await deps.nodes.clearReport(joinedNode.name, 'rebootRequired', signal);
    // The next request is for another reboot.
    await record.saveReboot(undefined);
    await journey.host.close();
  },
};

export const awaitVersion: Step<ConfigureJourney> = {
  name: 'wait for version',
  description: 'waits until the agent confirms after the reboot that all services run and the Node is ready',
  ...untilVersion,
  run: (journey, turn) => untilAgent(journey, turn, { isEnough: node => hasVersion(journey, node) }),
};

function hasVersion({ prepared }: ConfigureJourney, node: NodeView | undefined): boolean {
  return isUpToDate(node, prepared.inputs.version);
}

/** Events of this agent: those before its installation belong to an earlier one of this host. */
function sinceInstall(journey: ConfigureJourney): EventLimits {
  const installedMs = Date.parse(journey.record.known.agent?.installed ?? '');
  return { ...bootOf(journey), ...(!Number.isNaN(installedMs) && { sinceMs: installedMs - maxSkewMs }) };
}
