import { messageOf } from '#base/errors.ts';
import { eventText } from '#contract/events.ts';
import { readObject } from '#contract/object.ts';
import { isConflict, isNotFound } from '#kube/api-error.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import { referenceTo } from '#kube/events/events.ts';
import { apiVersionOf } from '#kube/resource.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { Slots } from '#base/waiting/slots.ts';
import { bySource, sourceText } from '#cluster/instance-source.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { BudgetGrants } from '#node/rollout/budget-grants.ts';
import {
  decideReplacement,
  isHealthyMachine,
  type MachineDecision,
  type MachineFacts,
  type MachineView,
  readMachine,
  waitForGrant,
} from '../decide.ts';
import {
  type MachineSettings,
  type MachinesParts,
  type MachineStores,
  observeFleet,
  observeMachine,
  windowsMachines,
} from '../observe.ts';

export interface ReplacementCause {
  why: string;
  settings: MachineSettings & { version: string };
}

export interface ReplacementParts extends MachinesParts {
  grants: Pick<BudgetGrants, 'take' | 'endReplacement' | 'maxUnavailable' | 'replaced'>;
}

/** Deletes Machines so that their MachineSets create new ones, one at a time, with fresh reads. */
export class Replacement {
  readonly #parts: ReplacementParts;
  readonly #stores: MachineStores;
  readonly #slot = new Slots(1);

  constructor(parts: ReplacementParts, stores: MachineStores) {
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
    const maxUnavailable = this.#parts.grants.maxUnavailable();
    const facts = { ...observeMachine(machine, all, this.#stores, settings), maxUnavailable };
    const decision = decideReplacement(machine, facts, why);
    if (decision.do !== 'replace') return decision;
    if (decision.outside === undefined) {
      await this.#delete(object, why, pass);
      return decision;
    }
    const instance = this.#instanceOf(machine, uid);
    const outside = { ...decision.outside, working: workingNodes(facts, machine) };
    const grant = await this.#parts.grants.take(instance, 'replace', pass.signal, outside);
    if (!grant.isGranted) return waitForGrant(machine, facts, `${why}; ${grant.why}`);
    try {
      await this.#delete(object, why, pass);
    } catch (error) {
      await this.#parts.grants.endReplacement(instance.metadata, pass.signal);
      throw error;
    }
    return decision;
  }

  /** Ends the grants of replaced Machines whose MachineSet has as many working ones again, or wants no more. */
  async settle(signal: AbortSignal): Promise<void> {
    for (const [machineSet, held] of Map.groupBy(this.#parts.grants.replaced(), grant => grant.machineSet)) {
      const fleet = observeFleet(machineSet, this.#stores.machines.list(), this.#stores);
      const healthy = fleet.machines.filter(one => one.machineSet === machineSet && isHealthyMachine(one, fleet));
      const missing = Math.max(0, (fleet.replicas ?? 0) - healthy.length);
      for (const { instance: name, uid } of held.slice(0, Math.max(0, held.length - missing)))
        await this.#parts.grants.endReplacement({ name, uid }, signal);
    }
  }

  /** With the Node that the Machine API names, if the host is not recorded yet. */
  #instanceOf({ name, nodeRef }: MachineView, uid: string): WindowsInstance {
    const [found] = this.#stores.instances.byIndex(bySource, sourceText({ kind: 'Machine', name }));
    const { namespace } = this.#parts;
    const instance = found ?? { metadata: { name, namespace, uid }, spec: { address: '', username: '' } };
    return { ...instance, status: { ...(nodeRef && { node: nodeRef.name }), ...instance.status } };
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

/** Of the MachineSet. A Machine with a grant that was not deleted, because the operator stopped, is among them. */
function workingNodes(facts: MachineFacts, { machineSet }: MachineView): string[] {
  const working = facts.machines.filter(one => one.machineSet === machineSet && isHealthyMachine(one, facts));
  return working.flatMap(({ nodeRef }) => (nodeRef === undefined ? [] : [nodeRef.name]));
}

/** Objects out of lists need not say what they are. */
function withKind(object: Machine): Machine {
  return { apiVersion: apiVersionOf(machines), kind: machines.kind, ...object };
}
