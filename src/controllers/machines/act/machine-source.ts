import { AppError, attempt } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { readObject } from '#contract/object.ts';
import { isComputerName, maxComputerName } from '#contract/windows-instance/computer-name.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#base/condition.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { referenceTo } from '#kube/events/events.ts';
import { type Key, keyOf, keyText } from '#kube/resource.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { applyPlan, deleteInstance } from '#cluster/instance-sync/apply-plan.ts';
import { patchCondition } from '#cluster/patch-instance.ts';
import { planInstance } from '#cluster/instance-sync/plan.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { bySource, type SourceRef, sourceText } from '#cluster/instance-source.ts';
import { decideMachine, type MachineDecision, type MachineHost, type MachineView, readMachine } from '../decide.ts';
import {
  isEligible,
  type MachineSettings,
  type MachinesParts,
  type MachineStores,
  observeMachine,
  readMachineNow,
  readNodeNow,
  refusesKey,
} from '../observe.ts';
import { Replacement } from './replacement.ts';

/** How a pass ends, and what holds of the Machine meanwhile. */
interface Ending {
  outcome: Outcome;
  events: EventText[];
}

interface ObservedMachine {
  object: Machine;
  machine: MachineView;
  /** Its instances: one, unless somebody has made more. */
  own: readonly WindowsInstance[];
  settings: MachineSettings & { version: string };
}

const lagMs = 1000;
const waitMs = 30_000;
/** A host answers before the script with our key has run to its end; for so long that is no failure. */
const refusalGraceMs = 5 * 60_000;

/** One Machine and its WindowsInstance. */
export class MachineSource {
  readonly #parts: MachinesParts;
  readonly #stores: MachineStores;
  readonly #events: EventDeduper;
  readonly #replacement: Replacement;

  constructor(parts: MachinesParts, stores: MachineStores) {
    this.#parts = parts;
    this.#stores = stores;
    this.#events = new EventDeduper(parts);
    this.#replacement = new Replacement(parts, stores);
  }

  async reconcile(key: Key, pass: Pass): Promise<Outcome> {
    const source: SourceRef = { kind: 'Machine', name: key.name };
    const own = this.#stores.instances.byIndex(bySource, sourceText(source));
    const object = this.#stores.machines.get(key);
    if (!isEligible(object)) return this.#letGo(key.name, own, pass);
    const { outcome, events } = await this.#look(object, own, pass);
    this.#hold(object, events);
    return outcome;
  }

