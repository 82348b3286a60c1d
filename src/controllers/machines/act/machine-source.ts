import { AppError, attempt } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { namespaceName } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { isComputerName, maxComputerName } from '#contract/windows-instance/computer-name.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#base/condition.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { referenceTo } from '#kube/events/events.ts';
import { type Key, keyOf, keyText } from '#kube/resource.ts';
import { nodes } from '#kube/resources.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { deleteInstance, syncInstance } from '#cluster/instance-sync/apply-plan.ts';
import { patchConditions } from '#cluster/patch-instance.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { bySource, type SourceRef, sourceText } from '#cluster/instance-source.ts';
import { createHostKeyStore } from '#node/host-keys/host-key-store.ts';
import type { HostKeyStore } from '#node/lifecycle/deps.ts';
import { decideMachine, type MachineDecision, type MachineHost, type MachineView, readMachine } from '../decide.ts';
import { isEligible, type MachineSettings, type MachineStores, observeMachine, refusesKey } from '../observe.ts';
import { Replacement, type ReplacementParts } from './replacement.ts';

/** Outcome of a pass, with the events whose cause exists. */
interface PassResult {
  outcome: Outcome;
  events: EventText[];
}

interface ObservedMachine {
  object: Machine;
  machine: MachineView;
  /** Its instances: one, unless a user created more. */
  own: readonly WindowsInstance[];
  settings: MachineSettings & { version: string };
}

const lagMs = 1000;
const waitMs = 30_000;
/** A host answers before the script that installs the key has finished. */
const refusalGraceMs = 5 * 60_000;

/** One Machine and its WindowsInstance. */
export class MachineSource {
  readonly #parts: ReplacementParts;
  readonly #stores: MachineStores;
  readonly #events: EventDeduper;
  readonly #replacement: Replacement;
  readonly #hostKeys: Pick<HostKeyStore, 'forget'>;

  constructor(parts: ReplacementParts, stores: MachineStores) {
    this.#parts = parts;
    this.#stores = stores;
    this.#events = new EventDeduper(parts);
    this.#replacement = new Replacement(parts, stores);
    this.#hostKeys = createHostKeyStore(parts);
  }

  async reconcile(key: Key, pass: Pass): Promise<Outcome> {
    const source: SourceRef = { kind: 'Machine', name: key.name };
    const own = this.#stores.instances.byIndex(bySource, sourceText(source));
    const object = this.#stores.machines.get(key);
    // Also for a Machine that is gone: it may have been the last one of its set.
    await this.#replacement.settle(pass.signal);
    if (!isEligible(object)) return this.#deleteInstances(key.name, own, pass);
    const { outcome, events } = await this.#reconcile(object, own, pass);
    this.#report(object, events);
    return outcome;
  }

