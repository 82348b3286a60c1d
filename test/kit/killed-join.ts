import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { operatorName } from '../../src/contract/names.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { leases } from '../../src/kube/resources.ts';
import { dice } from './mutate.ts';
import type { OperatorProcesses, SpawnedOperator } from './spawned-operator.ts';
import { begunSteps, type KillOrder, stepKey } from './step-lines.ts';

export interface KilledJoin {
  client: Client;
  namespace: string;
  /** How many hosts there will be. */
  hosts: number;
  kills: number;
  /** Decides about the moments. */
  seed: number;
}

export interface Kill {
  /** The last step of each host that the process worked on. */
  steps: string[];
  atMs: number;
  /** Whether the next one had to wait until the Lease of the dead one was over. */
  keepsLease: boolean;
}

/** Steps of a host without a reboot; an estimate is enough, for the rest is counted again after each kill. */
const defaultSteps = 15;
/** How long a process may take from one moment to the next. */
const patienceMs = 120_000;
/** Of so many kills one leaves its Lease; waiting for each of them would take too long. */
const successionEvery = 6;

/**
 * Has hosts joined by operators that are killed one after the other. The moments are spread over the steps of the join
 * that are left, not over time, so that a slow machine meets all of them, too.
 */
export async function joinWithKills(join: KilledJoin, processes: OperatorProcesses): Promise<Kill[]> {
  const roll = dice(join.seed);
  const kills: Kill[] = [];
  const begun = new Set<string>();
  while (kills.length < join.kills) {
    const seen = await instancesOf(join);
    if (isReady(seen, join.hosts)) throw new Error(`all hosts were ready after ${kills.length} kills`);
    const operator = processes.start();
    operator.killAt(nextMoment(seen, join, { kills: kills.length, begun, roll }));
    const how = await endOf(operator);
    const steps = begunSteps(operator.text);
    for (const { key, step } of steps) begun.add(stepKey(key, step));
    const atMs = performance.now();
    // One that could not renew its Lease in time, on a machine with other work, is as good as killed, but does not count.
    const isKilled = how === 'SIGKILL';
    const keepsLease = isKilled && kills.length % successionEvery === 0;
    if (!keepsLease) await forgetLease(join);
    if (isKilled)
      kills.push({ atMs, keepsLease, steps: [...new Map(steps.map(({ key, step }) => [key, step])).values()] });
  }
  processes.keepRunning();
  return kills;
}

/** As an administrator does who knows that its holder is dead. */
async function forgetLease({ client, namespace }: KilledJoin): Promise<void> {
  await client.delete(leases, operatorName, { namespace }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

export async function instancesOf({ client, namespace }: Pick<KilledJoin, 'client' | 'namespace'>) {
  return (await client.list(windowsInstances, { namespace })).items;
}

function isReady(seen: readonly WindowsInstance[], count: number): boolean {
  return seen.length === count && seen.every(({ status }) => status?.phase === 'Ready');
}

/** Anywhere in what is left, at about the same distance from each other. */
function nextMoment(
  seen: readonly WindowsInstance[],
  { hosts, kills }: KilledJoin,
  { kills: done, begun, roll }: { kills: number; begun: ReadonlySet<string>; roll: (below: number) => number },
): KillOrder {
  const known = [...begun];
  const left = seen.map(({ metadata, status }) => {
    const steps = known.filter(key => key.startsWith(stepKey(`${metadata.namespace}/${metadata.name}`, '')));
    return status?.phase === 'Ready' ? 0 : Math.max(1, defaultSteps - steps.length);
  });
  const steps = left.reduce((sum, each) => sum + each, 0) + defaultSteps * (hosts - seen.length);
  // Closer than they could be: more steps begin before a process is dead, and agents go on without any.
  const distance = steps / (kills - done + 1);
  const longestMs = distance < 3 ? 30 : 150;
  return { known, after: 1 + roll(Math.max(1, Math.floor(distance))), delayMs: roll(3) === 0 ? 0 : roll(longestMs) };
}

async function endOf({ ended, text }: SpawnedOperator): Promise<string | number> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not die: ${text.slice(-5000)}`)), patienceMs);
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}
