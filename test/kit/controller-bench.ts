import { Controller, type ControllerOptions } from '#kube/controller/controller.ts';
import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { done, type Outcome, type Pass, type Reconcile } from '#kube/controller/reconcile.ts';
import type { KubeResource } from '#kube/resource.ts';
import { watching } from '#kube/controller/watches.ts';
import { manualClock, settle } from './manual-clock.ts';
import { MemoryInformer } from './memory-informer.ts';
import { recordedLog } from './recorded-log.ts';

export const thing = (name: string, generation = 1): KubeResource => ({ metadata: { name, generation } });

/** A controller named things with one source and a manual clock. */
export function controllerBench(reconcile: Reconcile, options: Partial<ControllerOptions> = {}) {
  const clock = manualClock();
  const source = new MemoryInformer();
  const metrics = new MemoryMetrics();
  const { log, lines, messages } = recordedLog();
  let ids = 0;
  const controller = new Controller({
    name: 'things',
    watches: [watching({ source })],
    reconcile,
    clock,
    log,
    metrics,
    newId: () => `id-${(ids += 1)}`,
    ...options,
    queue: { random: () => 0, ...options.queue },
  });
  const stop = new AbortController();
  const state = { isReady: false, isOver: false };
  const start = (): Promise<void> => {
    const over = controller.run(stop.signal, () => (state.isReady = true)).finally(() => (state.isOver = true));
    over.catch(() => undefined);
    return over;
  };
  /** Starts with a synced source; the first passes have begun when it returns. */
  const startSynced = async (): Promise<void> => {
    source.sync();
    void start();
    await settle();
  };
  return { clock, source, metrics, lines, messages, controller, stop, state, start, startSynced };
}

/** A reconcile under the test's control: each pass waits until the test releases it. */
export function heldPasses() {
  const running = new Map<string, { resolve: (outcome: Outcome) => void; pass: Pass }>();
  let most = 0;
  const reconcile: Reconcile = ({ name }, pass) =>
    new Promise(resolve => {
      running.set(name, { resolve, pass });
      most = Math.max(most, running.size);
    });
  const release = async (name: string) => {
    running.get(name)?.resolve(done);
    running.delete(name);
    await settle();
  };
  return { reconcile, running, release, most: () => most };
}
