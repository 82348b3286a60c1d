import { commandHelp } from '#base/command-line.ts';
import { isAppError } from '#base/errors.ts';
import { createLog } from '#base/log.ts';
import { defaultNamespace } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { errorText, internalError, table } from '../output.ts';
import { oneLine, printable, type SafeText, safe } from '../safe-text.ts';
import { countText, durationText } from '../status/view/amounts.ts';
import { type WatchedCluster, watchCluster } from '../status/cluster-reader.ts';
import { type Display, displayOn, layoutFor } from '../status/screen/displays.ts';
import { follow } from '../status/screen/follow.ts';
import { overview } from '../status/screen/overview.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import { type HostView, isDuplicate, isGood } from '../status/view/host-view.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { readSandboxOptions, sandboxLine, type SandboxOptions, type StoryName } from './options.ts';
import { openSandboxFiles, type SandboxFiles } from './files.ts';
import type { RunningSandbox, SandboxFactory } from './running.ts';
import { stories } from './story/stories.ts';
import { isSettled, outcomeLine, summaryLines } from './summary.ts';
import { experimentLines, hintLines, startLines } from './usage-lines.ts';

/** Runs `wmco sandbox`; help does not load the factory, which is most of the program. */
export async function sandboxProgram(
  words: readonly string[],
  terminal: LiveTerminal,
  loadFactory: () => Promise<SandboxFactory>,
): Promise<ExitCode> {
  const options = readSandboxOptions(words);
  if (options === undefined) {
    terminal.out(printable(commandHelp(sandboxLine)));
    return 0;
  }
  const factory = await loadFactory();
  if (options.faults === 'list') {
    terminal.out(safe`${printable(table(factory.faults.map(({ name, description }) => [name, description])))}\n`);
    terminal.out(printable(endFaultText(factory.endFaultAnnotation)));
    return 0;
  }
  await using files = await openSandboxFiles(options);
  const log = createLog(line => files.log(line), terminal.clock);
  const spec = { ...options, faults: options.faults, folder: files.folder, version: terminal.version(), log };
  await using sandbox = await factory.start(spec);
  await files.writeKubeconfig(sandbox.kubeconfig);
  const client = createClient(loadKubeconfig(sandbox.kubeconfig), { clock: terminal.clock });
  try {
    const { story } = options;
    if (story !== undefined) return await playStory(story, { options, terminal, files, sandbox, client });
    return await new SandboxSession({
      options,
      terminal,
      files,
      sandbox,
      client,
      endFaultAnnotation: factory.endFaultAnnotation,
    }).run();
  } finally {
    await client.close();
  }
}

async function playStory(story: StoryName, deps: Omit<SessionDeps, 'endFaultAnnotation'>): Promise<ExitCode> {
  const { options, terminal, sandbox, client, files } = deps;
  const signal = AbortSignal.any([terminal.signal, sandbox.operatorExit]);
  terminal.out(safe`${printable(heading(options, sandbox))}\n`);
  terminal.out(safe`Operator log: ${oneLine(files.logFile)}\n\n`);
  try {
    await stories[story]({ terminal, sandbox, client, timeoutMs: options.timeoutMs, signal });
    return 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    reportOperatorExit(terminal, sandbox);
    return 1;
  }
}

/** True if the operator has exited by itself. */
function reportOperatorExit(terminal: LiveTerminal, { operatorExit }: RunningSandbox): boolean {
  if (!operatorExit.aborted) return false;
  const reason: unknown = operatorExit.reason;
  terminal.err(safe`${errorText(isAppError(reason) ? reason : internalError(reason))}\n`);
  return true;
}

function endFaultText(annotation: string): string {
  return `
End a fault of a running sandbox:
  kubectl annotate windowsinstance HOST -n ${defaultNamespace} ${annotation}=FAULT
To end all faults of the host, write "all" for FAULT.
`;
}

interface SessionDeps {
  options: SandboxOptions;
  terminal: LiveTerminal;
  files: SandboxFiles;
  sandbox: RunningSandbox;
  client: Client;
  endFaultAnnotation: string;
}

/** Terminals with more rows also show things to try. */
const tallRows = 40;