  #hold(object: Machine, events: EventText[], about = 'all else'): void {
    this.#events.report(`${keyText(keyOf(object))}: ${about}`, referenceTo(machines, object), events);
  }

  async #look(object: Machine, own: readonly WindowsInstance[], pass: Pass): Promise<Ending> {
    const settings = this.#parts.settings();
    if (settings === undefined) return ending(done);
    const read = attempt(() => readMachine(readObject(object)));
    if (!read.ok) return ending(done, setupFailure(object, read.error));
    const seen: ObservedMachine = {
      object,
      machine: read.value,
      own,
      settings: { ...settings, version: this.#parts.version },
    };
    const facts = observeMachine(seen.machine, this.#stores.machines.list(), this.#stores, seen.settings);
    return this.#act(seen, decideMachine(seen.machine, facts), pass);
  }

  async #act(seen: ObservedMachine, decision: MachineDecision, pass: Pass): Promise<Ending> {
    switch (decision.do) {
      case 'configure':
        return this.#ensure(seen, decision, pass);
      case 'replace':
        return this.#replace(seen, decision.why, pass);
      case 'wait':
        return ending(after(waitMs, decision.why), ...(decision.event ? [decision.event] : []));
      case 'nothing':
        pass.log.debug('Nothing to do for Machine', { why: decision.why });
        if (decision.host !== undefined) return this.#ensure(seen, decision.host, pass);
        if (decision.error !== undefined) return ending(done, deletionFailure(seen.object, decision.error));
        return decision.isLost === true ? ending(await this.#forgetLost(seen, pass)) : ending(done);
      default:
        return decision satisfies never;
    }
  }

  async #ensure({ object, own, machine, settings }: ObservedMachine, host: MachineHost, pass: Pass): Promise<Ending> {
    const { namespace, client } = this.#parts;
    const { address, username, newHostname: hostname } = host;
    if (hostname !== undefined && !isComputerName(hostname)) {
      return ending(done, setupFailure(object, unusableName(machine.name)));
    }
    const wanted = {
      source: { kind: 'Machine', name: machine.name } as const,
      sourceUid: object.metadata.uid ?? '',
      address,
      username,
      ...(hostname !== undefined && { hostname }),
    };
    const named = (name: string) => this.#stores.instances.get({ namespace, name });
    const outcome = await applyPlan(planInstance(wanted, { namespace, own, named }), { ...pass, client });
    const [instance] = own;
    if (outcome !== done || instance === undefined) return ending(outcome);
    return this.#checkKey({ object, own, machine, settings }, instance, pass);
  }

  /** A host that does not let the operator in for a while was set up with another key, and no retry can help it. */
  async #checkKey(seen: ObservedMachine, instance: WindowsInstance, pass: Pass): Promise<Ending> {
    const { clock } = this.#parts;
    const known = findCondition(instance.status?.conditions, instanceCondition.keyRefused);
    const [isRefused, wasRefused] = [refusesKey(instance), known?.status === 'True'];
    if (isRefused !== wasRefused) await this.#tellRefusal(instance, isRefused, pass);
    if (!isRefused) {
      this.#hold(seen.object, [], 'the key');
      return ending(done);
    }
    const sinceMs = wasRefused ? clock.now() - Date.parse(known?.lastTransitionTime ?? '') : 0;
    const leftMs = refusalGraceMs - sinceMs;
    if (leftMs > 0) return ending(after(leftMs, 'the script that installs the key may still run'));
    // Why it is deleted is said before that it is.
    this.#hold(seen.object, [eventText.machineAuthenticationFailure(seen.machine.name)], 'the key');
    return this.#replace(seen, 'its host does not accept the key of the operator', pass);
  }

  #tellRefusal(instance: WindowsInstance, isRefused: boolean, pass: Pass): Promise<void> {
    const news = isRefused
      ? ({ status: 'True', reason: 'Refused', message: 'The host does not let the operator in.' } as const)
      : ({ status: 'False', reason: 'NotRefused', message: 'Nothing speaks against the key.' } as const);
    return patchCondition(instance, { ...news, type: instanceCondition.keyRefused }, { ...this.#parts, ...pass });
  }

  async #replace({ machine, object, settings }: ObservedMachine, why: string, pass: Pass): Promise<Ending> {
    // A new Machine would come up with the old key.
    if (!settings.userDataIsCurrent) return ending(after(waitMs, 'the Secret windows-user-data has yet to be written'));
    const decision = await this.#replacement.replace(machine.name, object.metadata.uid ?? '', { why, settings }, pass);
    if (decision.do === 'wait') {
      return ending(after(waitMs, decision.why), ...(decision.event ? [decision.event] : []));
    }
    const error = decision.do === 'nothing' ? decision.error : undefined;
    return ending(done, ...(error ? [deletionFailure(object, error)] : []));
  }

  /** A Machine whose Node somebody has deleted is not joined again; it is for its owner to replace it. */
  async #forgetLost({ machine, own }: ObservedMachine, pass: Pass): Promise<Outcome> {
    if (own.length === 0) return done;
    const { client } = this.#parts;
    const name = machine.nodeRef?.name ?? '';
    if ((await readNodeNow(client, name, pass.signal)) !== undefined) return after(lagMs, `Node ${name} has just come`);
    for (const instance of own) await deleteInstance(instance, `its Node ${name} is gone`, { ...pass, client });
    return done;
  }

  async #letGo(name: string, own: readonly WindowsInstance[], pass: Pass): Promise<Outcome> {
    if (own.length === 0) return done;
    const { client } = this.#parts;
    if (isEligible(await readMachineNow(client, name, pass.signal)))
      return after(lagMs, 'the watch has yet to tell of it');
    for (const instance of own) await deleteInstance(instance, 'its Machine is gone or ignored', { ...pass, client });
    return done;
  }
}

function ending(outcome: Outcome, ...events: EventText[]): Ending {
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
  return new AppError('HOST_NAME_INVALID', `the name ${name} ${problem}, and Windows takes no such computer name`, {
    remedy: `Give the MachineSet a name of at most ${maxComputerName - machineSuffixLength} letters, digits and hyphens.`,
  });
}

/** A MachineSet adds a dash and five characters to its own name. */
const machineSuffixLength = 6;
