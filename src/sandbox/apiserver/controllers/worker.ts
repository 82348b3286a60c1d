import { AppError } from '#base/errors.ts';
import { type Log, silentLog } from '#base/log.ts';
import { WorkQueue } from '#kube/queue/queue.ts';
import { type Key, keyOf, keyText, type Resource } from '#kube/resource.ts';
import { isKind } from '../auth/is-kind.ts';
import type { Change, Controller, LocalApi } from '../ports.ts';
import { StatusError } from '../status.ts';

/** Which keys a change concerns, and what to do about each of them. */
export interface Work {
  name: string;
  /** The kind that the controller reconciles: every object at the start, and each one that changes. */
  resource?: Resource;
  /** Further keys at the start. */
  begin?(api: LocalApi): Iterable<Key>;
  /** Keys for changes of other kinds. */
  affected?(change: Change, api: LocalApi): Iterable<Key>;
  /** Returns the milliseconds after which to reconcile again, if needed. */
  reconcile(key: Key, api: LocalApi): number | void;
}

/** Reconciles one key at a time; a key that fails is retried with backoff. */
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
          add(affectedBy(work, change, api));
        } catch (error) {
          // Other listeners must get the change all the same.
          log.error('Controller failed to map a change to keys', { controller: work.name, error });
        }
      });
      add(work.resource === undefined ? [] : api.list(work.resource).map(keyOf));
      add(work.begin?.(api) ?? []);
      void run(work, { queue, api, log });
      end = () => {
        unsubscribe();
        void queue.shutDown();
      };
    },
    stop() {
      end?.();
      end = undefined;
    },
  };
}

function affectedBy(work: Work, change: Change, api: LocalApi): Iterable<Key> {
  if (work.resource !== undefined && isKind(change.resource, work.resource)) return [keyOf(change.object)];
  return work.affected?.(change, api) ?? [];
}

async function run(work: Work, { queue, api, log }: { queue: WorkQueue; api: LocalApi; log: Log }): Promise<void> {
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    try {
      const againMs = work.reconcile(key, api);
      queue.forget(key);
      if (typeof againMs === 'number') queue.addAfter(key, againMs);
    } catch (error) {
      report(log, work.name, key, error);
      queue.retry(key);
    } finally {
      queue.done(key);
    }
  }
}

/** Rejected writes and malformed objects happen in every cluster; anything else is a bug. */
function report(log: Log, controller: string, key: Key, error: unknown): void {
  const fields = { controller, key: keyText(key), error };
  if (error instanceof StatusError || error instanceof AppError) log.debug('Write rejected; retrying', fields);
  else log.error('Controller failed; retrying', fields);
}
