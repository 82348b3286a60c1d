import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { type QueueOptions, WorkQueue } from '#kube/queue/queue.ts';
import type { Key } from '#kube/resource.ts';
import { type ManualClock, manualClock, settle } from './manual-clock.ts';

export const key = (name: string, namespace = ''): Key => ({ name, namespace });

export interface QueueBench {
  clock: ManualClock;
  queue: WorkQueue;
  metrics: MemoryMetrics;
  /** Names that are due, each given back at once. */
  handledNames: () => Promise<string[]>;
}

/** A queue with a manual clock and without jitter. */
export function queueBench(options: Partial<QueueOptions> = {}): QueueBench {
  const clock = manualClock();
  const metrics = new MemoryMetrics();
  const queue = new WorkQueue({ name: 'test', clock, metrics, random: () => 0, ...options });
  return { clock, queue, metrics, handledNames };

  async function handledNames(): Promise<string[]> {
    const names: string[] = [];
    while (queue.depth > 0) {
      const taken = await queue.take();
      if (taken === undefined) break;
      names.push(taken.name);
      queue.done(taken);
    }
    return names;
  }
}

/** The name a worker has got by now, or `waiting`; undefined once the queue is shut down. */
export async function gotBy(taking: Promise<Key | undefined>): Promise<string | undefined> {
  let got: string | undefined = 'waiting';
  void taking.then(taken => (got = taken?.name));
  await settle();
  return got;
}
