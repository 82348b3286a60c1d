import { namesNear } from '#base/closest.ts';
import { commandHelp, usage } from '#base/command-line.ts';
import { AppError, shown } from '#base/errors.ts';
import { configMapName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { oneLine, printable, type SafeText, safe } from '../safe-text.ts';
import { shellWord } from '../shell-quote.ts';
import { readCluster, watchCluster } from '../status/cluster-reader.ts';
import { openClient } from '../status/connection.ts';
import { checkOperator } from '../status/missing-operator.ts';
import { durationText } from '../status/view/amounts.ts';
import { budgetText } from '../status/view/budget.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import type { ClusterView } from '../status/view/host-view.ts';
import type { AskingTerminal, ExitCode } from '../terminal.ts';
import { readRemoveOptions, removeLine, type RemoveOptions } from './options.ts';
import { cancelText, planLines } from './plan-lines.ts';
import { countPods } from './pods.ts';
import { forgetRemovedHost, requestRemoval } from './request.ts';
import { findTarget, nodeNameOf, type Target } from './target.ts';
import { type RemovalEnd, watchRemoval } from './watch-removal.ts';

/** Runs `wmco remove`. */
export async function removeProgram(words: readonly string[], terminal: AskingTerminal): Promise<ExitCode> {
  const options = readRemoveOptions(words, terminal.environment);
  if (options === undefined) {
    terminal.out(printable(commandHelp(removeLine)));
    return 0;
  }
  const client = await openClient(options, terminal);
  const session = new RemoveSession(options, client, terminal);
  try {
    return options.forget ? await session.forget() : await session.remove();
  } finally {
    await client.close();
  }
}

class RemoveSession {
  readonly #options: RemoveOptions;
  readonly #terminal: AskingTerminal;
  readonly #deps: { client: Client; namespace: string; clock: AskingTerminal['clock']; signal: AbortSignal };

  constructor(options: RemoveOptions, client: Client, terminal: AskingTerminal) {
    this.#options = options;
    this.#terminal = terminal;
    this.#deps = { client, namespace: options.namespace, clock: terminal.clock, signal: terminal.signal };
  }

  async remove(): Promise<ExitCode> {
    const view = await this.#read();
    const target = findTarget(hostViews(view), this.#options.host, view);
    checkUsername(target, this.#options);
    await this.#printPlan(target, view);
    if (!(await this.#isConfirmed(target))) {
      this.#print('The host is not removed.');
      return 1;
    }
    const { force: isForced, username = '' } = this.#options;
    const { isOperatorRunning } = view;
    const request = { target, isForced, username, isOperatorRunning };
    for (const line of await requestRemoval(request, this.#deps)) this.#print(line);
    return this.#wait(target, view);
  }

  async forget(): Promise<ExitCode> {
    const view = await this.#read();
    const { host } = this.#options;
    if (!view.removedHosts.some(({ node }) => node === host)) throw unknownNote(host, view);
    await forgetRemovedHost(host, this.#deps);
    this.#print(`Deleted the note about Node ${host} from ConfigMap ${configMapName.removedHosts}.`);
    return 0;
  }

  async #read(): Promise<ClusterView> {
    const { signal } = this.#deps;
    const view = await readCluster(this.#deps, signal);
    await checkOperator(view, this.#deps, signal);
    return view;
  }

  async #printPlan(target: Target, view: ClusterView): Promise<void> {
    const { client, namespace, signal } = this.#deps;
    const node = nodeNameOf(target);
    const pods = node === undefined ? undefined : await countPods(client, node, signal);
    const maxUnavailable = budgetText(view);
    const facts = { namespace, isForced: this.#options.force, pods, maxUnavailable };
    for (const line of planLines(target, facts)) this.#print(line);
    for (const note of view.notes) this.#print(`Note: ${note}`);
  }

  async #isConfirmed(target: Target): Promise<boolean> {
    const { ask, signal } = this.#terminal;
    if (this.#options.yes) return true;
    if (ask === undefined) {
      throw new AppError('USAGE', 'there is no terminal to confirm the removal', {
        remedy: 'Pass --yes to remove the host without a question.',
      });
    }
    const name = nodeNameOf(target) ?? target.host.name;
    const question = safe`Type ${oneLine(name)} to remove it: `;
    const answer = await ask(question).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return '';
    });
    return answer.trim() === name;
  }

  async #wait(target: Target, view: ClusterView): Promise<ExitCode> {
    if (!this.#options.wait) return 0;
    // Whether it runs is not known without permission to read the Lease.
    if (!view.isOperatorRunning && !view.unread.includes('lease')) {
      if (isEntryOnly(target)) return 0;
      this.#print('The removal starts when the operator runs.');
      return 1;
    }
    const { signal } = this.#deps;
    const end = await this.#watch(target).catch((error: unknown): RemovalEnd => {
      if (!signal.aborted) throw error;
      return 'stopped';
    });
    const following = `\`${this.#terminal.command()} status -w ${shellWord(target.host.name)}\` follows it`;
    if (end === 'removed') return this.#printEnd(target, await readCluster(this.#deps, signal));
    if (end === 'kept') this.#print('The host stays: another entry or WindowsInstance is the same host.');
    if (end === 'canceled') this.#print('The removal was canceled: the host is kept.');
    if (end === 'stopped') this.#print(`The removal goes on; ${following}. To cancel it, ${this.#cancel(target)}.`);
    if (end === 'timed out') throw this.#unfinished(target, following);
    return 1;
  }

  async #watch(target: Target): Promise<RemovalEnd> {
    const { signal, clock } = this.#deps;
    const { timeoutMs } = this.#options;
    await using cluster = await watchCluster(this.#deps, signal);
    const print = (line: SafeText) => this.#terminal.out(safe`${line}\n`);
    // Awaited here: the cluster is no longer watched after this function.
    return await watchRemoval(target, { cluster, print, clock, signal, timeoutMs });
  }

  #printEnd(target: Target, view: ClusterView): ExitCode {
    const node = nodeNameOf(target);
    this.#print(`Host ${target.host.name} is removed${node === undefined ? '' : `; Node ${node} is gone`}.`);
    if (view.removedHosts.some(note => note.node === node)) {
      this.#print(
        `The host was not cleaned. ConfigMap ${configMapName.removedHosts} has a note about it; when you have cleaned ` +
          `or reinstalled it, run \`${this.#terminal.command()} remove --forget ${shellWord(node ?? '')}\`.`,
      );
    }
    return 0;
  }

  #unfinished({ host }: Target, following: string): AppError {
    const limit = durationText(this.#options.timeoutMs);
    return new AppError('REMOVAL_UNFINISHED', `host ${host.name} is not removed after ${limit}`, {
      remedy: `The removal goes on; ${following}, and \`wmco status ${shellWord(host.name)}\` shows what it waits for.`,
    });
  }

  #cancel(target: Target): string {
    return cancelText(target, this.#deps.namespace);
  }

  #print(text: string): void {
    const indent = text.startsWith('  ') ? safe`  ` : safe``;
    this.#terminal.out(safe`${indent}${oneLine(text.trim())}\n`);
  }
}

function isEntryOnly(target: Target): boolean {
  return target.is === 'entry' && target.instance === undefined;
}

function checkUsername(target: Target, { username }: RemoveOptions): void {
  if (target.is === 'node' && username === undefined) {
    throw new AppError('USAGE', `Node ${target.node.name} has no WindowsInstance, so its user is not known`, {
      remedy:
        'Pass --username NAME: the Windows user with administrator rights under which the host was listed. ' +
        'The Node has it only encrypted.',
    });
  }
  if (target.is !== 'node' && username !== undefined) {
    throw usage(removeLine, `--username is only for Nodes without a WindowsInstance, and ${target.host.name} is none`);
  }
}

function unknownNote(name: string, { removedHosts }: ClusterView): AppError {
  const known = namesNear(
    name,
    removedHosts.map(({ node }) => node),
  );
  return new AppError('HOST_UNKNOWN', `ConfigMap ${configMapName.removedHosts} has no note about ${shown(name)}`, {
    remedy: known === '' ? 'No host was removed by force.' : `Use one of: ${known}.`,
  });
}
