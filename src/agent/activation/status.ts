import { AppError } from '#base/errors.ts';
import type { ActivationStatus } from '#contract/activation.ts';
import type { Files } from '../ports.ts';
import { readRecord } from '../stage/record.ts';
import { type Journal, readJournal } from './journal.ts';

/** How far the last swap is; changes nothing. */
export async function activationStatus(files: Files): Promise<ActivationStatus> {
  const { version } = await readRecord(files);
  try {
    return { version, ...statusOf(await readJournal(files)) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { version, state: 'failed', problem: `${error.message}. ${error.remedy}` };
  }
}

function statusOf(journal: Journal | undefined): Omit<ActivationStatus, 'version'> {
  if (journal === undefined) return { state: 'idle' };
  const { phase, cause, problem } = journal;
  if (phase === 'done') return { state: 'done' };
  if (phase === 'reverted') return { state: 'reverted', ...(cause !== undefined && { problem: cause }) };
  if (problem === undefined) return { state: 'running', doing: doingOf(journal) };
  return { state: 'failed', doing: doingOf(journal), problem: `${problem} (after: ${cause ?? 'an order'})` };
}

function doingOf({ phase, target, former }: Journal): string {
  if (phase === 'swap') return `puts the files of version ${target.version} in place`;
  if (phase === 'watch') return `waits for the report of the agent of version ${target.version}`;
  return `puts the files of version ${former.version} back`;
}
