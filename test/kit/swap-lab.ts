import type { ServiceConfig } from '../../src/agent/ports.ts';
import { isOpen, type KeptSet, readJournal } from '../../src/agent/activation/journal.ts';
import { waitForSwap } from '../../src/agent/activation/gate.ts';
import { orderActivation } from '../../src/agent/activation/order.ts';
import { runActivation } from '../../src/agent/activation/run.ts';
import { stageNext } from '../../src/agent/stage/next-set.ts';
import { readRecord, readSets } from '../../src/agent/stage/record.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { agentRecovery } from '../../src/contract/agent-command.ts';
import type { SetFile } from '../../src/contract/bundle.ts';
import { activationService, agentName, managedDescription } from '../../src/contract/names.ts';
import { agentProgram, file } from '../../src/contract/paths.ts';
import { bundleOf, bundlePath, stageTexts } from './bundles.ts';
import { ModelHost } from './model-host.ts';
import { recordedLog } from './recorded-log.ts';

/** The files of each version; both have one that the other has not, and one that is the same. */
export const versions: Record<string, Record<string, string>> = {
  v1: { [file.kubelet]: 'kubelet 1', [file.kubeletCa]: 'same', 'C:\\k\\old.conf': 'old' },
  v2: { [file.kubelet]: 'kubelet 2', [file.kubeletCa]: 'same', 'C:\\k\\new.conf': 'new' },
};
const secrets = ['C:\\k\\new.conf'];

export const programs = { v1: 'MZ agent 1', v2: 'MZ agent 2', broken: 'MZ agent 2, broken' };

interface Work {
  isOver: boolean;
  /** By the clock of the model. */
  untilMs: number;
}

/** A host that runs v1 and keeps v2 as its next set, with power that can be cut before any change. */
export class SwapLab {
  readonly host = new ModelHost();
  readonly log = recordedLog().log;
  /** Content of the agent of v2. */
  readonly agent: string;
  /** How many changes are left until the power is cut. */
  left = Infinity;
  #isDead = false;
  /** What a power cut does not lose. */
  #flushed = new Map<string, ServiceConfig>();

  constructor(agent = programs.v2) {
    this.agent = agent;
    const spend = () => {
      if (this.#isDead || this.left <= 0) {
        this.#isDead = true;
        throw new Error('the power is off');
      }
      this.left -= 1;
    };
    this.host.before = spend;
    this.host.services.before = spend;
    const flush = async () => {
      spend();
      const list = await this.host.services.list();
      this.#flushed = new Map(list.map(({ name, config }) => [name, { ...config, recovery: agentRecovery }]));
    };
    Object.assign(this.host.system, { flushServices: flush });
  }

  async prepare(): Promise<this> {
    const { host } = this;
    for (const text of [programs.v1, this.agent]) host.fileTexts.set(agentProgram(sha256(text)), text);
    await stageTexts(host, versions['v1'] ?? {}, { version: 'v1', agent: sha256(programs.v1) });
    host.fileTexts.set(file.agent, programs.v1);
    const config = { startType: 'automatic', recovery: agentRecovery } as const;
    const description = managedDescription('x');
    host.services
      .install(agentName, { ...config, description, command: `${file.agent} controller` })
      .install('containerd', { ...config, description, command: 'containerd.exe' })
      .install('kubelet', { ...config, description, command: file.kubelet, dependencies: ['containerd'] })
      .install('other', { startType: 'manual', dependencies: ['kubelet'] });
    await stageNextTexts(host, versions['v2'] ?? {}, sha256(this.agent));
    await host.system.flushServices();
    return this;
  }

  order(set: KeptSet = 'next', version = 'v2', agent = this.agent): Promise<void> {
    const program = agentProgram(sha256(agent));
    return orderActivation({ set, version, program }, this.host, this.host.waiting());
  }

