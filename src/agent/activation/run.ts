import { messageOf } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { type Patience, poll, type Waiting } from '#base/waiting/poll.ts';
import { agentName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import type { System } from '../ports.ts';
import { removeOldPrograms } from '../programs.ts';
import { requestState } from '../services/ensure.ts';
import { writeSet } from '../stage/record.ts';
import { removeStaleCopies } from '../stage/stage.ts';
import { deleteOwnService } from './activator.ts';
import { isOpen, type Journal, type OpenJournal, readJournal, writeJournal } from './journal.ts';
import { hasReported } from './report-file.ts';
import { isInPlace, type SwapPorts, swapSets } from './swap.ts';

export interface ActivationPorts extends SwapPorts {
  system: Pick<System, 'bootId' | 'flushServices' | 'freeBytes'>;
}

/** How long the agent of the new set has to report. */
const reportPatience: Patience = { everyMs: 500, limitMs: 60_000 };

/**
 * Carries out the journal until it is closed, then deletes the service that does it. Rejects when neither set could be put in
 * place; the journal stays open then, and the next run repeats it.
 */
export async function runActivation(ports: ActivationPorts, waiting: Waiting, log: Log): Promise<void> {
  const { files } = ports;
  let journal = await readJournal(files);
  while (isOpen(journal)) {
    log.info('Swapping files', { phase: journal.phase, from: journal.former.version, to: journal.target.version });
    journal = await takePhase(journal, ports, waiting);
    await writeJournal(journal, files);
  }
  if (journal !== undefined) {
    const { phase, target, cause } = journal;
    log.info('Swap of files is over', { phase, version: target.version, ...(cause !== undefined && { cause }) });
    await prune(journal, ports, log);
  }
  await deleteOwnService(ports);
}

/** Gives the journal of the next phase. */
async function takePhase(journal: OpenJournal, ports: ActivationPorts, waiting: Waiting): Promise<Journal> {
  const { phase, target, former } = journal;
  if (phase === 'revert') return revert(journal, ports, waiting);
  try {
    if (phase === 'swap') {
      await swapSets({ to: target, from: former }, ports, waiting);
      return { ...journal, phase: 'watch' };
    }
    if (!(await agentReports(journal, ports, waiting))) return goBack(journal, notReported(journal));
    await keepFormer(journal, ports);
    return { ...journal, phase: 'done' };
  } catch (error) {
    waiting.signal.throwIfAborted();
    return goBack(journal, messageOf(error));
  }
}

function goBack(journal: Journal, cause: string): Journal {
  return { ...journal, phase: 'revert', cause };
}

function notReported({ target }: Journal): string {
  return `the agent of version ${target.version} did not report within ${reportPatience.limitMs / 1000} s`;
}

async function revert(journal: Journal, ports: ActivationPorts, waiting: Waiting): Promise<Journal> {
  const { target, former, problem: _, ...rest } = journal;
  try {
    const sets = { to: former, from: target };
    // A service that cannot be stopped must not keep a host down whose files were not touched.
    if (!(await isInPlace(sets, ports.files, waiting.signal))) await swapSets(sets, ports, waiting);
    await startAgent(ports);
    return { ...rest, target, former, phase: 'reverted' };
  } catch (error) {
    waiting.signal.throwIfAborted();
    await writeJournal({ ...journal, problem: messageOf(error) }, ports.files);
    throw error;
  }
}

async function agentReports({ target }: Journal, ports: ActivationPorts, waiting: Waiting): Promise<boolean> {
  await startAgent(ports);
  const wanted = { agent: target.agent, bootId: await ports.system.bootId() };
  const look = async () => ((await hasReported(wanted, ports.files)) ? true : undefined);
  return (await poll(look, { ...waiting, patience: reportPatience })) ?? false;
}

/** Without waiting for it to run: it waits for the API server. */
async function startAgent(ports: ActivationPorts): Promise<void> {
  const { state } = (await ports.services.query(agentName)) ?? {};
  if (state === 'running' || state === 'start-pending') return;
  await requestState(agentName, () => ports.services.start(agentName), ports, ['start-pending', 'running']);
}

/** The former set can be put back without an upload. */
async function keepFormer({ set, former }: Journal, { files }: ActivationPorts): Promise<void> {
  const [kept, gone] = set === 'next' ? [file.previousSet, file.nextSet] : ([file.nextSet, file.previousSet] as const);
  await writeSet(kept, former, files);
  await files.remove(gone);
}

/** What is left over does no harm: the next `stage` and `secure` remove it, too. */
async function prune({ target, former, phase }: Journal, { files }: ActivationPorts, log: Log): Promise<void> {
  try {
    await removeStaleCopies(files);
    const { left } = await removeOldPrograms(phase === 'done' ? target.agent : former.agent, files);
    for (const event of left) log.warn('An older agent program was not removed', { event });
  } catch (error) {
    log.warn('Older files were not removed', { error });
  }
}
