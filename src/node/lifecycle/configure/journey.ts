import type { AppError } from '#base/errors.ts';
import type { InventoryOptions } from '#contract/agent-command.ts';
import type { BundleFile } from '../../bundle.ts';
import { nameSourceOf } from '../../desired/services.ts';
import type { PackedFile } from '../../pack-files.ts';
import type { PlainFile } from '../../payload-source.ts';
import type { HostFacts, HostInputs } from '../deps.ts';
import { HostJourney } from '../host-journey.ts';
import type { KubeletReach } from './reach-kubelet.ts';

/** A host that becomes a Node, with everything that is known about it so far. */
export class ConfigureJourney extends HostJourney {
  /** Set when an operator configured the Node before: it is recorded, and the host stays unchanged. */
  adoption: Adoption | undefined;
  /** Set by the last step of `configure`. */
  kubelet: KubeletReach | undefined;
  /** Why the Node takes pods without the images that an administrator wants there. */
  prePullProblem: AppError | undefined;
  /** One of the slots for hosts that are being configured. */
  slot: Disposable | undefined;
  #basics: JourneyBasics | undefined;
  #prepared: PreparedFiles | undefined;
  #programs: readonly BundleFile[] | undefined;

  get agent(): PlainFile {
    return this.basics.agent;
  }

  get inventoryOptions(): InventoryOptions {
    const { apiServerUrl, platform } = this.basics.facts;
    return { apiServerUrl, ...nameSourceOf(platform) };
  }

  get basics(): JourneyBasics {
    if (this.#basics === undefined) throw new Error('the agent program is not prepared yet');
    return this.#basics;
  }

  set basics(basics: JourneyBasics) {
    this.#basics = basics;
  }

  get isPrepared(): boolean {
    return this.#prepared !== undefined;
  }

  get prepared(): PreparedFiles {
    if (this.#prepared === undefined) throw new Error('the files of the host are not prepared yet');
    return this.#prepared;
  }

  set prepared(prepared: PreparedFiles) {
    this.#prepared = prepared;
    this.#basics = { facts: prepared.inputs, agent: prepared.agent };
  }

  /** All programs except the agent. */
  get programs(): readonly BundleFile[] {
    if (this.#programs === undefined) throw new Error('the programs are not packed yet');
    return this.#programs;
  }

  set programs(programs: readonly BundleFile[]) {
    this.#programs = programs;
  }

  /** Another version configured the host. The record decides, because a Node can report any version. */
  get isOfOtherVersion(): boolean {
    const { version } = this.instance.status ?? {};
    return this.record.known.agent !== undefined && version !== this.prepared.inputs.version;
  }

  releaseSlot(): void {
    this.slot?.[Symbol.dispose]();
    this.slot = undefined;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.releaseSlot();
    await super[Symbol.asyncDispose]();
  }
}

/** What every journey to a host needs. */
export interface JourneyBasics {
  facts: HostFacts;
  agent: PlainFile;
}

/** A Node that was recorded with its host unchanged. */
export interface Adoption {
  /** Reported by the Node. */
  version: string;
  /** Whether its Node had no SSH host key, so that the key shown was trusted. */
  isNewKey: boolean;
  /** Instances that gave up the host. */
  predecessors: readonly string[];
}

/** Files for the host. */
export interface PreparedFiles {
  inputs: HostInputs;
  agent: PlainFile;
  /** Everything the operator writes. */
  texts: readonly PackedFile[];
}
