import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { ActivationStatus } from '#contract/activation.ts';
import type { InventoryOptions } from '#contract/agent-command.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isUpToDate } from '#contract/node-marks.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';
import type { PlainFile } from '../../payload-source.ts';
import type { LifecycleDeps } from '../deps.ts';
import { HostJourney } from '../host-journey.ts';
import type { JourneyRecord } from '../journey-record.ts';
import { retryCommand } from './choices-text.ts';
import { rolledBackCondition } from './rolled-back.ts';
import type { AgentSaid, SwapJourney } from './swap-journey.ts';

/** A Node that goes back to the files of its former version. They are on the host, so nothing is uploaded. */
export class RollbackJourney extends HostJourney implements SwapJourney {
  readonly name = 'rollback';
  readonly set = 'previous';
  readonly announce: (text: EventText) => void;
  wait: string | undefined;
  before: AgentSaid = {};
  /** How far the host was with its last swap when this attempt looked. */
  lastSwap: ActivationStatus | undefined;
  /** A rollback is ordered in every attempt: that has no effect once the host runs the former version. */
  readonly isOrdered = false;

  constructor(
    instance: WindowsInstance,
    deps: LifecycleDeps,
    record: JourneyRecord,
    { announce }: { announce: (text: EventText) => void },
  ) {
    super(instance, deps, record);
    this.announce = announce;
  }

  get upgrade(): InstanceUpgrade {
    const { upgrade } = this.record.known;
    if (upgrade?.failed !== undefined) return upgrade;
    throw new Error('no upgrade has failed');
  }

  get target(): string {
    return this.upgrade.from;
  }

  get isInPlace(): boolean {
    return this.#isBack && isUpToDate(this.node, this.target);
  }

  /** A host that was off goes on with a swap to the other version, although the files of the target may still be in place. */
  get #isBack(): boolean {
    const { version, state = 'running' } = this.lastSwap ?? {};
    return version === this.target && ['idle', 'done', 'reverted'].includes(state);
  }

  get agent(): PlainFile {
    throw new Error('a rollback uploads no program');
  }

  override get program(): string {
    const { fromAgent, from } = this.upgrade;
    if (fromAgent !== undefined) return fromAgent;
    const { name = '', namespace = '' } = this.instance.metadata;
    throw new AppError('ACTIVATION_FAILED', `${this.address}: the files of version ${from} are not on the host`, {
      remedy:
        `Find out why version ${this.upgrade.to} does not work on the host; to try it again, run \`${retryCommand({ name, namespace })}\`. ` +
        'To set up the host from scratch, run `wmco remove` for it and add it again.',
    });
  }

  /** The kubelet of the host has the name. */
  get inventoryOptions(): InventoryOptions {
    return {};
  }

  async recordOrder(signal: AbortSignal): Promise<void> {
    const { deps, joinedNode, target } = this;
    // The agent starts again and reports; one that has done so already would not.
    if (!this.#isBack) await deps.nodes.clearReport(joinedNode.name, 'version', signal);
    await deps.nodes.annotate(joinedNode.name, { [nodeAnnotation.desiredVersion]: target }, signal);
  }

  async recordDone(): Promise<void> {
    const { upgrade, target, joinedNode, instance } = this;
    const { failed, to } = upgrade;
    const why = shortened(`${failed?.code}: ${failed?.message}`);
    this.announce(eventText.instanceRolledBack(joinedNode.name, { from: target, to, why }));
    const rolledBack = timestamp(this.deps.clock.now());
    const conditions = [rolledBackCondition(instance, upgrade)];
    // The files are those of the time before the upgrade.
    await this.record.save({ version: target, upgrade: { ...upgrade, rolledBack }, settings: {} }, conditions);
  }
}

/** Events have room for a thousand characters. */
const maxCauseLength = 700;

function shortened(text: string): string {
  return text.length <= maxCauseLength ? text : `${text.slice(0, maxCauseLength - 3)}...`;
}