  #report(object: Machine, events: EventText[], about = 'machine'): void {
    this.#events.report(`${keyText(keyOf(object))}: ${about}`, [referenceTo(machines, object)], events);
  }

  async #reconcile(object: Machine, own: readonly WindowsInstance[], pass: Pass): Promise<PassResult> {
    const settings = this.#parts.settings();
    if (settings === undefined) return result(done);
    const read = attempt(() => readMachine(readObject(object)));
    if (!read.ok) return result(done, setupFailure(object, read.error));
    const observed: ObservedMachine = {
      object,
      machine: read.value,
      own,
      settings: { ...settings, version: this.#parts.version },
    };
    return this.#act(observed, this.#decide(observed), pass);
  }

  /** Reads the other Machines only for a replacement, which alone depends on them. */
  #decide({ object, machine, settings }: ObservedMachine): MachineDecision {
    const withOthers = (others: readonly Machine[], maxUnavailable = 1) =>
      decideMachine(machine, { ...observeMachine(machine, others, this.#stores, settings), maxUnavailable });
    const decision = withOthers([object]);
    if (decision.do !== 'replace' && decision.do !== 'wait') return decision;
    return withOthers(this.#stores.machines.list(), this.#parts.grants.maxUnavailable());
  }

  async #act(observed: ObservedMachine, decision: MachineDecision, pass: Pass): Promise<PassResult> {
    switch (decision.do) {
      case 'configure':
        return this.#ensure(observed, decision, pass);
      case 'replace':
        return this.#replace(observed, decision.why, pass);
      case 'wait':
        return result(after(waitMs, decision.why), ...(decision.event ? [decision.event] : []));
      case 'skip':
        pass.log.debug('Skipping Machine', { why: decision.why });
        if (decision.host !== undefined) return this.#ensure(observed, decision.host, pass);
        if (decision.error !== undefined) return result(done, deletionFailure(observed.object, decision.error));
        return decision.isLost === true ? result(await this.#deleteLost(observed, pass)) : result(done);
      default:
        return decision satisfies never;
    }
  }

  async #ensure(
    { object, own, machine, settings }: ObservedMachine,
    host: MachineHost,
    pass: Pass,
  ): Promise<PassResult> {
    const { namespace, client } = this.#parts;
    const { address, username, newHostname: hostname } = host;
    if (hostname !== undefined && !isComputerName(hostname)) {
      return result(done, setupFailure(object, unusableName(machine.name)));
    }
    const wanted = {
      source: { kind: 'Machine', name: machine.name } as const,
      sourceUid: object.metadata.uid ?? '',
      address,
      username,
      ...(hostname !== undefined && { hostname }),
    };
    const { instances } = this.#stores;
    const outcome = await syncInstance(wanted, { own, namespace, instances }, { ...pass, client });
    const [instance] = own;
    if (outcome !== done || instance === undefined) return result(outcome);
    return this.#checkKey({ object, own, machine, settings }, instance, pass);
  }

  /** A host that refuses the key for a while was set up with another key, and no retry can help it. */
  async #checkKey(observed: ObservedMachine, instance: WindowsInstance, pass: Pass): Promise<PassResult> {
    const { clock } = this.#parts;
    const known = findCondition(instance.status?.conditions, instanceCondition.keyRefused);
    const [isRefused, wasRefused] = [refusesKey(instance), known?.status === 'True'];
    if (isRefused !== wasRefused) await this.#patchRefusal(instance, isRefused, pass);
    if (!isRefused) {
      this.#report(observed.object, [], 'key');
      return result(done);
    }
    const sinceMs = wasRefused ? clock.now() - Date.parse(known?.lastTransitionTime ?? '') : 0;
    const leftMs = refusalGraceMs - sinceMs;
    if (leftMs > 0) return result(after(leftMs, 'the script that installs the key may still run'));
    // The reason comes before the event of the deletion.
    this.#report(observed.object, [eventText.machineAuthenticationFailure(observed.machine.name)], 'key');
    return this.#replace(observed, 'its host does not accept the key of the operator', pass);
  }

  #patchRefusal(instance: WindowsInstance, isRefused: boolean, pass: Pass): Promise<void> {
    const condition = isRefused
      ? ({ status: 'True', reason: 'Refused', message: 'The host refuses the SSH key of the operator.' } as const)
      : ({ status: 'False', reason: 'NotRefused', message: 'The host has not refused the key.' } as const);
    return patchConditions(instance, [{ ...condition, type: instanceCondition.keyRefused }], {
      ...this.#parts,
      ...pass,
    });
  }

  async #replace({ machine, object, own, settings }: ObservedMachine, why: string, pass: Pass): Promise<PassResult> {
    // Its removal would wait, and it would not count for the disruption budget. The end of the pause wakes it.
    const paused = own.find(({ spec }) => spec.paused === true);
    if (paused !== undefined) return result(after(waitMs, `WindowsInstance ${paused.metadata.name} is paused`));
    // A new Machine would start with the old key.
    if (!settings.userDataIsCurrent) return result(after(waitMs, 'the Secret windows-user-data is not up to date'));
    // Without instances it is not known which other Machines work.
    const problem = await this.#parts.installation.problem(pass.signal);
    if (problem !== undefined) return result(after(waitMs, problem));
    const decision = await this.#replacement.replace(machine.name, object.metadata.uid ?? '', { why, settings }, pass);
    if (decision.do === 'wait') {
      return result(after(waitMs, decision.why), ...(decision.event ? [decision.event] : []));
    }
    const error = decision.do === 'skip' ? decision.error : undefined;
    return result(done, ...(error ? [deletionFailure(object, error)] : []));
  }

  /** A Machine whose Node was deleted does not join again; its owner has to replace it. */
  async #deleteLost({ machine, own }: ObservedMachine, pass: Pass): Promise<Outcome> {
    if (own.length === 0) return done;
    const { client } = this.#parts;
    const name = machine.nodeRef?.name ?? '';
    const node = await client.find(nodes, name, { signal: pass.signal });
    if (node !== undefined) return after(lagMs, `Node ${name} is not in the cache yet`);
    for (const instance of own) await deleteInstance(instance, `its Node ${name} is gone`, { ...pass, client });
    return done;
  }

  async #deleteInstances(name: string, own: readonly WindowsInstance[], pass: Pass): Promise<Outcome> {
    if (own.length === 0) return done;
    const { client } = this.#parts;
    const { signal } = pass;
    if (isEligible(await client.find(machines, name, { namespace: namespaceName.machineApi, signal })))
      return after(lagMs, 'the Machine is not in the cache yet');
    for (const instance of own) {
      await this.#forgetHostKey(instance, signal);
      await deleteInstance(instance, 'its Machine is gone or ignored', { ...pass, client });
    }
    return done;
  }

  /** A host key that an earlier operator stored would reject the next Machine with this address. */
  async #forgetHostKey(instance: WindowsInstance, signal: AbortSignal): Promise<void> {
    const { address } = instance.spec;
    const isShared = this.#stores.instances
      .list()
      .some(({ spec, metadata }) => spec.address === address && metadata.uid !== instance.metadata.uid);
    if (!isShared) await this.#hostKeys.forget(instance, signal);
  }
}

function result(outcome: Outcome, ...events: EventText[]): PassResult {
  return { outcome, events };
}

function setupFailure({ metadata }: Machine, { message, remedy }: AppError): EventText {
  return eventText.machineConfigurationFailure(metadata.name ?? '', `${message}. ${remedy}`);
}

function deletionFailure({ metadata }: Machine, { message, remedy }: AppError): EventText {
  return eventText.machineDeletionFailed(metadata.name ?? '', `${message}. ${remedy}`);
}

function unusableName(name: string): AppError {
  const limit = `${maxComputerName} characters`;
  const problem =
    name.length > maxComputerName ? `is longer than ${limit}` : 'has other characters than letters, digits and hyphens';
  return new AppError('HOST_NAME_INVALID', `the name ${name} ${problem}, so it cannot be a computer name`, {
    remedy: `Create a MachineSet with a name of at most ${maxComputerName - machineSuffixLength} letters, digits and hyphens.`,
  });
}

/** A MachineSet adds a dash and five characters to its own name. */
const machineSuffixLength = 6;
