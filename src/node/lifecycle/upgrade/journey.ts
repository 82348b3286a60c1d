import { timestamp } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { pathKey } from '#contract/host-path.ts';
import { instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import { isUpToDate } from '#contract/node-marks.ts';
import { file } from '#contract/paths.ts';
import { isVersionText } from '#contract/version.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';
import { ConfigureJourney } from '../configure/journey.ts';
import { appliedSettings, type GivenSettings } from '../refresh/setting-record.ts';
import type { LifecycleDeps } from '../deps.ts';
import type { JourneyRecord } from '../journey-record.ts';
import { rollbackIsOver } from './rolled-back.ts';
import type { AgentSaid, SwapJourney } from './swap-journey.ts';

export interface UpgradeParts {
  /** Of this operator. */
  version: string;
  announce: (text: EventText) => void;
}

/** A Node that gets the files of this operator. */
export class UpgradeJourney extends ConfigureJourney implements SwapJourney {
  readonly name = 'upgrade';
  readonly set = 'next';
  readonly target: string;
  readonly announce: (text: EventText) => void;
  wait: string | undefined;
  before: AgentSaid = {};
  /** The upgrade before this one. */
  readonly #former: InstanceUpgrade | undefined;

  constructor(instance: WindowsInstance, deps: LifecycleDeps, record: JourneyRecord, parts: UpgradeParts) {
    super(instance, deps, record);
    this.target = parts.version;
    const { upgrade } = record.known;
    this.#former = upgrade?.ready === undefined ? undefined : upgrade;
    this.announce = parts.announce;
  }

  /** An upgrade to another version, and one that was rolled back or was over before this journey, do not count. */
  get upgrade(): InstanceUpgrade | undefined {
    const { upgrade } = this.record.known;
    const isFormer = upgrade !== undefined && upgrade === this.#former;
    return upgrade?.to === this.target && upgrade.failed === undefined && !isFormer ? upgrade : undefined;
  }

  get isOrdered(): boolean {
    return this.upgrade?.activated !== undefined;
  }

  get isInPlace(): boolean {
    return this.isOrdered && isUpToDate(this.node, this.target);
  }

  /**
   * The version of the files in place if this operator has recorded it, or else the recorded one. What only the host or its Node says
   * counts if no other version than the target is recorded.
   */
  get from(): string {
    const { version = '', upgrade: last } = this.record.known;
    if (this.upgrade !== undefined) return this.upgrade.from;
    const inPlace = this.knownInventory?.sets.current?.version ?? '';
    const known = [version, last?.from, last?.to].includes(inPlace) ? [inPlace, version] : [version];
    const former = known.find(each => each !== '' && each !== this.target);
    if (former !== undefined) return former;
    const claimed = this.node?.annotations[nodeAnnotation.version] ?? '';
    return inPlace || version || (isVersionText(claimed) ? claimed : '');
  }

  /** The agent program that the host runs now, and that rolls back; undefined when the files of the host belong to no set. */
  get fromAgent(): string | undefined {
    const { sets, files } = this.inventory;
    if (this.record.known.agent === undefined || sets.current === undefined) return undefined;
    const hash = sets.current.agent || (files[pathKey(file.agent)] ?? '');
    return /^[0-9a-f]{64}$/.test(hash) ? hash : undefined;
  }

  /**
   * Whether the files are swapped. The others are configured again: hosts of the Go operator, whose files are no set, and those that
   * have the files of this version already.
   */
  get isSwap(): boolean {
    if (this.isOrdered) return this.upgrade?.fromAgent !== undefined;
    return this.fromAgent !== undefined && !this.isSet('current');
  }

  /** Whether the set on the host is that of this operator. */
  isSet(which: 'current' | 'next'): boolean {
    const set = this.inventory.sets[which];
    return set?.version === this.target && set.agent === this.agent.sha256;
  }

  async recordStaged(): Promise<void> {
    const { from, target: to } = this;
    const { liveHash: files, services, hasProxy: proxy } = this.prepared.inputs.settings;
    const upgrade = { from, to, staged: this.#now(), settings: { files, services, proxy }, ...this.#repetition() };
    await this.record.save({ upgrade });
  }

  /** By the record the host has the version already: its Node claims another one, or an earlier attempt failed. */
  #repetition(): Pick<InstanceUpgrade, 'repeated' | 'retry'> {
    if (this.record.known.version !== this.target) return {};
    const retry = this.instance.metadata.annotations?.[instanceAnnotation.retry];
    return { repeated: this.#now(), ...(retry !== undefined && { retry }) };
  }

  /** The host has lost its next set: an attempt that ends before all of it is sent again must not count as staged. */
  async forgetStaged(): Promise<void> {
    const { from, target: to } = this;
    await this.record.save({ upgrade: { from, to } });
  }

  async recordOrder(signal: AbortSignal): Promise<void> {
    const { deps, joinedNode, from, target: to } = this;
    const { name } = joinedNode;
    this.announce(eventText.instanceUpgradeStarted(this.address, name, from, to));
    // Otherwise an earlier report would count for the new agent.
    await deps.nodes.clearReport(name, 'version', signal);
    const { services } = this.upgrade?.settings ?? {};
    const annotations = {
      [nodeAnnotation.desiredVersion]: to,
      ...(services !== undefined && { [nodeAnnotation.desiredServices]: services }),
    };
    await deps.nodes.annotate(name, annotations, signal);
    const upgrade = { staged: this.#now(), ...this.upgrade, from, to, activated: this.#now() };
    await this.record.save({ upgrade: { ...upgrade, ...(this.isSwap && { fromAgent: this.fromAgent ?? '' }) } });
  }

  async recordDone(): Promise<void> {
    const { upgrade } = this;
    if (upgrade === undefined) return;
    const conditions = rollbackIsOver(this.instance, this.target);
    const ready = this.#now();
    // A Node that changes its version again and again must not keep the grant in a soak that never ends.
    const soaked = upgrade.from === upgrade.to && { soaked: ready };
    const settings = appliedSettings(this.#settings, ready, this.record.known.settings);
    await this.record.save({ upgrade: { ...upgrade, ready, ...soaked }, ...settings }, conditions);
  }

  /** From now on the host is to go back. */
  async recordFailure({ code, message }: AppError): Promise<void> {
    const { upgrade, instance } = this;
    const retry = instance.metadata.annotations?.[instanceAnnotation.retry];
    const failed = { code, message: message.slice(0, maxMessageLength), at: this.#now() };
    if (upgrade === undefined) return;
    await this.record.removeAcceptance();
    await this.record.save({ upgrade: { ...upgrade, failed, ...(retry !== undefined && { retry }) } });
  }

  /** Those that the host has now: a host that was configured again got the newest ones. */
  get #settings(): Partial<GivenSettings> {
    if (!this.isSwap && this.isPrepared) return this.prepared.inputs.settings;
    const { settings } = this.upgrade ?? {};
    if (settings === undefined) return {};
    const { files: liveHash, services, proxy } = settings;
    const now = this.deps.inputs.desiredSettings?.(this.instance);
    return {
      liveHash,
      services,
      ...(proxy !== undefined && { hasProxy: proxy }),
      // Their names are not in the record of what was staged.
      ...(now?.liveHash === liveHash && { mirrors: now.mirrors }),
    };
  }

  #now(): string {
    return timestamp(this.deps.clock.now());
  }
}

/** The message may have the last lines of a log. */
const maxMessageLength = 2000;
