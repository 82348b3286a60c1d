import type { Clock } from '#base/clock.ts';
import { startDeadline } from '#base/waiting/abort.ts';
import type { Client } from '../client.ts';
import { StreamError } from './reflector-failure.ts';
import { prepareObject } from './reflector-objects.ts';
import { type KubeResource, keyOf, keyText, type Resource, type WatchEvent } from '../resource.ts';

/** Selects objects of a resource; all when empty. */
export interface Scope {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface WatchTask<T extends KubeResource> {
  client: Pick<Client, 'watch'>;
  resource: Resource<T>;
  scope: Scope;
  clock: Clock;
  random: () => number;
  /** resourceVersion to continue from; undefined to begin with all objects. */
  position: string | undefined;
  onAll(objects: T[], resourceVersion: string): void;
  onEvent(event: WatchEvent<T>): void;
}

const minWatchSeconds = 300;
/** How much later than agreed a server may end a watch. */
const graceMs = 30_000;
/** Between two initial events; a server without this feature never marks their end. */
const maxInitialSilenceMs = 10_000;
/** A watch that ends sooner counts as failed, to avoid a tight loop. */
const minWatchMs = 1000;
const endOfInitialEvents = 'k8s.io/initial-events-end';

/** One watch; the server ends it after 5 to 10 minutes. Throws for any other end. */
export async function watchOnce<T extends KubeResource>(task: WatchTask<T>, signal: AbortSignal): Promise<void> {
  const startMs = task.clock.monotonicMs();
  const timeoutSeconds = Math.round(minWatchSeconds * (1 + task.random()));
  const allowedMs = timeoutSeconds * 1000 + graceMs;
  let initial = task.position === undefined ? new InitialObjects(task.resource) : undefined;
  const limitMs = initial === undefined ? allowedMs : maxInitialSilenceMs;
  const deadline = startDeadline(task.clock, limitMs, () => new StreamError('overdue'), signal);
  try {
    for await (const event of open(task, timeoutSeconds, deadline.signal)) {
      if (initial === undefined) task.onEvent(event);
      else if (initial.take(event)) deadline.extend(maxInitialSilenceMs);
      else {
        task.onAll([...initial.objects.values()], event.object.metadata.resourceVersion ?? '');
        initial = undefined;
        deadline.extend(allowedMs);
      }
    }
  } catch (error) {
    throw deadline.signal.reason instanceof StreamError ? deadline.signal.reason : error;
  } finally {
    deadline.end();
  }
  if (deadline.signal.reason instanceof StreamError) throw deadline.signal.reason;
  if (initial !== undefined || task.clock.monotonicMs() - startMs < minWatchMs) throw new StreamError('short');
}

function open<T extends KubeResource>(task: WatchTask<T>, timeoutSeconds: number, signal: AbortSignal) {
  const from = task.position === undefined ? { sendInitialEvents: true } : { resourceVersion: task.position };
  return task.client.watch(task.resource, {
    ...task.scope,
    ...from,
    timeoutSeconds,
    allowWatchBookmarks: true,
    signal,
  });
}

/** The initial objects of a watch, up to the bookmark that marks their end. */
class InitialObjects<T extends KubeResource> {
  readonly objects = new Map<string, T>();
  readonly #resource: Resource<T>;

  constructor(resource: Resource<T>) {
    this.#resource = resource;
  }

  /** False at the end of the initial objects. */
  take({ type, object }: WatchEvent<T>): boolean {
    if (type === 'BOOKMARK') {
      if (object.metadata?.annotations?.[endOfInitialEvents] === 'true') return false;
      // An ordinary bookmark: the server does not support initial events.
      throw new StreamError('unmarked');
    }
    const admitted = prepareObject(this.#resource, object);
    if (admitted === undefined) return true;
    if (type === 'DELETED') this.objects.delete(keyText(keyOf(admitted)));
    else this.objects.set(keyText(keyOf(admitted)), admitted);
    return true;
  }
}
