import { Fields, jsonIn } from '#base/fields.ts';
import { attempt } from '#base/errors.ts';
import { dir } from '#contract/paths.ts';
import type { OwnedVariable } from './environment/plan.ts';
import type { Files } from './ports.ts';

/** A reboot that was asked for: in which boot, and for which variables. */
export interface RebootRecord {
  bootId: string;
  variables: string[];
}

/**
 * Settings that were taken back, and in which boot. Windows writes its registry down late: a power cut in that boot brings
 * them back, when nothing else tells any more that they are ours.
 */
export interface TakenBack {
  bootId: string;
  variables: OwnedVariable[];
  /** SHA-256 of each. */
  certificates: string[];
}

/** What the agent must know of its own past; everything else it sees on the host. */
export interface AgentState {
  /** Machine variables we have set; undefined when that is not known. */
  environment: OwnedVariable[] | undefined;
  /** Services of others that we stopped and have to start again. */
  stoppedServices: string[];
  reboot: RebootRecord | undefined;
  takenBack: TakenBack | undefined;
  /** Files of ours that were changed while a service that reads them may have been running. */
  changedFiles: string[];
  /** Programs that Defender was, or was about to be, told to leave alone. */
  defenderExclusions: DefenderExclusion[];
}

export interface DefenderExclusion {
  path: string;
  done: boolean;
}

export const stateFile = `${dir.k}\\wicd-state.json`;

export async function readState(files: Files): Promise<AgentState> {
  return parseState((await files.read(stateFile)) ?? '');
}

/** Changes some members; nothing is written when nothing changes, for this runs in every pass. */
export async function changeState(files: Files, change: Partial<AgentState>): Promise<void> {
  const before = await files.read(stateFile);
  const after = `${JSON.stringify({ ...parseState(before ?? ''), ...change }, undefined, 2)}\n`;
  // Values of variables may hold the password of a proxy.
  if (after !== before) await files.write(stateFile, after, 'secret');
}

/** What a power cut may have brought back: settings that were taken back in another boot than this one. */
export function mayBeBack({ takenBack }: AgentState, bootId: string): Omit<TakenBack, 'bootId'> {
  return takenBack === undefined || takenBack.bootId === bootId ? { variables: [], certificates: [] } : takenBack;
}

/** Said before the change, so that a service is started anew for it even when the agent is cut short in between. */
export async function noteChangedFiles(paths: readonly string[], files: Files): Promise<void> {
  const { changedFiles } = await readState(files);
  await changeState(files, { changedFiles: [...new Set([...changedFiles, ...paths])] });
}

/** A record that cannot be read is as good as none: it must never keep a host from being configured or cleaned. */
export function parseState(text: string): AgentState {
  const parsed = attempt(() => readFields(new Fields(jsonIn(text), 'agent state')));
  return parsed.ok ? parsed.value : readFields(new Fields({}, 'agent state'));
}

function readFields(fields: Fields): AgentState {
  return {
    environment: fields.raw('environment') === undefined ? undefined : fields.objects('environment').map(readVariable),
    stoppedServices: fields.strings('stoppedServices'),
    reboot: fields.raw('reboot') === undefined ? undefined : readReboot(fields.object('reboot')),
    takenBack: fields.raw('takenBack') === undefined ? undefined : readTakenBack(fields.object('takenBack')),
    changedFiles: fields.strings('changedFiles'),
    defenderExclusions: fields
      .objects('defenderExclusions')
      .map(item => ({ path: item.requiredString('path'), done: item.boolean('done') ?? false })),
  };
}

function readVariable(fields: Fields): OwnedVariable {
  const [previous, was] = [fields.string('previous'), fields.string('was')];
  return {
    name: fields.requiredString('name'),
    value: fields.requiredString('value'),
    ...(previous !== undefined && { previous }),
    ...(was !== undefined && { was }),
  };
}

function readTakenBack(fields: Fields): TakenBack {
  return {
    bootId: fields.requiredString('bootId'),
    variables: fields.objects('variables').map(readVariable),
    certificates: fields.strings('certificates'),
  };
}

function readReboot(fields: Fields): RebootRecord {
  return { bootId: fields.requiredString('bootId'), variables: fields.strings('variables') };
}
