import { AppError } from '#base/errors.ts';
import { configMapName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { oneLine, printable, safe } from '../../safe-text.ts';
import type { WatchedCluster } from '../../status/cluster-reader.ts';
import { ChangeLines } from '../../status/screen/change-lines.ts';
import { follow } from '../../status/screen/follow.ts';
import { durationText } from '../../status/view/amounts.ts';
import { hostViews } from '../../status/view/cluster-hosts.ts';
import type { LiveTerminal } from '../../terminal.ts';
import type { RunningSandbox } from '../running.ts';

export interface StoryDeps {
  terminal: LiveTerminal;
  sandbox: RunningSandbox;
  client: Client;
  /** Limit of each chapter that waits. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Keeps the indent of three blanks. */
export function say({ terminal }: Pick<StoryDeps, 'terminal'>, ...lines: readonly string[]): void {
  for (const line of lines) {
    const indent = line.startsWith('   ') ? printable('   ') : safe``;
    terminal.out(safe`${indent}${oneLine(line.trim())}\n`);
  }
}

/** The first chapter: hosts become Nodes. */
export async function showJoin(names: readonly string[], cluster: WatchedCluster, deps: StoryDeps): Promise<void> {
  const { clock, out } = deps.terminal;
  const list = inWords(names);
  say(deps, `1. ${countWord(names.length)} Windows hosts join the cluster`);
  say(deps, `   ConfigMap ${configMapName.instances} in namespace ${deps.sandbox.namespace} lists ${list}.`);
  const changes = new ChangeLines(() => '  ');
  const isReady = () => {
    const hosts = hostViews(cluster.view());
    for (const line of changes.next(hosts, clock.now())) out(safe`${line}\n`);
    return names.every(name => hosts.some(host => host.name === name && host.phase === 'Ready'));
  };
  await showUntil(`${list} to become Ready`, isReady, cluster, deps);
}

/** Calls `isDone` after each change until it is true; fails when the time is up. */
export async function showUntil(
  what: string,
  isDone: () => boolean,
  cluster: WatchedCluster,
  deps: StoryDeps,
): Promise<void> {
  const { terminal, signal, timeoutMs } = deps;
  const { clock } = terminal;
  const endMs = clock.monotonicMs() + timeoutMs;
  let hasEnded = false;
  const refresh = () => {
    hasEnded = isDone();
    return hasEnded || clock.monotonicMs() > endMs ? 'stop' : 'continue';
  };
  await follow(refresh, { onChange: cluster.onChange, clock, signal });
  signal.throwIfAborted();
  if (!hasEnded) throw lateError(what, cluster, deps);
}

export function lateError(what: string, cluster: WatchedCluster, { timeoutMs }: StoryDeps): AppError {
  const states = hostViews(cluster.view()).map(
    ({ name, phase, step }) => `${name} ${phase}${step ? ` at ${step}` : ''}`,
  );
  return storyError(`waited ${durationText(timeoutMs)} for ${what}; now: ${states.join(', ')}`);
}

export function storyError(message: string): AppError {
  return new AppError('SANDBOX_STORY_FAILED', message, {
    remedy: 'Run it again with `--log FILE`, and read the log of the operator; on a slow machine, use `--timeout 30m`.',
  });
}

function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function countWord(count: number): string {
  return ['No', 'One', 'Two', 'Three', 'Four', 'Five'][count] ?? String(count);
}
