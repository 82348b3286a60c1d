import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { agentName } from '../../../src/contract/names.ts';
import { dir, file, requiredDirectories } from '../../../src/contract/paths.ts';
import { nodes } from '../../../src/kube/resources.ts';
import { AgentService } from './agent-service.ts';
import type { WindowsHost } from './host.ts';
import type { Interruption } from './interruption.ts';
import { findBroken, seeLastingState, seePrograms } from './life-state.ts';
import { bundlePath } from '../manual-operator.ts';
import { type ManualLabOperator, nodeNameOf } from './operator.ts';
import { namespace } from './rights.ts';
import { seeFiles, type Snapshot } from './snapshot.ts';
import { installedAgent } from '../installed-agent.ts';

/** What the agent does to a host, from the first file to the last trace. `services` begins with a reboot. */
export const steps = ['stage', 'bootstrap', 'settings', 'services', 'cleanup'] as const;
export type Step = (typeof steps)[number];

export interface StepOutcome {
  /** How long the agent worked in the run that came to its end. */
  ms: number;
  /** Whether the interruption found the agent at work. */
  wasHit: boolean;
  /** Files that were neither whole nor absent right after the interruption. */
  broken: string[];
  /** Everything that has to be the same after every life. */
  state: Snapshot;
}

/** `afterMs` counts from the moment at which the agent begins to work. */
export type Disturbance = Pick<Interruption, 'how'> & { afterMs: number };

const appearanceMs = 90_000;

/** Runs the steps on a host; after a disturbance it continues as the operator or Windows would. */
export class Life {
  readonly host: WindowsHost;
  readonly agent: AgentService;
  readonly #operator: ManualLabOperator;
  readonly #bundle: { path: string; sha256: string };
  #node = '';
  #broken: string[] = [];
  /** Files as the undisturbed `stage` leaves them. */
  #whole: Snapshot = new Map();
  /** Programs of Windows itself. */
  #windowsPrograms: readonly string[] = [];

  constructor(host: WindowsHost, operator: ManualLabOperator, bundle: { path: string; sha256: string }) {
    this.host = host;
    this.agent = new AgentService(host);
    this.#operator = operator;
    this.#bundle = bundle;
  }

