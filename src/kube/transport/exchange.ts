import type { Readable } from 'node:stream';

export interface Request {
  method: string;
  /** Path and query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** The head of a response, and its body as it arrives. The caller must read the body to its end or destroy it. */
export interface Exchange {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
  /** Aborts the exchange on both sides. */
  cancel(): void;
}

/** An HTTP/2 session, or all HTTP/1.1 connections together. */
export interface Channel {
  /** False once it accepts no new exchange. */
  readonly isUsable: boolean;
  /** True once all connections are closed. */
  readonly isClosed: boolean;
  /** How many more exchanges it accepts. */
  readonly free: number;
  /** Resolves with the head of the response; rejects with Interrupted when the connection fails before. */
  open(request: Request, signal: AbortSignal): Promise<Exchange>;
  /** Accepts no new exchange and closes after the last one. */
  retire(): void;
  /** Fails all exchanges; resolves when all connections are closed. */
  destroy(reason: Error): Promise<void>;
}

/** The connection failed before the head of the response. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** Whether the request can be sent again. */
  readonly repeatable: 'always' | 'if idempotent' | 'never';

  constructor(repeatable: Interrupted['repeatable'], cause: unknown) {
    super('the connection was lost before the response', { cause });
    this.repeatable = repeatable;
  }
}
