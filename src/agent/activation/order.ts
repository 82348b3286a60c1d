import { AppError, shown } from '#base/errors.ts';
import type { Waiting } from '#base/waiting/poll.ts';
import { agentProgram, agentProgramHash, file } from '#contract/paths.ts';
import type { Files, HostFiles } from '../ports.ts';
import { readSets, type StagedRecord } from '../stage/record.ts';
import { createActivator, startActivator } from './activator.ts';
import { checkSet, isOpen, type Journal, type KeptSet, readJournal, writeJournal } from './journal.ts';
import type { ActivationPorts } from './run.ts';
import { checkSpace, checkTargetSet, checkWayBack } from './preflight.ts';

export interface Order {
  set: KeptSet;
  version: string;
  /** Path of the program that takes the order; it must be that of the set. */
  program: string;
}

/**
 * Orders the swap to a kept set, which the temporary service carries out. It has no effect when the version is in place, and
 * one that is being carried out is only continued.
 */
export async function orderActivation(order: Order, ports: ActivationPorts, waiting: Waiting): Promise<void> {
  const { files } = ports;
  const journal = await readJournal(files);
  if (isOpen(journal)) return orderDuringSwap(journal, order, ports, waiting);
  const { current, ...kept } = await readSets(files);
  if (current.version === order.version) return;
  const target = checkTarget(kept[order.set], order);
  await checkTargetSet(target, ports);
  await checkSpace(target, current, ports);
  const former = await formerSet(current, files);
  // Nothing keeps a host from leaving a version that has failed.
  if (order.set === 'next') await checkWayBack(former, files, waiting.signal);
  // A service without a journal deletes itself, and a journal without its service is continued by the agent.
  await createActivator(target.agent, ports, waiting);
  await writeJournal({ phase: 'swap', set: order.set, target, former }, files);
  await startActivator(target.agent, ports);
}

/** The host goes back when the former version is ordered while the swap is under way. */
async function orderDuringSwap(
  journal: Journal,
  { version }: Order,
  ports: ActivationPorts,
  waiting: Waiting,
): Promise<void> {
  const { target, former, phase } = journal;
  if (phase === 'revert' ? former.version === version : target.version === version)
    return startActivator(target.agent, ports);
  if (former.version !== version) throw busy(journal);
  await createActivator(former.agent, ports, waiting);
  await writeJournal({ ...journal, phase: 'revert', cause: 'the operator ordered the former version' }, ports.files);
  await startActivator(former.agent, ports);
}

function checkTarget(set: StagedRecord | undefined, { set: name, version, program }: Order): StagedRecord {
  if (set === undefined || set.version !== version) {
    const found = set === undefined ? 'does not exist' : `has version ${shown(set.version)}`;
    throw impossible(`the ${name} set, which should have version ${shown(version)}, ${found}`);
  }
  checkSet(set, impossible);
  if (agentProgramHash(program) === set.agent) return set;
  throw new AppError('USAGE', `version ${version} is activated only by its own agent, not by ${program}`, {
    remedy: `Run ${agentProgram(set.agent)} with the same arguments.`,
  });
}

/** The set to go back to, with a copy of the agent that runs now when its own program is not on the host any more. */
async function formerSet(current: StagedRecord, files: HostFiles): Promise<StagedRecord> {
  const own = current.agent === '' ? undefined : await files.sha256(agentProgram(current.agent));
  if (own !== undefined && own === current.agent) return checked(current);
  const agent = await files.sha256(file.agent);
  if (agent === undefined) throw impossible(`${file.agent} does not exist`);
  if ((await files.sha256(agentProgram(agent))) !== agent)
    await files.writeChunks(agentProgram(agent), files.readChunks(file.agent));
  return checked({ ...current, agent });
}

function checked(set: StagedRecord): StagedRecord {
  checkSet(set, impossible);
  return set;
}

function impossible(what: string): AppError {
  return new AppError('UPGRADE_IMPOSSIBLE', what, {
    remedy: 'Wait for the operator: it stages the set again, or configures a host without a set from the beginning.',
  });
}

function busy({ target, former }: Journal): AppError {
  return new AppError('HOST_BUSY', `the host swaps its files from version ${former.version} to ${target.version}`, {
    remedy: 'Wait until the verb `activation` shows that it is over.',
  });
}

/** Rejects while files are swapped: no other command may place files or start the agent then. */
export async function rejectWhileSwapping(files: Files): Promise<void> {
  const journal = await readJournal(files);
  if (isOpen(journal)) throw busy(journal);
}
