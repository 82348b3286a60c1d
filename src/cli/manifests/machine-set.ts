import { commandHelp } from '#base/command-line.ts';
import { AppError } from '#base/errors.ts';
import { namespaceName, secretName } from '#contract/names.ts';
import { type KubeObject, readObject } from '#contract/object.ts';
import { isWindowsSet } from '#install/machine-set/source-set.ts';
import { type WindowsSet, windowsSet } from '#install/machine-set/windows-set.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type MachineSet, infrastructures, machineSets } from '#kube/resources-openshift.ts';
import { secrets } from '#kube/resources.ts';
import { apiRefused } from '../api-refused.ts';
import { find, missingObject, ofKind } from '../find.ts';
import { readInput } from '../input.ts';
import { errorText } from '../output.ts';
import { oneLine, printable, safe } from '../safe-text.ts';
import { openClient } from '../status/connection.ts';
import type { AskingTerminal, ExitCode, Terminal } from '../terminal.ts';
import { type Applied, applyObject } from './apply-object.ts';
import { deleteMachineSet } from './delete-machine-set.ts';
import { machineSetLine, type MachineSetOptions, readMachineSetOptions } from './machine-set-options.ts';
import { machineSetPatch } from './machine-set-patch.ts';
import { manifestText } from './manifest-text.ts';

export type MachineSetTerminal = AskingTerminal & Pick<Terminal, 'stdin'>;

/** Runs `wmco machineset`. */
export async function machineSetProgram(words: readonly string[], terminal: MachineSetTerminal): Promise<ExitCode> {
  const options = readMachineSetOptions(words);
  if (options === undefined) {
    terminal.out(printable(commandHelp(machineSetLine)));
    return 0;
  }
  return options.files.length > 0 ? printFromFiles(options, terminal) : inCluster(options, terminal);
}

interface ClusterMachines {
  infrastructure: KubeObject;
  sets: readonly KubeObject[];
}

async function printFromFiles(options: MachineSetOptions, terminal: MachineSetTerminal): Promise<ExitCode> {
  const { objects, problems } = await readInput(options.files, terminal);
  for (const problem of problems) terminal.err(safe`${errorText(problem)}\n`);
  const wanted = { kind: 'Infrastructure', name: 'cluster' };
  const infrastructure = find(objects, wanted);
  if (infrastructure === undefined) throw missingObject(wanted);
  print({ infrastructure, sets: ofKind(objects, 'MachineSet') }, options, terminal);
  return problems.length > 0 ? 1 : 0;
}

async function inCluster(options: MachineSetOptions, terminal: MachineSetTerminal): Promise<ExitCode> {
  const client = await openClient(options, terminal);
  try {
    if (options.act === 'delete') return await deleteMachineSet(options, client, terminal);
    const machines = await readMachines(client, terminal.signal);
    if (options.act === 'print') print(machines, options, terminal);
    else await apply(machines, options, { client, terminal });
    return 0;
  } catch (error) {
    throw apiRefused(error, { permission: `${permissions[options.act]} in namespace ${namespaceName.machineApi}` });
  } finally {
    await client.close();
  }
}

const permissions = {
  print: 'to read Infrastructures, and to list MachineSets',
  apply: 'to read Infrastructures, and to list, create and patch MachineSets',
  delete: 'to list Machines, and to list and delete MachineSets',
} as const;

async function readMachines(client: Client, signal: AbortSignal): Promise<ClusterMachines> {
  const infrastructure = await client.find(infrastructures, 'cluster', { signal });
  if (infrastructure === undefined) throw noMachineApi('no Infrastructure object "cluster"');
  const { items } = await client
    .listAll(machineSets, { namespace: namespaceName.machineApi, signal })
    .catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 404 ? noMachineApi('no MachineSets') : error;
    });
  return {
    infrastructure: objectOf(infrastructure, 'Infrastructure'),
    sets: items.map(item => objectOf(item, 'MachineSet')),
  };
}

/** Items of lists have no kind. */
function objectOf(value: object, kind: string): KubeObject {
  return readObject({ apiVersion: 'v1', ...value, kind });
}

function noMachineApi(what: string): AppError {
  return new AppError('OBJECT_MISSING', `the cluster has ${what}: MachineSets are part of OpenShift and OKD`, {
    remedy: 'On other clusters, list hosts of your own in the ConfigMap windows-instances.',
  });
}

function print(machines: ClusterMachines, options: MachineSetOptions, terminal: MachineSetTerminal): void {
  const { object, notes } = windowsSet(machines.infrastructure, machines.sets, options.wishes);
  printNotes(notes, terminal);
  terminal.out(manifestText([object], options.form), 'data');
}

function printNotes(notes: readonly string[], terminal: MachineSetTerminal): void {
  for (const note of notes) terminal.err(safe`note: ${oneLine(note)}\n`);
}

interface ApplyDeps {
  client: Client;
  terminal: MachineSetTerminal;
}

async function apply(machines: ClusterMachines, options: MachineSetOptions, deps: ApplyDeps): Promise<void> {
  const { client, terminal } = deps;
  const { signal } = terminal;
  const set = windowsSet(machines.infrastructure, machines.sets, options.wishes);
  printNotes(set.notes, terminal);
  const patchOf = (existing: MachineSet) => {
    if (!isWindowsSet(objectOf(existing, 'MachineSet'))) throw takenName(existing);
    return machineSetPatch(existing, set.object, options);
  };
  const applied = await applyObject<MachineSet>(client, machineSets, set.object, { signal, patchOf });
  terminal.out(safe`MachineSet ${oneLine(set.object.metadata.name ?? '')} ${oneLine(applied)}\n`);
  const notes = [afterwards(applied, set, terminal), await missingUserData(deps)];
  printNotes(
    notes.filter(note => note !== undefined),
    terminal,
  );
}

function takenName({ metadata: { name = '' } }: MachineSet): AppError {
  return new AppError(
    'MACHINE_SET_REFUSED',
    `MachineSet ${name} exists and is not one for Windows; it is not changed`,
    {
      remedy: 'Pass another --name.',
    },
  );
}

function afterwards(applied: Applied, { object }: WindowsSet, terminal: MachineSetTerminal): string | undefined {
  if (applied === 'configured') return 'Machines that exist stay as they are; delete one to have it replaced';
  if (applied === 'unchanged' || object.spec['replicas'] === 0) return undefined;
  return `a Machine takes about ten minutes to become a Node; \`${terminal.command()} status -w\` follows it`;
}

/** Without this Secret Machines are not created in the cloud. Without permission to read it nothing is said. */
async function missingUserData({ client, terminal: { signal } }: ApplyDeps): Promise<string | undefined> {
  const options = { namespace: namespaceName.machineApi, signal };
  const secret = await client.find(secrets, secretName.userData, options).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 403) return 'unknown';
    throw error;
  });
  if (secret !== undefined) return undefined;
  return `Secret ${namespaceName.machineApi}/${secretName.userData} is missing, for which the Machines wait: the operator writes it when it runs and Secret ${secretName.privateKey} exists`;
}
