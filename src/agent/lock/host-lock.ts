import type { Clock } from '#base/clock.ts';
import { AppError, attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { operatorName } from '#contract/names.ts';
import { dir, leaderFile, lockFile } from '#contract/paths.ts';
import type { HostPorts } from '../ports.ts';
import { compareLeader, type LeaderTerm, parseLeader, printLeader } from './leader.ts';

export interface LockDeps {
  ports: Pick<HostPorts, 'locks' | 'files' | 'system'>;
  clock: Clock;
  signal: AbortSignal;
  /** Of this process. */
  pid: number;
}

export interface LockOrder {
  /** The command, as others see it while it runs. */
  what: string;
  /** Who orders it; not checked when missing. */
  leader?: LeaderTerm | undefined;
  /** How long to wait for another command; not at all by default. */
  waitMs?: number;
}

/** Held for a few file operations, so that no slower process can lower the record of the leader. */
const leaderLockFile = `${dir.agentPrograms}\\leader.lock`;
/** What the holder of the lock does; only for messages. */
const holderFile = `${dir.agentPrograms}\\holder.json`;

/** Everything that a lock leaves on the host; its own file last. */
export const lockFiles: readonly string[] = [leaderFile, leaderLockFile, holderFile, lockFile];

const pollMs = 100;
const leaderWaitMs = 10_000;

/** Runs the act while no other command changes the host, and unless a later leader has sent a command. */
export async function withHostLock<T>(order: LockOrder, deps: LockDeps, act: () => Promise<T>): Promise<T> {
  const { files, system } = deps.ports;
  // Others cannot open the lock, and Windows denies them any change.
  if (!(await system.isAdministrator())) return act();
  await files.createDirectory(dir.agentPrograms, 'programs');
  if (order.leader !== undefined) await recordLeader(order.leader, deps);
  using _held = await hold(lockFile, order.waitMs ?? 0, deps);
  // A later leader may have come while this one waited for the lock.
  if (order.leader !== undefined) await recordLeader(order.leader, deps);
  await noteHolder(order.what, deps);
  try {
    return await act();
  } finally {
    await files.remove(holderFile).catch(() => undefined);
  }
}

/** Before the lock is tried: from then on the former leader starts nothing more, even while its last command runs. */
async function recordLeader(given: LeaderTerm, deps: LockDeps): Promise<void> {
  const { files } = deps.ports;
  using _held = await hold(leaderLockFile, leaderWaitMs, deps);
  const known = parseLeader((await files.read(leaderFile)) ?? '');
  const compared = compareLeader(known, given);
  if (compared === 'stale') throw stale(given, known);
  // A user who could open the file could also keep it from being replaced.
  if (compared === 'new') await files.write(leaderFile, printLeader(given), 'secret');
}

function stale(given: LeaderTerm, known: LeaderTerm | undefined): AppError {
  const message = `leader ${given.count} orders it, but leader ${known?.count} has sent commands since`;
  return new AppError('LEADER_STALE', message, {
    remedy:
      'No action is needed: another operator leads. If there is none, as after a restore of etcd, let the Lease be ' +
      `created again: kubectl delete lease -A --field-selector metadata.name=${operatorName}`,
  });
}

async function hold(path: string, waitMs: number, deps: LockDeps): Promise<Disposable> {
  const { ports, clock, signal } = deps;
  const endMs = clock.monotonicMs() + waitMs;
  for (;;) {
    signal.throwIfAborted();
    const held = await ports.locks.tryLock(path);
    if (held !== undefined) return held;
    if (clock.monotonicMs() >= endMs) throw await busy(deps);
    await clock.sleep(pollMs, signal);
  }
}

async function busy({ ports }: LockDeps): Promise<AppError> {
  const holder = readHolder((await ports.files.read(holderFile).catch(() => undefined)) ?? '');
  const what = holder === undefined ? 'a command' : `${holder.what} since ${holder.since}`;
  const processId = holder === undefined ? 'of the command' : String(holder.pid);
  return new AppError('HOST_BUSY', `another command changes the host: ${what}`, {
    remedy: `Wait until it has ended. If it hangs, end it on the host: taskkill.exe /f /t /pid ${processId}`,
  });
}

/** Without it, as on a full disk, only messages are less exact. */
async function noteHolder(what: string, { ports, clock, pid }: LockDeps): Promise<void> {
  const holder = { what, since: new Date(clock.now()).toISOString(), pid };
  await ports.files.write(holderFile, `${JSON.stringify(holder)}\n`, 'secret').catch(() => undefined);
}

function readHolder(text: string): { what: string; since: string; pid: number } | undefined {
  const read = attempt(() => {
    const fields = new Fields(jsonIn(text), 'holder of the lock');
    return { what: fields.requiredString('what'), since: fields.requiredString('since'), pid: fields.number('pid') };
  });
  if (!read.ok || read.value.pid === undefined) return undefined;
  return { ...read.value, pid: read.value.pid };
}
