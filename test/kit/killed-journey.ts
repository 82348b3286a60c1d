import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { operatorName } from '../../src/contract/names.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { leases } from '../../src/kube/resources.ts';
import { dice } from './mutate.ts';
import type { OperatorProcesses, SpawnedOperator } from './spawned-operator.ts';
import { begunSteps, type KillOrder, stepKey } from './step-lines.ts';

/** A journey of many hosts, and how often the operator is killed meanwhile. */
export interface KilledJourney {
  client: Client;
  namespace: string;
  /** How many hosts take part. */
  hosts: number;
  kills: number;
  journey?: 'join' | 'removal' | 'upgrade';
  /** Of an upgrade. */
  version?: string;
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

/**
 * Steps of a host without a reboot; an estimate is enough, for the rest is counted again after each kill. Rather too low: on a
 * fast machine agents confirm a version while no operator runs, and then no step waits for them.
 */
const defaultSteps = { join: 15, removal: 11, upgrade: 13 } as const;
/** How long a process may take from one moment to the next. */
const patienceMs = 120_000;
/** Of so many kills one leaves its Lease; waiting for each of them would take too long. */
const successionEvery = 6;

/**
 * Has hosts joined or removed by operators that are killed one after the other. The moments are spread over the steps
 * that are left, not over time, so that a slow machine meets all of them, too.
 */
export async function killOperators(order: KilledJourney, processes: OperatorProcesses): Promise<Kill[]> {
  const roll = dice(order.seed);
  const kills: Kill[] = [];
  const begun = new Set<string>();
  while (kills.length < order.kills) {
    const seen = await instancesOf(order);
    if (isOver(seen, order)) throw new Error(`all hosts were ready after ${kills.length} kills`);
    const operator = processes.start();
    operator.killAt(nextMoment(seen, order, { kills: kills.length, begun, roll }));
    const how = await endOf(operator);
    const steps = begunSteps(operator.text);
    for (const { key, step } of steps) begun.add(stepKey(key, step));
    const atMs = performance.now();
    // One that could not renew its Lease in time, on a machine with other work, is as good as killed, but does not count.
    const isKilled = how === 'SIGKILL';
    const keepsLease = isKilled && kills.length % successionEvery === 0;
    if (!keepsLease) await forgetLease(order);
    if (isKilled)
      kills.push({ atMs, keepsLease, steps: [...new Map(steps.map(({ key, step }) => [key, step])).values()] });
  }
  processes.keepRunning();
  return kills;
}

/** As an administrator does who knows that its holder is dead. */
async function forgetLease({ client, namespace }: KilledJourney): Promise<void> {
  await client.delete(leases, operatorName, { namespace }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

export async function instancesOf({ client, namespace }: Pick<KilledJourney, 'client' | 'namespace'>) {
  return (await client.list(windowsInstances, { namespace })).items;
}

function isOver(seen: readonly WindowsInstance[], order: KilledJourney): boolean {
  return seen.length === order.hosts && seen.every(each => isDone(each, order));
}

function isDone({ status }: WindowsInstance, { journey = 'join', version }: KilledJourney): boolean {
  if (journey === 'removal') return false;
  return status?.phase === 'Ready' && (journey === 'join' || status.version === version);
}

/** Anywhere in what is left, at about the same distance from each other. */
function nextMoment(
  seen: readonly WindowsInstance[],
  order: KilledJourney,
  { kills: done, begun, roll }: { kills: number; begun: ReadonlySet<string>; roll: (below: number) => number },
): KillOrder {
  const { hosts, kills, journey = 'join' } = order;
  const known = [...begun];
  const left = seen.map(instance => {
    const { metadata } = instance;
    const steps = known.filter(key => key.startsWith(stepKey(`${metadata.namespace}/${metadata.name}`, '')));
    const leastSteps = journey === 'removal' ? 0 : 1;
    return isDone(instance, order) ? 0 : Math.max(leastSteps, defaultSteps[journey] - steps.length);
  });
  // A host without an instance has not begun its join, or is removed.
  const missing = journey === 'join' ? defaultSteps.join * (hosts - seen.length) : 0;
  const steps = left.reduce((sum, each) => sum + each, missing);
  // Closer than they could be: more steps begin before a process is dead, and agents go on without any.
  const distance = steps / (kills - done + 1);
  const longestMs = distance < 3 ? 30 : 150;
  // Without further steps it dies soon after its start.
  const after = steps === 0 ? 0 : 1 + roll(Math.max(1, Math.floor(distance)));
  return { known, after, delayMs: roll(3) === 0 ? 0 : roll(longestMs) };
}

async function endOf(operator: SpawnedOperator): Promise<string | number> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not die: ${operator.text.slice(-5000)}`)), patienceMs);
  try {
    return await Promise.race([operator.ended, late]);
  } finally {
    clearTimeout(timer);
  }
}
