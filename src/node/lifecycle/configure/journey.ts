import type { InventoryOptions } from '#contract/agent-command.ts';
import type { BundleFile } from '../../bundle.ts';
import { nameSourceOf } from '../../desired/services.ts';
import type { PlainFile } from '../../payload-source.ts';
import type { HostInputs } from '../deps.ts';
import { HostJourney } from '../host-journey.ts';
import type { KubeletReach } from './reach-kubelet.ts';

/** A host that becomes a Node, with everything that is known about it so far. */
export class ConfigureJourney extends HostJourney {
  /** Another version configured the Node: it is recorded and stays unchanged. */
  isAdopted = false;
  /** Set by the last step of `configure`. */
  kubelet: KubeletReach | undefined;
  /** One of the slots for hosts that are being configured. */
  slot: Disposable | undefined;
  #prepared: PreparedFiles | undefined;
  #programs: readonly BundleFile[] | undefined;

  get agent(): PlainFile {
    return this.prepared.agent;
  }

  get inventoryOptions(): InventoryOptions {
    const { apiServerUrl, platform } = this.prepared.inputs;
    return { apiServerUrl, ...nameSourceOf(platform) };
  }

  get prepared(): PreparedFiles {
    if (this.#prepared === undefined) throw new Error('the files of the host are not prepared yet');
    return this.#prepared;
  }

  set prepared(prepared: PreparedFiles) {
    this.#prepared = prepared;
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

/** Files for the host. */
export interface PreparedFiles {
  inputs: HostInputs;
  agent: PlainFile;
  /** Everything the operator writes. */
  texts: readonly BundleFile[];
}
