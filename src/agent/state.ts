import { Fields, jsonIn } from '#base/fields.ts';
import { attempt } from '#base/errors.ts';
import { pathKey } from '#contract/host-path.ts';
import { dir, file } from '#contract/paths.ts';
import type { OwnedVariable } from './environment/plan.ts';
import type { Files } from './ports.ts';
import type { ServiceVariables } from './services/environment.ts';

/**
 * Reverted settings, and in which boot. Windows flushes its registry late: a power cut in that boot brings them back, and
 * no other record would show that the agent has set them.
 */
export interface TakenBack {
  bootId: string;
  variables: OwnedVariable[];
  /** SHA-256 of each. */
  certificates: string[];
}

/** What the agent cannot read from the host. */
export interface AgentState {
  /** Machine variables that the agent has set; undefined when unknown. */
  environment: OwnedVariable[] | undefined;
  /** Services not installed by WMCO that the agent has stopped and has to start again. */
  stoppedServices: string[];
  /** Services of WMCO that a swap of sets has stopped; those that the version in place does not have are removed. */
  swappedServices: string[];
  /** Variables that the agent has set for services. */
  serviceEnvironment: ServiceVariables[];
  /** Boot in which machine variables were changed: other programs see the change after a reboot. */
  variablesBoot: string | undefined;
  /** The last boot that the agent has seen. */
  lastBoot: string | undefined;
  takenBack: TakenBack | undefined;
  /** Files that were changed while a service that reads them may have been running. */
  changedFiles: string[];
  /** Defender exclusions that the agent has added or was about to add. */
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

/** Changes some fields; writes only changes, because it runs in every pass. */
export async function changeState(files: Files, change: Partial<AgentState>): Promise<void> {
  const before = await files.read(stateFile);
  const after = `${JSON.stringify({ ...parseState(before ?? ''), ...change }, undefined, 2)}\n`;
  // Values of variables may contain the password of a proxy.
  if (after !== before) await files.write(stateFile, after, 'secret');
}

/** Settings that a power cut may have brought back: those reverted in another boot. */
export function mayBeBack({ takenBack }: AgentState, bootId: string): Omit<TakenBack, 'bootId'> {
  return takenBack === undefined || takenBack.bootId === bootId ? { variables: [], certificates: [] } : takenBack;
}

/** Called before the change, so that services are restarted for it even if the agent is interrupted in between. */
export async function recordChangedFiles(paths: readonly string[], files: Files): Promise<void> {
  const { changedFiles } = await readState(files);
  // The kubelet reads it only for its first certificate, and every bundle has another token in it.
  const read = paths.filter(path => pathKey(path) !== pathKey(file.bootstrapKubeconfig));
  if (read.length > 0) await changeState(files, { changedFiles: [...new Set([...changedFiles, ...read])] });
}

/** A record that cannot be parsed counts as missing, so that it never blocks configuration or cleanup. */
export function parseState(text: string): AgentState {
  const parsed = attempt(() => readFields(new Fields(jsonIn(text), 'agent state')));
  return parsed.ok ? parsed.value : readFields(new Fields({}, 'agent state'));
}

function readFields(fields: Fields): AgentState {
  return {
    environment: fields.raw('environment') === undefined ? undefined : fields.objects('environment').map(readVariable),
    stoppedServices: fields.strings('stoppedServices'),
    swappedServices: fields.strings('swappedServices'),
    serviceEnvironment: fields.objects('serviceEnvironment').map(item => ({
      service: item.requiredString('service'),
      variables: item.objects('variables').map(readVariable),
    })),
    variablesBoot: fields.string('variablesBoot'),
    lastBoot: fields.string('lastBoot'),
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
