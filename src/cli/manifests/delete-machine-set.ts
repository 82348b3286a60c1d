import { AppError, shown } from '#base/errors.ts';
import { poll } from '#base/waiting/poll.ts';
import { machineLabel, namespaceName } from '#contract/names.ts';
import { type KubeObject, readObject } from '#contract/object.ts';
import { isWindowsSet } from '#install/machine-set/source-set.ts';
import type { Client } from '#kube/client.ts';
import { type Machine, type MachineSet, machines, machineSets } from '#kube/resources-openshift.ts';
import { oneLine, safe } from '../safe-text.ts';
import type { AskingTerminal, ExitCode } from '../terminal.ts';
import type { MachineSetOptions } from './machine-set-options.ts';

const everyMs = 2000;
const namespace = namespaceName.machineApi;

/** Deletes a Windows MachineSet after a question, and prints which Machines are gone until all are. */
export async function deleteMachineSet(
  options: MachineSetOptions,
  client: Client,
  terminal: AskingTerminal,
): Promise<ExitCode> {
  const { signal } = terminal;
  const set = await chooseSet(options.wishes.name, client, signal);
  const { name = '', uid } = set.metadata;
  const print = (text: string) => terminal.out(safe`${oneLine(text)}\n`);
  const going = await machinesOf(set, client, signal);
  planLines(name, going).forEach(print);
  if (!options.yes && !(await isConfirmed(name, terminal))) {
    print('The MachineSet is not deleted.');
    return 1;
  }
  await client.delete(machineSets, name, { namespace, signal, ...(uid !== undefined && { preconditions: { uid } }) });
  print(`MachineSet ${name} deleted`);
  if (!options.wait || going.length === 0) return 0;
  const follow = new Departure(going, print);
  const end = await poll(async () => follow.next(await machinesOf(set, client, signal)), {
    clock: terminal.clock,
    signal,
    patience: { everyMs, limitMs: options.timeoutMs },
  });
  if (end !== undefined) return 0;
  throw new AppError('REMOVAL_UNFINISHED', `${follow.left} of ${going.length} Machines of ${name} still exist`, {
    remedy: `The Machine API goes on; \`kubectl get machines -n ${namespace}\` shows the rest.`,
  });
}

async function chooseSet(name: string | undefined, client: Client, signal: AbortSignal): Promise<MachineSet> {
  const { items } = await client.listAll(machineSets, { namespace, signal });
  const windows = items.filter(item => isWindowsSet(viewOf(item)));
  const names = windows.map(({ metadata }) => metadata.name).join(', ') || 'none';
  if (name === undefined) {
    const [only] = windows;
    if (only !== undefined && windows.length === 1) return only;
    const code = windows.length > 1 ? 'MACHINE_SET_UNCLEAR' : 'OBJECT_MISSING';
    throw new AppError(code, `${namespace} has ${windows.length} Windows MachineSets: ${names}`, {
      remedy: 'Choose one with --name.',
    });
  }
  const set = items.find(({ metadata }) => metadata.name === name);
  const remedy = `Windows MachineSets there: ${names}.`;
  if (set === undefined)
    throw new AppError('OBJECT_MISSING', `there is no MachineSet ${shown(name)} in ${namespace}`, { remedy });
  if (windows.includes(set)) return set;
  const why = `its Machines have no label ${machineLabel.osId}: Windows`;
  throw new AppError('MACHINE_SET_REFUSED', `MachineSet ${name} is not one for Windows: ${why}`, { remedy });
}

function viewOf(set: MachineSet): KubeObject {
  return readObject({ apiVersion: 'v1', ...set, kind: 'MachineSet' });
}

/** Those that the Machine API deletes with the set: labeled for it, and not owned by another one. */
async function machinesOf({ metadata }: MachineSet, client: Client, signal: AbortSignal): Promise<Machine[]> {
  const labelSelector = `${machineLabel.machineSet}=${metadata.name}`;
  const { items } = await client.listAll(machines, { namespace, labelSelector, signal });
  return items.filter(({ metadata: { ownerReferences = [] } }) => {
    const owner = ownerReferences.find(({ controller }) => controller === true);
    return owner === undefined || owner.uid === metadata.uid;
  });
}

function planLines(name: string, going: readonly Machine[]): string[] {
  if (going.length === 0) return [`MachineSet ${name} has no Machines.`];
  const lines = going.map(machine => {
    const node = machine.status?.nodeRef?.name;
    return `- Machine ${nameOf(machine)}, ${node === undefined ? 'without a Node' : `Node ${node}`}`;
  });
  const count = going.length === 1 ? 'one Machine' : `${going.length} Machines`;
  return [
    `With MachineSet ${name} the Machine API deletes ${count}, with their virtual machines, all at once:`,
    ...lines,
    'Their pods are evicted. The disruption budget of the operator does not count here.',
  ];
}

function nameOf({ metadata: { name = '' } }: Machine): string {
  return name;
}

async function isConfirmed(name: string, { ask, signal }: AskingTerminal): Promise<boolean> {
  if (ask === undefined) {
    throw new AppError('USAGE', 'there is no terminal to confirm the deletion', {
      remedy: 'Pass --yes to delete the MachineSet without a question.',
    });
  }
  const answer = await ask(safe`Type ${oneLine(name)} to delete it: `).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return '';
  });
  return answer.trim() === name;
}

/** Prints each Machine once when it is gone. */
class Departure {
  #left: string[];
  readonly #count: number;
  readonly #print: (line: string) => void;

  constructor(machines: readonly Machine[], print: (line: string) => void) {
    this.#left = machines.map(nameOf);
    this.#count = machines.length;
    this.#print = print;
  }

  get left(): number {
    return this.#left.length;
  }

  /** A value when all are gone. */
  next(existing: readonly Machine[]): true | undefined {
    const names = new Set(existing.map(nameOf));
    for (const name of this.#left.filter(each => !names.has(each))) {
      this.#left = this.#left.filter(each => each !== name);
      this.#print(`Machine ${name} is gone (${this.#count - this.left} of ${this.#count})`);
    }
    return this.left === 0 || undefined;
  }
}