  async live(step: Step, disturbance?: Disturbance): Promise<StepOutcome> {
    if (this.#whole.size === 0) this.#windowsPrograms = await seePrograms(this.host);
    this.#broken = [];
    const { ms, wasHit } = await this.#take[step](disturbance);
    if (this.#whole.size === 0) this.#whole = seeFiles(this.host);
    // Clean-up writes no report, but an agent that a power cut brings back for a moment may.
    const marks = step === 'settings' || step === 'services' ? await this.#marks() : {};
    const state = await seeLastingState(this.host, { marks, expected: this.#windowsPrograms });
    return { ms, wasHit, broken: this.#broken, state };
  }

  /** Makes a cleaned host bare again and deletes its Node. */
  async end(): Promise<void> {
    await this.host.reboot();
    for (const name of this.host.drive.list(dir.k)) {
      if (`${dir.k}\\${name}` !== file.agent) await this.host.drive.remove(`${dir.k}\\${name}`);
    }
    for (const path of ['C:\\var', dir.temp, 'C:\\lab\\services']) await this.host.drive.remove(path);
    await mkdir(this.host.drive.path('C:\\lab\\services'));
    await this.#operator.deps.client.delete(nodes, this.#node);
    await this.#operator.emptyReport(this.host);
  }

  readonly #take: Record<Step, (disturbance?: Disturbance) => Promise<{ ms: number; wasHit: boolean }>> = {
    stage: async disturbance => {
      const { drive } = this.host;
      for (const directory of requiredDirectories) await mkdir(drive.path(directory), { recursive: true });
      if (!drive.exists(file.agent)) await drive.copyIn(this.#operator.deps.agent, file.agent);
      await drive.copyIn(this.#bundle.path, bundlePath);
      return this.#command(installedAgent.stage(bundlePath, this.#bundle.sha256), disturbance);
    },
    bootstrap: async disturbance => {
      const done = await this.#command(
        installedAgent.bootstrap({ version: this.#operator.version, namespace, node: nodeNameOf(this.host) }),
        disturbance,
      );
      this.#node = await this.#operator.findNode(this.host);
      await this.#operator.waitFor('a ready kubelet', async () => (await this.#isReady()) || undefined);
      return done;
    },
    settings: async disturbance => {
      await this.#operator.desire(this.#node);
      const installed = this.#operator.installAgentService(this.host);
      await this.#appeared(installed);
      const done = this.#service(disturbance, seen => this.#isConfigured(seen));
      // The command that starts the service may be a victim, too.
      await Promise.all([done, disturbance === undefined ? installed : installed.catch(() => undefined)]);
      return done;
    },
    services: async disturbance => {
      await this.#operator.reboot(this.host);
      return this.#service(disturbance, seen => this.#isConfigured(seen));
    },
    cleanup: async disturbance => {
      const removeAgent = () => this.#operator.removeAgentService(this.host);
      await removeAgent();
      // A power cut brings a service back that was removed just before it.
      return this.#command(installedAgent.cleanup(namespace), disturbance, removeAgent);
    },
  };

  /** A command that the operator runs, and runs again when it was cut short. */
  async #command(
    command: string,
    disturbance?: Disturbance,
    beforeAgain: () => Promise<void> = () => Promise.resolve(),
  ): Promise<{ ms: number; wasHit: boolean }> {
    let wasHit = false;
    if (disturbance !== undefined) {
      const running = this.host.exec(command, { timeoutMs: 180_000 }).catch(() => undefined);
      await this.#appeared(running);
      wasHit = await this.#disturb(disturbance);
      if (disturbance.how === 'kill') await running;
      await beforeAgain();
    }
    const running = this.host.run(command, { timeoutMs: 180_000 });
    await this.#appeared(running);
    const startMs = performance.now();
    while (this.agent.pids().length > 0) await delay(50);
    const ms = performance.now() - startMs;
    await running;
    return { ms, wasHit };
  }

  /** The agent as a service, which Windows starts again after a crash and after a boot. */
  async #service(
    disturbance: Disturbance | undefined,
    isDone: (passesBefore: number) => Promise<boolean>,
  ): Promise<{ ms: number; wasHit: boolean }> {
    const startMs = performance.now();
    const wasHit = disturbance !== undefined && (await this.#disturb(disturbance));
    const passes = this.#passes();
    if (disturbance !== undefined) await this.#revive();
    const look = async () => (await isDone(passes)) || undefined;
    await this.#operator.waitFor('the end of a step', look, 180_000).catch(error => this.agent.explain(error));
    return { ms: performance.now() - startMs, wasHit };
  }

  async #disturb({ how, afterMs }: Disturbance): Promise<boolean> {
    await delay(afterMs);
    const wasHit = how === 'kill' ? this.agent.kill() > 0 : this.agent.pids().length > 0;
    if (how === 'power cut') await this.host.cut();
    this.#broken = findBroken(this.host, this.#whole);
    if (how === 'power cut') await this.host.start();
    return wasHit;
  }

  /**
   * Wine does not carry out the recovery of a service, and a service that died while it started stays start-pending for ever;
   * and a service that was just installed may be lost in a power cut.
   */
  async #revive(): Promise<void> {
    const look = async () => {
      await this.#operator.installAgentService(this.host);
      await this.host.exec(`sc.exe start ${agentName}`);
      await delay(1000);
      return this.agent.pids().length > 0 ? true : undefined;
    };
    await this.#operator.waitFor('an agent that runs', look, 180_000).catch(error => this.agent.explain(error));
  }

  async #appeared(unless: Promise<unknown>): Promise<void> {
    const state = { isOver: false };
    const over = () => (state.isOver = true);
    void unless.then(over, over);
    for (const endMs = performance.now() + appearanceMs; !state.isOver; await delay(10)) {
      if (this.agent.pids().length > 0) return;
      if (performance.now() > endMs) throw new Error(`no agent began to work on ${this.host.name}`);
    }
  }

  /** The version may have been there before a power cut. */
  async #isConfigured(passesBefore: number): Promise<boolean> {
    return this.#passes() > passesBefore && (await this.#hasVersion());
  }

  #passes(): number {
    return this.agent.log().filter(line => line.includes('Host is configured')).length;
  }

  async #hasVersion(): Promise<boolean> {
    return (await this.#operator.report(this.#node)).version !== '';
  }

  /** What the report says about the host. */
  async #marks(): Promise<Record<string, string>> {
    const { version, rebootRequired } = await this.#operator.report(this.#node);
    return { version, rebootRequired: String(rebootRequired) };
  }

  async #isReady(): Promise<boolean> {
    const { status } = await this.#operator.node(this.#node);
    return status?.conditions?.some(condition => condition.type === 'Ready') ?? false;
  }
}
