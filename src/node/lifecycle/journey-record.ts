import { type Clock, timestamp } from '#base/clock.ts';
import type { NewCondition } from '#base/condition.ts';
import type { AppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { removeAcceptance } from '#cluster/patch-instance.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import {
  type InstanceJourney,
  type InstancePhase,
  type InstanceReboot,
  type InstanceRecord,
  isSettingPhase,
} from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import { mergeRecord } from '../record.ts';
import {
  configuringStatus,
  failedStatus,
  isNewJourney,
  joinedStatus,
  unsettledStatus,
  heldStatus,
  type StatusChange,
  withConditions,
} from './instance-status.ts';
import { Journal } from './journal.ts';
import { StatusWriter } from './status-writer.ts';

export interface JourneyRecordOptions {
  client: Pick<Client, 'find' | 'patch'>;
  clock: Clock;
  log: Log;
  /** Phase of the instance while the journey runs. */
  phase: InstancePhase;
  /** Which journey runs and why; its timeline is continued only by the same journey. */
  journey?: Pick<InstanceJourney, 'name' | 'cause'>;
  nodes: { get(name: string): NodeView | undefined };
}

/** The only writer of an instance's status while a journey runs: timeline, reboot, and what was found out about the host. */
export class JourneyRecord implements AsyncDisposable {
  readonly journal: Journal;
  /** An earlier attempt started the services of the host, and its Node may still register. */
  readonly awaitsNode: boolean;
  /** An earlier attempt began to install the agent, and may have created its key. */
  readonly installsAgent: boolean;
  /** Address at which the host showed its pinned key: a DNS record alone proves nothing. */
  ipv4: string | undefined;
  readonly #finished: ReadonlySet<string>;
  readonly #instance: WindowsInstance;
  readonly #options: JourneyRecordOptions;
  readonly #writer: StatusWriter;
  #status: () => StatusChange;
  #phase: InstancePhase;
  #journey: InstanceJourney | undefined;
  #reboot: InstanceReboot | undefined;
  #isUninstalled = false;
  #changes: InstanceRecord = {};
  #conditions: readonly NewCondition[] = [];

  constructor(instance: WindowsInstance, options: JourneyRecordOptions) {
    const { status = {} } = instance;
    const isNew = isNewJourney(instance, options.journey?.name);
    const { timeline = [], journey } = isNew ? {} : status;
    // A spec that is edited during a reboot is no reason for another one.
    const isContinued = !isNew || (status.journey !== undefined && status.journey.name === options.journey?.name);
    const attempted = (name: string) => timeline.find(step => step.name === name);
    const started = journey?.started ?? timestamp(options.clock.now());
    this.#journey = options.journey && { ...options.journey, started };
    this.#phase = options.phase;
    this.#finished = new Set(timeline.filter(({ finished }) => finished !== undefined).map(({ name }) => name));
    this.#instance = instance;
    this.#options = options;
    this.#reboot = isContinued ? status.reboot : undefined;
    // A Node that did not register in time will not register later either.
    this.awaitsNode = attempted('bootstrap') !== undefined && attempted('find node')?.lastError === undefined;
    this.installsAgent = attempted('agent service') !== undefined;
    this.#status = () => {
      const stamp = this.#stamp();
      const running = configuringStatus(this.#view(), stamp, this.#phase);
      return before => withConditions(running(before), this.#conditions, stamp);
    };
    this.#writer = new StatusWriter(instance, { ...options, change: () => this.#status() });
    this.journal = new Journal(timeline, options.clock, () => this.#writer.request());
  }

  /** The last reboot that was requested. */
  get reboot(): InstanceReboot | undefined {
    return this.#reboot;
  }

  /** True if an earlier attempt of this journey finished the step. */
  hasFinished(step: string): boolean {
    return this.#finished.has(step);
  }

  /** What is known about the host. */
  get known(): InstanceRecord {
    const { status = {} } = this.#instance;
    return { ...status, ...mergeRecord(status, this.#changes) };
  }

  /** Stores which steps have begun: for steps whose beginning decides what the next attempt does. */
  async saveTimeline(): Promise<void> {
    await this.#writer.write();
  }

  /** Resolves once it is stored, with the change of the record. */
  async saveReboot(reboot: InstanceReboot | undefined, change: InstanceRecord = {}): Promise<void> {
    this.#reboot = reboot;
    await this.save(change);
  }

  /** Goes on as another journey, with the same timeline: its next attempt starts there. */
  continueAs(name: InstanceJourney['name'], phase: InstancePhase): void {
    this.#journey = this.#journey && { ...this.#journey, name };
    this.#phase = phase;
  }

  /** Resolves once it is stored, with the conditions that belong to it. */
  async save(change: InstanceRecord, conditions: readonly NewCondition[] = []): Promise<void> {
    this.remember(change);
    this.#conditions = [...this.#conditions, ...conditions];
    await this.#writer.write();
  }

  /** As `save`, but with the next write. */
  remember(change: InstanceRecord): void {
    this.#changes = { ...this.#changes, ...change };
  }

  /** What was accepted before does not count for a failure that is recorded now. */
  async removeAcceptance(): Promise<void> {
    await removeAcceptance(this.#instance, this.#options.client);
  }

  /** The services of the host are being removed, so that it runs no version any more. Resolves once it is stored. */
  async saveUninstalled(): Promise<void> {
    this.#isUninstalled = true;
    await this.#writer.write();
  }

  async finish(node: NodeView, version: string, further: readonly NewCondition[] = []): Promise<void> {
    this.#status = () => {
      const stamp = this.#stamp();
      const joined = joinedStatus(this.#view(), node, version, stamp);
      return before => withConditions(joined(before), further, stamp);
    };
    await this.#writer.write();
  }

  /** The journey goes on later; until then the Node stays in service. `version` is that of the operator. */
  async hold(node: NodeView | undefined, version: string, why: string): Promise<void> {
    this.#status = () => heldStatus(this.#view(), { node, version, why }, this.#stamp());
    await this.#writer.write();
  }

  /** Never rejects: the caller has the failure itself to report. */
  async fail(failure: AppError, { isTransient, nextAttemptMs }: { isTransient: boolean; nextAttemptMs: number }) {
    const phase = this.#phase;
    this.#status = () => {
      const stamp = { ...this.#stamp(), nextAttemptMs };
      if (isSettingPhase(phase)) return unsettledStatus(this.#view(), failure, phase, stamp);
      return failedStatus(this.#view(), failure, isTransient, stamp);
    };
    try {
      await this.#writer.write();
    } catch (error) {
      this.#options.log.warn('Status update failed', { error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.end();
  }

  #stamp() {
    return { generation: this.#instance.metadata.generation, nowMs: this.#options.clock.now() };
  }

  #view() {
    const { journal, ipv4 } = this;
    // A name that is only claimed may still turn out to be that of another Node.
    const found = this.#options.nodes.get(this.known.host?.name ?? '');
    const node = found !== undefined && isWindowsNode(found) ? found.name : undefined;
    const isInService = found !== undefined && found.ready && !found.unschedulable;
    return {
      journal,
      reboot: this.#reboot,
      ipv4,
      node,
      record: this.#changes,
      journey: this.#journey,
      isUninstalled: this.#isUninstalled,
      isInService,
      isReady: found?.ready === true,
    };
  }
}
