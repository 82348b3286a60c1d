import { AppError } from '#base/errors.ts';
import { hasTouchedHost } from '#cluster/instance-removal.ts';
import type { Inventory } from '#contract/inventory.ts';
import { serviceName } from '#contract/names.ts';
import { dir, splitPath, folderRecordFile } from '#contract/paths.ts';
import { printHostKey } from '#host/host-key.ts';
import { askAgent, callAgent } from '../agent-call.ts';
import { takeInventory } from '../configure/agent-program.ts';
import { foreignNode, otherName } from '../configure/name-check.ts';
import { rebootTimeout } from '../configure/prepare-windows.ts';
import { rebootOnce } from '../configure/reboot.ts';
import { checkCommand, checkReboot, checkUpload } from '../configure/remedies.ts';
import type { Step, StepTurn } from '../step.ts';
import type { RemoveJourney } from './journey.ts';

const [cleanupMs, networksMs, filesMs] = [15 * 60_000, 5 * 60_000, 15 * 60_000];
const rebootReason = 'removed variables and certificates';
/** A host can report any number of files. */
const maxLeft = 50;

export const identifyHost: Step<RemoveJourney> = {
  ...takeInventory,
  description: 'has the agent report everything about the host; its name must be the recorded one',
  async run(journey, turn) {
    await takeInventory.run(journey, turn);
    const problem = identityProblem(journey);
    if (problem !== undefined) throw problem;
    const { record, inventory, instance } = journey;
    if (record.known.host === undefined && hasKubelet(inventory)) journey.claimedName = inventory.nodeName;
    // A host that the operator has not changed may be a node of another cluster.
    if (!hasTouchedHost(instance) && journey.node === undefined) journey.mode = 'object';
  },
};

/** The pinned key has identified the host; this finds a clone, and a Node that belongs to another host. */
function identityProblem(journey: RemoveJourney): AppError | undefined {
  const { address, record, inventory, deps, instance, hostKey, ipv4 } = journey;
  const recorded = record.known.host?.name;
  const { nodeName } = inventory;
  if (!hasKubelet(inventory)) return undefined;
  if (recorded !== undefined) {
    return nodeName === recorded ? undefined : otherName(address, nodeName, recorded);
  }
  const holder = deps.names.holderOf(nodeName, instance);
  if (holder !== undefined) {
    return new AppError('NODE_NAME_TAKEN', `${address}: Node ${nodeName} belongs to ${holder.metadata.name}`, {
      remedy: 'Find out which of the two hosts has this name.',
    });
  }
  const node = deps.nodes.get(nodeName);
  const problem = node && foreignNode(node, hostKey === undefined ? '' : printHostKey(hostKey), ipv4);
  if (problem === undefined) return undefined;
  return new AppError('HOST_NAME_TAKEN', `${address}: Node ${nodeName} ${problem}`, {
    remedy: `Find out which host Node ${nodeName} is; the operator removes neither.`,
  });
}

/** Without one the name is only that of the computer, which clones share and a cloud may not use. */
function hasKubelet({ nodeName, services }: Inventory): boolean {
  return nodeName !== '' && services.some(({ name, isManaged }) => isManaged && name === serviceName.kubelet);
}

export const cleanUpHost: Step<RemoveJourney> = {
  name: 'clean-up',
  description: 'stops and removes the services, variables and certificates of the operator, the agent first',
  usualMs: 60_000,
  limitMs: 20 * 60_000,
  remedy: checkCommand,
  async run(journey, turn) {
    const { signal } = turn;
    // From here on the host has to be configured again if the removal is canceled.
    await journey.record.saveUninstalled();
    await clearVersion(journey, signal);
    await cleanUp(journey, turn);
    // The agent may have reported it once more before it was stopped.
    await clearVersion(journey, signal);
  },
};

async function cleanUp(journey: RemoveJourney, { signal, note }: StepTurn): Promise<void> {
  const { host, address, commands, instance } = journey;
  const command = commands.removeServices(instance.metadata.namespace ?? '');
  const answer = await askAgent({ host, address, command, signal, note, timeoutMs: cleanupMs });
  journey.needsReboot = answer.boolean('rebootNeeded') === true;
}

async function clearVersion({ node, deps }: RemoveJourney, signal: AbortSignal): Promise<void> {
  if (node !== undefined) await deps.nodes.clearReport(node.name, 'version', signal);
}

export const rebootHost: Step<RemoveJourney> = {
  name: 'reboot',
  description: 'reboots the host once if variables or certificates were removed, and cleans up again',
  usualMs: 3 * 60_000,
  limitMs: 45 * 60_000,
  remedy: checkReboot,
  timeout: rebootTimeout,
  isDone: ({ needsReboot }) => !needsReboot,
  async run(journey, turn) {
    await rebootOnce(journey, rebootReason, turn);
    await cleanUp(journey, turn);
    await journey.record.saveReboot(undefined);
  },
};

export const removeNetworks: Step<RemoveJourney> = {
  name: 'remove networks',
  description: 'removes container networks and endpoints of the operator; the connection may break meanwhile',
  usualMs: 30_000,
  limitMs: 15 * 60_000,
  remedy: checkCommand,
  async run({ host, address, commands }, { signal, note }) {
    await callAgent({ host, address, command: commands.removeNetworks(), signal, note, timeoutMs: networksMs });
  },
};

export const removeFiles: Step<RemoveJourney> = {
  name: 'remove files',
  description: 'removes the files and folders of the operator; logs and images stay',
  usualMs: 30_000,
  limitMs: 35 * 60_000,
  remedy: checkCommand,
  async run(journey, { signal, note }) {
    const { host, address, commands } = journey;
    const command = commands.removeFiles();
    const answer = await askAgent({ host, address, command, signal, note, timeoutMs: filesMs });
    journey.left = answer.strings('left').slice(0, maxLeft);
    journey.cluster.reportLeft(journey);
  },
};

export const removeAgent: Step<RemoveJourney> = {
  name: 'remove agent',
  description: 'deletes the agent programs by SFTP',
  usualMs: 15_000,
  limitMs: 10 * 60_000,
  remedy: checkUpload,
  async run({ host, record }, { signal }) {
    // Without the record of folders, which goes last, `remove files` would delete empty folders of users.
    await record.saveTimeline();
    await host.removeFolder(dir.agentNative, { signal });
    // Files of users that were found in folders of the operator stay.
    const kept = splitPath(dir.quarantine).name;
    await host.removeFolder(dir.agentPrograms, { signal, keep: [kept, splitPath(folderRecordFile).name] });
    await host.removeFolder(dir.agentPrograms, { signal, keep: [kept] });
  },
};
