import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { WorkQueue } from '#kube/queue/queue.ts';
import { type Key, keyText } from '#kube/resource.ts';
import type { Change, Controller, LocalApi } from '../ports.ts';
import { StatusError } from '../status.ts';

/** What a controller does: which keys a change concerns, and what to do about one. */
export interface Work {
  name: string;
  /** Called once at the start, for what is there already. */
  begin(api: LocalApi): Iterable<Key>;
  affected(change: Change, api: LocalApi): Iterable<Key>;
  /** Looks at the world and fixes it. Returns the milliseconds after which to look again, if that is needed. */
  reconcile(key: Key, api: LocalApi): number | undefined;
}

/** Runs the work one key at a time; a key that fails is tried again, later each time. */
export function createController(work: Work, log: Log = silentLog): Controller {
  let end: (() => void) | undefined;
  return {
    start(api) {
      const queue = new WorkQueue({ name: work.name, clock: api.clock, maxRetryMs: 30_000 });
      const add = (keys: Iterable<Key>) => {
        for (const key of keys) queue.add(key, 'always');
      };
      const unsubscribe = api.onChange(change => {
        try {
          add(work.affected(change, api));
        } catch (error) {
          // Other listeners must hear of the change all the same.
          log.error('A controller could not tell what a change concerns', { controller: work.name, error });
        }
      });
      add(work.begin(api));
      void run(work, { queue, api, log });
      end = () => {
        unsubscribe();
        void queue.shutDown('drop');
      };
    },
    stop() {
      end?.();
      end = undefined;
    },
  };
}

async function run(work: Work, { queue, api, log }: { queue: WorkQueue; api: LocalApi; log: Log }): Promise<void> {
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    try {
      const againMs = work.reconcile(key, api);
      queue.forget(key);
      if (againMs !== undefined) queue.addAfter(key, againMs);
    } catch (error) {
      report(log, work.name, key, error);
      queue.retry(key);
    } finally {
      queue.done(key);
    }
  }
}

/** Refusals and objects that make no sense happen in every cluster; anything else is a defect of ours. */
function report(log: Log, controller: string, key: Key, error: unknown): void {
  const fields = { controller, key: keyText(key), error };
  if (error instanceof StatusError || error instanceof AppError)
    log.debug('A controller was refused and will try again', fields);
  else log.error('A controller failed and will try again', fields);
}
