import { commandHelp } from '#base/command-line.ts';
import { isAppError } from '#base/errors.ts';
import { createLog } from '#base/log.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { errorText, table } from '../output.ts';
import { oneLine, printable, type SafeText, safe } from '../safe-text.ts';
import { countText, durationText } from '../status/view/amounts.ts';
import { type FollowedCluster, followCluster } from '../status/cluster-source.ts';
import { type Display, displayOn, lookOn } from '../status/screen/displays.ts';
import { follow } from '../status/screen/follow.ts';
import { problemLines } from '../status/screen/host-table.ts';
import { type HostView, isGood } from '../status/view/host-view.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { sandboxHosts } from './hosts.ts';
import { readSandboxOptions, sandboxLine, type SandboxOptions } from './options.ts';
import { openPlace, type SandboxPlace } from './place.ts';
import type { RunningSandbox, SandboxFactory } from './running.ts';
import { isSettled, outcomeLine, summaryLines } from './summary.ts';
import { usageLines } from './usage-lines.ts';

/** Shows hosts becoming nodes, in a cluster that exists in this process only and leaves nothing behind. */
export async function sandboxProgram(
  words: readonly string[],
  terminal: LiveTerminal,
  factory: SandboxFactory,
): Promise<ExitCode> {
  const options = readSandboxOptions(words);
  if (options === undefined) {
    terminal.out(printable(commandHelp(sandboxLine)));
    return 0;
  }
  if (options.faults === 'list') {
    terminal.out(safe`${printable(table(factory.faults.map(({ name, description }) => [name, description])))}\n`);
    return 0;
  }
  await using place = await openPlace(options);
  const log = createLog(line => place.log(line), terminal.clock);
  const spec = { ...options, faults: options.faults, folder: place.folder, version: terminal.version(), log };
  await using sandbox = await factory.start(spec);
  await place.writeKubeconfig(sandbox.kubeconfig);
  const client = createClient(loadKubeconfig(sandbox.kubeconfig), { clock: terminal.clock });
  try {
    return await new Show({ options, terminal, place, sandbox, client }).run();
  } finally {
    await client.close();
  }
}

interface ShowParts {
  options: SandboxOptions;
  terminal: LiveTerminal;
  place: SandboxPlace;
  sandbox: RunningSandbox;
  client: Client;
}

/** From the first host to the end of the sandbox. */
class Show {
  readonly #parts: ShowParts;
  readonly #startMs: number;
  #hosts: HostView[] = [];
  /** When the hosts had come as far as they come. */
  #arrived: { elapsedMs: number; isGood: boolean } | undefined;

  constructor(parts: ShowParts) {
    this.#parts = parts;
    this.#startMs = parts.terminal.clock.monotonicMs();
  }

  async run(): Promise<ExitCode> {
    const { terminal, sandbox, client, options } = this.#parts;
    terminal.out(safe`${oneLine(heading(options, sandbox))}\n\n`);
    const signal = AbortSignal.any([terminal.signal, sandbox.operatorEnd]);
    const display = displayOn(terminal, () => this.#stamp());
    try {
      const { namespace } = sandbox;
      await using cluster = await followCluster({ client, namespace, clock: terminal.clock }, signal);
      await this.#join(cluster, display, signal);
      const stays = options.serve || (terminal.size() !== undefined && !options.exitWhenReady);
      if (stays && !signal.aborted) await this.#stay(cluster, display, signal);
      else this.#sumUp(display);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      display.close();
    }
    if (terminal.signal.aborted) terminal.out(safe`\nThe sandbox ends and takes everything with it.\n`);
    return this.#exitCode();
  }

  /** Until all hosts are Ready, or nothing new is to be expected of the others. */
  async #join(cluster: FollowedCluster, display: Display, signal: AbortSignal): Promise<void> {
    const { options, terminal } = this.#parts;
    const wanted = options.hosts + options.machines;
    const look = () => {
      this.#look(cluster, display, []);
      const isComplete = this.#hosts.length >= wanted;
      const isOver = isComplete && this.#hosts.every(isSettled);
      if (!isOver && this.#elapsedMs() <= options.timeoutMs) return 'go on';
      this.#arrived = { elapsedMs: this.#elapsedMs(), isGood: isComplete && this.#hosts.every(isGood) };
      return 'end';
    };
    await follow(look, { onChange: cluster.onChange, clock: terminal.clock, signal });
  }

  async #stay(cluster: FollowedCluster, display: Display, signal: AbortSignal): Promise<void> {
    const { terminal, place } = this.#parts;
    const usage = usageLines({ ...place, hosts: this.#hosts }).map(printable);
    const isTerminal = terminal.size() !== undefined;
    const below = isTerminal ? [...this.#outcome(), ...usage] : usage;
    if (!isTerminal) this.#sumUp(display);
    const look = () => {
      this.#look(cluster, display, below);
      return 'go on' as const;
    };
    await follow(look, { onChange: cluster.onChange, clock: terminal.clock, signal });
  }

  #look(cluster: FollowedCluster, display: Display, more: readonly SafeText[]): void {
    this.#hosts = sandboxHosts(cluster.view(), this.#parts.sandbox.hosts());
    display.show(this.#hosts, more);
  }

  #sumUp(display: Display): void {
    const { terminal, sandbox } = this.#parts;
    display.close();
    const look = lookOn(terminal);
    // On a terminal they stand above, in the last picture.
    const problems = terminal.size() === undefined ? problemLines(this.#hosts, look) : [];
    const summary = summaryLines(this.#hosts, sandbox.hosts(), look);
    for (const line of [safe``, ...summary, safe``, ...this.#outcome(), ...problems, safe``]) {
      terminal.out(safe`${line}\n`);
    }
  }

  #outcome(): SafeText[] {
    const { speed, timeoutMs } = this.#parts.options;
    const elapsedMs = this.#arrived?.elapsedMs ?? this.#elapsedMs();
    const isLate = elapsedMs > timeoutMs ? [`The time is over: --timeout is ${durationText(timeoutMs)}.`] : [];
    return [outcomeLine(this.#hosts, elapsedMs, speed), ...isLate].map(oneLine);
  }

  /** What happens to hosts later is the doing of whoever plays with them. */
  #exitCode(): ExitCode {
    const { terminal, sandbox } = this.#parts;
    const { operatorEnd } = sandbox;
    if (operatorEnd.aborted) {
      const reason: unknown = operatorEnd.reason;
      const told = isAppError(reason) ? errorText(reason) : safe`The operator has ended: ${oneLine(String(reason))}`;
      terminal.err(safe`${told}\n`);
      return 1;
    }
    return this.#arrived?.isGood === true ? 0 : 1;
  }

  #elapsedMs(): number {
    return this.#parts.terminal.clock.monotonicMs() - this.#startMs;
  }

  #stamp(): string {
    return durationText(this.#elapsedMs()).padStart(8);
  }
}

function heading({ hosts, machines, speed }: SandboxOptions, { url }: RunningSandbox): string {
  const pace = speed === 1 ? 'in real time' : `${speed} times as fast as in reality`;
  return `A cluster at ${url} with ${countText(hosts, 'host')} and ${countText(machines, 'Machine')}; simulated work goes ${pace}.`;
}
