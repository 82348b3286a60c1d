import type { Clock } from '#base/clock.ts';
import { shown } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import { errorOfEvent } from './answer.ts';
import type { KubeResource, WatchEvent } from '../resource.ts';
import { readChunks } from '../transport/body.ts';
import { startDeadline } from '#base/waiting/abort.ts';
import type { Exchange } from '../transport/exchange.ts';
import { broken, invalidAnswer, tooLate } from '../transport/failures.ts';
import { JsonLines } from '../transport/json-lines.ts';

export interface WatchRequest {
  name: string;
  open: () => Promise<Exchange>;
  clock: Clock;
  maxLineBytes: number;
  signal: AbortSignal | undefined;
  timeoutSeconds: number | undefined;
}

/** How much later than timeoutSeconds a server may end a stream. */
const graceMs = 30_000;

/** Yields events until the server ends the stream; a reader that stops ends it too. */
export async function* watchEvents<T extends KubeResource>(request: WatchRequest): AsyncGenerator<WatchEvent<T>> {
  const { name, clock, timeoutSeconds, signal } = request;
  const exchange = await request.open();
  const limitMs = timeoutSeconds === undefined ? Number.POSITIVE_INFINITY : timeoutSeconds * 1000 + graceMs;
  const deadline = startDeadline(clock, limitMs, () => tooLate(name, limitMs), signal);
  const lines = new JsonLines(name, request.maxLineBytes);
  try {
    for await (const chunk of readChunks(exchange, { name, signal: deadline.signal })) {
      for (const line of lines.push(chunk)) yield eventOf<T>(line, name);
    }
    if (lines.isPartial) throw broken(name, new Error('the stream ended within an event'));
  } finally {
    deadline.end();
  }
}

function eventOf<T extends KubeResource>(line: unknown, name: string): WatchEvent<T> {
  if (!isRecord(line) || !isRecord(line.object)) throw invalidAnswer(name, 'a line is not an event');
  const { type, object } = line;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return { type, object: withoutManagedFields(object as unknown as T) };
    case 'ERROR':
      throw errorOfEvent(object, name);
    default:
      throw invalidAnswer(name, `${shown(type)} is not an event type`);
  }
}

/** As in lists, so that objects of both are the same. */
function withoutManagedFields<T extends KubeResource>(object: T): T {
  delete (object.metadata as { managedFields?: unknown } | undefined)?.managedFields;
  return object;
}
