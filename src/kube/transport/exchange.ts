import type { Readable } from 'node:stream';

export interface Request {
  method: string;
  /** Path and query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** The head of an answer, and its body as it arrives. Whoever takes it must read the body to its end or destroy it. */
export interface Exchange {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
  /** Ends the exchange before its end, telling the server. */
  cancel(): void;
}

/** One way to the server: an HTTP/2 session, or the connections of HTTP/1.1 taken together. */
export interface Channel {
  /** False once it takes no new exchange: closed, broken, or told so by the server. */
  readonly isUsable: boolean;
  /** True once nothing of it is left: no connection, no exchange under way. */
  readonly isClosed: boolean;
  /** How many more exchanges it takes. */
  readonly free: number;
  /** Resolves with the head of the answer; rejects with an Interrupted when there is none. */
  open(request: Request, signal: AbortSignal): Promise<Exchange>;
  /** Takes no new exchange and closes when the last one has ended. */
  retire(): void;
  /** Ends at once, failing what is under way; resolves when nothing of it is left open. */
  destroy(reason: Error): Promise<void>;
}

/** The connection failed before the head of an answer. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** Whether the request may be sent again: never seen by the server, or harmless and lost with an old connection. */
  readonly repeatable: 'always' | 'if idempotent' | 'never';

  constructor(repeatable: Interrupted['repeatable'], cause: unknown) {
    super('the connection broke before the answer', { cause });
    this.repeatable = repeatable;
  }
}