  /** Lets the services of agent and swap work until no swap is open; rejects when the power is cut. */
  async settle(): Promise<void> {
    const work = { isOver: false, untilMs: this.host.clock.ms + 3_600_000 };
    const results = await Promise.allSettled([this.#activator(work), this.#agent(work)]);
    work.isOver = true;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** A new boot. When Windows lost what it wrote late, its services are as they were at the last flush. */
  async boot(loses: 'nothing' | 'registry' = 'nothing'): Promise<void> {
    this.#isDead = false;
    this.left = Infinity;
    if (loses === 'registry') await this.#loseRegistry();
    await this.host.reboot();
  }

  async #loseRegistry(): Promise<void> {
    const { services } = this.host;
    services.processes.killAll();
    services.powerOff();
    for (const { name } of await services.list()) if (!this.#flushed.has(name)) await services.remove(name);
    for (const [name, config] of this.#flushed) services.install(name, config, 'stopped');
  }

  /** As the Windows service runs it: again and again until it ends well, then its process exits. */
  async #activator(work: Work): Promise<void> {
    const { host, log } = this;
    while (!work.isOver && !this.#isDead) {
      if ((await host.services.query(activationService))?.state === 'running') {
        try {
          await runActivation(host, host.waiting(), log);
          await host.services.stop(activationService);
        } catch (error) {
          if (this.#isDead) throw error;
        }
      }
      await host.clock.sleep(1000);
    }
  }

  async #agent(work: Work): Promise<void> {
    const { host, log } = this;
    while (!this.#isDead) {
      const runs = (await host.services.query(agentName))?.state === 'running';
      const isBroken = host.fileTexts.get(file.agent) === programs.broken;
      const wait = runs && !isBroken ? await waitForSwap(host, host.clock, log) : 'the agent';
      if (wait === undefined && (await host.services.query(activationService)) === undefined) {
        work.isOver = true;
        return;
      }
      if (host.clock.ms > work.untilMs) work.isOver = true;
      if (work.isOver) throw new Error('the swap does not end');
      await host.clock.sleep(500);
    }
    throw new Error('the power is off');
  }

  /** The version of which everything in place is; undefined for a mixture. */
  async wholeVersion(): Promise<string | undefined> {
    const { host } = this;
    const record = await readRecord(host.files);
    const agents: Record<string, string> = { v1: programs.v1, v2: this.agent };
    const paths = new Set(Object.values(versions).flatMap(texts => Object.keys(texts)));
    const isWhole = [...paths].every(path => host.fileTexts.get(path) === versions[record.version]?.[path]);
    const agent = host.fileTexts.get(file.agent);
    const isAgent = agent === agents[record.version] && record.agent === sha256(agent ?? '');
    return isWhole && isAgent ? record.version : undefined;
  }

  /** Whether Windows would start a program of a set by itself at the next boot. */
  async startsPrograms(): Promise<boolean> {
    const list = await this.host.services.list();
    return list.some(({ name, config }) => name === 'kubelet' && config.startType === 'automatic');
  }

  async isSwapping(): Promise<boolean> {
    return isOpen(await readJournal(this.host.files));
  }

  sets(): ReturnType<typeof readSets> {
    return readSets(this.host.files);
  }
}

/** Has a set of texts kept as the next one; only those in `sent` are in the bundle. */
export async function stageNextTexts(
  host: ModelHost,
  texts: Readonly<Record<string, string>>,
  agent: string,
  sent: Readonly<Record<string, string>> = texts,
): ReturnType<typeof stageNext> {
  const files = Object.entries(texts).map(([path, text]): SetFile => {
    const bytes = Buffer.from(text);
    return { path, sha256: sha256(bytes), bytes: bytes.length, secret: secrets.includes(path) };
  });
  const bundle = await bundleOf(sent, { version: 'v2', next: { agent, files }, secrets });
  host.fileTexts.set(bundlePath, bundle);
  return stageNext({ bundle: bundlePath, sha256: sha256(bundle) }, host.files, new AbortController().signal);
}
