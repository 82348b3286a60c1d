import { AppError, attempt, messageOf, shown } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { checkPlaces } from '#contract/host-path.ts';
import { agentName } from '#contract/names.ts';
import { activationFile } from '#contract/paths.ts';
import type { Files } from '../ports.ts';
import { parseSet, type StagedRecord } from '../stage/record.ts';

/**
 * `swap`: the target is being put in place. `watch`: it is in place, and its agent has to report. `revert`: the former set
 * is being put back. In the other phases the journal is closed.
 */
const phases = ['swap', 'watch', 'revert', 'done', 'reverted'] as const;
type Phase = (typeof phases)[number];

/** Which kept set becomes the current one. */
export const keptSets = ['next', 'previous'] as const;
export type KeptSet = (typeof keptSets)[number];

/**
 * A swap of sets. It has both sets as a whole, so that it can be repeated from any point, whatever the records of the sets
 * say at that moment.
 */
export interface Journal {
  phase: Phase;
  set: KeptSet;
  target: StagedRecord;
  former: StagedRecord;
  /** Why the host goes or went back to the former set. */
  cause?: string;
  /** Why the last attempt failed; it is repeated. */
  problem?: string;
}

const format = 1;

/** Undefined when no swap was ordered. Rejects when the journal cannot be read: guessing could mix two sets. */
export async function readJournal(files: Files): Promise<Journal | undefined> {
  const text = await files.read(activationFile);
  if (text === undefined) return undefined;
  const journal = attempt(() => parse(new Fields(jsonIn(text), activationFile)));
  if (journal.ok) return journal.value;
  throw unreadable(messageOf(journal.error));
}

/** In a folder that no user can write to. */
export async function writeJournal(journal: Journal, files: Files): Promise<void> {
  await files.write(activationFile, `${JSON.stringify({ format, ...journal }, undefined, 2)}\n`, 'secret');
}

/** A swap that is under way. */
export type OpenJournal = Journal & { phase: 'swap' | 'watch' | 'revert' };

export function isOpen(journal: Journal | undefined): journal is OpenJournal {
  return journal !== undefined && journal.phase !== 'done' && journal.phase !== 'reverted';
}

function parse(fields: Fields): Journal {
  if (fields.number('format') !== format) throw unreadable(`its format is ${shown(fields.raw('format'))}`);
  const [cause, problem] = [fields.string('cause'), fields.string('problem')];
  return {
    phase: oneOf(phases, fields, 'phase'),
    set: oneOf(keptSets, fields, 'set'),
    target: checkedSet(fields.object('target')),
    former: checkedSet(fields.object('former')),
    ...(cause !== undefined && { cause }),
    ...(problem !== undefined && { problem }),
  };
}

function checkedSet(fields: Fields): StagedRecord {
  const set = parseSet(fields);
  checkSet(set, unreadable);
  return set;
}

/** Throws the error of `invalid` for a set that cannot be put in place. */
export function checkSet({ version, agent, files }: StagedRecord, invalid: (what: string) => Error): void {
  if (version === '') throw invalid('a set has no version');
  checkPlaces(
    files.map(({ path }) => path),
    invalid,
  );
  const wrong = [agent, ...files.map(({ sha256 }) => sha256)].find(hash => !/^[0-9a-f]{64}$/.test(hash));
  if (wrong !== undefined) throw invalid(`${shown(wrong)} is not SHA-256 in hex`);
}

function oneOf<T extends string>(values: readonly T[], fields: Fields, name: string): T {
  const text = fields.requiredString(name);
  const value = values.find(each => each === text);
  if (value === undefined) throw unreadable(`its ${name} is ${shown(text)}`);
  return value;
}

function unreadable(what: string): AppError {
  return new AppError('ACTIVATION_FAILED', `${activationFile} cannot be read: ${what}`, {
    // The record of the current set is always whole, and the agent restores every file of it.
    remedy: `Run \`del ${activationFile}\` and \`net start ${agentName}\` on the host: the agent restores the files of its set.`,
  });
}