/** Shows the hosts from the start of the sandbox to its end. */
class SandboxSession {
  readonly #deps: SessionDeps;
  readonly #startMs: number;
  #hosts: HostView[] = [];
  /** Set when all hosts are settled or the time is up. */
  #settled: { outcome: SafeText[]; isGood: boolean } | undefined;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#startMs = deps.terminal.clock.monotonicMs();
  }

  async run(): Promise<ExitCode> {
    const { terminal, sandbox, client, options, files } = this.#deps;
    const start = [heading(options, sandbox), ...startLines({ ...files, command: terminal.command() }), ''];
    for (const line of start) terminal.out(safe`${printable(line)}\n`);
    const signal = AbortSignal.any([terminal.signal, sandbox.operatorExit]);
    const display = displayOn(terminal, () => this.#stamp());
    try {
      const { namespace } = sandbox;
      await using cluster = await watchCluster({ client, namespace, clock: terminal.clock }, signal);
      await this.#showUntilSettled(cluster, display, signal);
      const keepsRunning = options.serve || (terminal.size() !== undefined && !options.exitWhenReady);
      if (keepsRunning && !signal.aborted) await this.#showUntilStopped(cluster, display, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      display.close(this.#lastLines());
    }
    if (terminal.signal.aborted) terminal.out(safe`\nStopping the sandbox and removing its files.\n`);
    return this.#exitCode();
  }

  async #showUntilSettled(cluster: WatchedCluster, display: Display, signal: AbortSignal): Promise<void> {
    const { options, terminal } = this.#deps;
    const wanted = options.hosts + options.machines;
    const refresh = () => {
      this.#refresh(cluster, display, () => this.#hints());
      const isComplete = this.#hosts.filter(isOfSandbox).length >= wanted;
      const isOver = isComplete && this.#hosts.every(isSettled);
      if (!isOver && this.#elapsedMs() <= options.timeoutMs) return 'continue';
      this.#settled = { outcome: this.#outcome(), isGood: isComplete && this.#hosts.every(isGood) };
      return 'stop';
    };
    await follow(refresh, { onChange: cluster.onChange, clock: terminal.clock, signal });
  }

  async #showUntilStopped(cluster: WatchedCluster, display: Display, signal: AbortSignal): Promise<void> {
    const { terminal } = this.#deps;
    if (terminal.size() === undefined) {
      const running = [...this.#summary(), ...this.#outcome(), ...this.#experiments(), safe`Running until Ctrl-C.`];
      for (const line of running) terminal.out(safe`${line}\n`);
    }
    const refresh = () => {
      this.#refresh(cluster, display, () => [...this.#runningLines(), ...this.#hints()]);
      return 'continue' as const;
    };
    await follow(refresh, { onChange: cluster.onChange, clock: terminal.clock, signal });
  }

  /** Lines of a terminal below its table. */
  #runningLines(): SafeText[] {
    const size = this.#deps.terminal.size();
    if (size === undefined) return [];
    const experiments = size.rows < tallRows ? [] : this.#experiments();
    return [...this.#outcome(), ...experiments, safe`Running until Ctrl-C. In another terminal:`];
  }

  #experiments(): SafeText[] {
    return experimentLines(this.#hosts, this.#deps.terminal.command()).map(line => printable(line));
  }

  /** On a terminal always; in a log only while a host has a problem. */
  #hints(): SafeText[] {
    const { terminal, files, sandbox } = this.#deps;
    const { namespace } = sandbox;
    const { endFaultAnnotation } = this.#deps;
    const isTerminal = terminal.size() !== undefined;
    if (!isTerminal && this.#hosts.every(({ tone }) => tone !== 'bad' && tone !== 'slow')) return [];
    const facts = { command: terminal.command(), kubeconfig: files.kubeconfig, namespace, endFaultAnnotation };
    const lines = hintLines({ ...facts, hosts: this.#hosts, machines: sandbox.hosts() });
    return (isTerminal ? lines : lines.slice(1)).map(line => safe`  ${printable(line)}`);
  }

  #refresh(cluster: WatchedCluster, display: Display, more: () => readonly SafeText[]): void {
    this.#hosts = hostViews(cluster.view());
    display.show(this.#hosts, more());
  }

  /** Stays when the sandbox has ended: what the hosts are now, and what it took. */
  #lastLines(): SafeText[] {
    if (this.#hosts.length === 0) return [];
    return [
      ...overview(this.#hosts, layoutFor(this.#deps.terminal)),
      safe``,
      ...this.#summary(),
      safe``,
      ...this.#outcome(),
    ];
  }

  #summary(): SafeText[] {
    const { terminal, sandbox } = this.#deps;
    return summaryLines(this.#hosts, sandbox.hosts(), layoutFor(terminal));
  }

  /** As it was when the hosts settled: later changes are made by the user. */
  #outcome(): SafeText[] {
    if (this.#settled !== undefined) return this.#settled.outcome;
    const { speed, timeoutMs } = this.#deps.options;
    const elapsedMs = this.#elapsedMs();
    const isLate = elapsedMs > timeoutMs ? [`Timed out: --timeout is ${durationText(timeoutMs)}.`] : [];
    return [outcomeLine(this.#hosts, elapsedMs, speed), ...isLate].map(oneLine);
  }

  /** Depends only on the first time the hosts settled: later changes are made by the user. */
  #exitCode(): ExitCode {
    const { terminal, sandbox } = this.#deps;
    if (reportOperatorExit(terminal, sandbox)) return 1;
    return this.#settled?.isGood === true ? 0 : 1;
  }

  #elapsedMs(): number {
    return this.#deps.terminal.clock.monotonicMs() - this.#startMs;
  }

  #stamp(): string {
    return durationText(this.#elapsedMs()).padStart(8);
  }
}

/** Not a further row that a user caused, such as a second entry of a host. */
function isOfSandbox(host: HostView): boolean {
  return host.source.kind !== 'Node' && !isDuplicate(host);
}

function heading({ hosts, machines, speed }: SandboxOptions, { url }: RunningSandbox): string {
  const counts = `${countText(hosts, 'host')} and ${countText(machines, 'Machine')}`;
  return `Cluster at ${url} with ${counts}; simulated work runs ${speed === 1 ? 'in real time' : `${speed} times faster`}.`;
}
