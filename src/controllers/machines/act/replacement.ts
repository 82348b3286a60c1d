import { messageOf } from '#base/errors.ts';
import { eventText } from '#contract/events.ts';
import { readObject } from '#contract/object.ts';
import { isConflict, isNotFound } from '#kube/api-error.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import { referenceTo } from '#kube/events/events.ts';
import { apiVersionOf } from '#kube/resource.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { Slots } from '#base/waiting/slots.ts';
import { decideReplacement, type MachineDecision, readMachine } from '../decide.ts';
import {
  type MachineSettings,
  type MachinesParts,
  type MachineStores,
  observeMachine,
  windowsMachines,
} from '../observe.ts';

export interface ReplacementCause {
  why: string;
  settings: MachineSettings & { version: string };
}

/** Deletes Machines so that their MachineSets create new ones, one at a time, with fresh reads. */
export class Replacement {
  readonly #parts: MachinesParts;
  readonly #stores: MachineStores;
  readonly #slot = new Slots(1);

  constructor(parts: MachinesParts, stores: MachineStores) {
    this.#parts = parts;
    this.#stores = stores;
  }

  /** Decides with fresh Machines, and deletes the Machine if the decision is `replace`. */
  async replace(name: string, uid: string, { why, settings }: ReplacementCause, pass: Pass): Promise<MachineDecision> {
    const { client } = this.#parts;
    using _slot = await this.#slot.take(pass.signal);
    // The cache may still have a Machine that was just deleted, which would count as healthy.
    const { items } = await client.listAll(machines, { ...windowsMachines, signal: pass.signal });
    const all = items.map(withKind);
    const object = all.find(({ metadata }) => metadata.name === name && metadata.uid === uid);
    if (object === undefined) return { do: 'skip', why: 'it is gone' };
    const machine = readMachine(readObject(object));
    const decision = decideReplacement(machine, observeMachine(machine, all, this.#stores, settings), why);
    if (decision.do === 'replace') await this.#delete(object, why, pass);
    return decision;
  }

  async #delete(object: Machine, why: string, { log, signal }: Pass): Promise<void> {
    const { client, recorder } = this.#parts;
    const { name = '', namespace = '', uid = '' } = object.metadata;
    log.info('Deleting Machine', { why });
    try {
      await client.delete(machines, name, { namespace, signal, preconditions: { uid } });
      recorder.record(referenceTo(machines, object), eventText.machineDeleted(name));
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return;
      const message = messageOf(error);
      recorder.record(referenceTo(machines, object), eventText.machineDeletionFailed(name, message));
      throw error;
    }
  }
}

/** Objects out of lists need not say what they are. */
function withKind(object: Machine): Machine {
  return { apiVersion: apiVersionOf(machines), kind: machines.kind, ...object };
}
