import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { shortLine } from '#base/printable.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { parseDesiredServices } from '#contract/services/hash.ts';
import type { HostSettings, LifecycleDeps } from '../deps.ts';
import { AgentJourney } from '../host-journey.ts';
import type { JourneyRecord } from '../journey-record.ts';
import { appliedSettings, desiredSettings, unknownSettings } from './setting-record.ts';

/** A host in service that gets changed settings. */
export class RefreshJourney extends AgentJourney {
  /** Of the start of this attempt: files and services belong together. */
  settings: HostSettings;
  /** Files that were written and removed. */
  changedFiles = 0;

  constructor(instance: WindowsInstance, deps: LifecycleDeps, record: JourneyRecord) {
    super(instance, deps, record);
    const settings = deps.inputs.desiredSettings?.(instance);
    if (settings === undefined) throw incomplete(instance);
    this.settings = settings;
  }

  /** The version that the files of the host belong to; their settings are of no version. */
  get version(): string {
    return this.inventory.stagedVersion || (this.record.known.version ?? '');
  }

  /** With the next write of the status. */
  recordDesired(services = false): void {
    const { liveHash, services: wanted } = this.settings;
    const next = services ? { liveHash, services: wanted } : { liveHash };
    this.record.remember(desiredSettings(next, this.record.known.settings));
  }

  /** Before the first change: whatever ends this attempt, the next one looks at the host. Resolves once it is stored. */
  async recordChange(...groups: ('files' | 'services')[]): Promise<void> {
    await this.record.save(unknownSettings(this.record.known.settings, groups));
  }

  recordFiles(): void {
    const { liveHash, mirrors } = this.settings;
    this.record.remember(appliedSettings({ liveHash, mirrors }, this.now(), this.record.known.settings));
  }

  protected now(): string {
    return timestamp(this.deps.clock.now());
  }
}

/** A host whose services are restarted with changed settings. */
export class RestartJourney extends RefreshJourney {
  /** The Node has been told to apply the settings. */
  isReleased = false;
  /** The settings have changed again; the host gets the newest ones at once: whether it works with the others is unknown. */
  isOutdated = false;

  useNewest(): void {
    this.settings = this.deps.inputs.desiredSettings?.(this.instance) ?? this.settings;
    [this.isOutdated, this.isReleased] = [false, false];
  }

  /** Files that services read when they start have changed. */
  get hasNewFiles(): boolean {
    const given = parseDesiredServices(this.record.known.settings?.services?.applied);
    return given?.files !== parseDesiredServices(this.settings.services)?.files;
  }

  recordServices(): void {
    const { services, hasProxy } = this.settings;
    this.record.remember(appliedSettings({ services, hasProxy }, this.now(), this.record.known.settings));
  }

  /** Other hosts do not get these settings before they have changed, or this host has them. */
  recordFailure({ code, message }: AppError): void {
    const { settings = {} } = this.record.known;
    // It may have text of the host.
    const failed = { code, message: shortLine(message).slice(0, maxMessageLength), at: this.now() };
    const services = { ...settings.services, desired: this.settings.services, failed };
    this.record.remember({ settings: { ...settings, services } });
  }
}

/** The message may have the last lines of a log. */
const maxMessageLength = 2000;

/** The decision was made with complete settings a moment ago. */
function incomplete({ spec }: WindowsInstance): AppError {
  return new AppError('MATERIAL_MISSING', `${spec.address}: the settings of the cluster are not complete now`, {
    remedy: 'Run `wmco check cluster` to see what is missing.',
  });
}
