import type { Clock } from '#base/clock.ts';
import { trimEndOf } from '#base/trim-end.ts';
import { errorFrom } from './answer.ts';
import type { ApiError } from '../api-error.ts';
import { readInto, readText } from '../transport/body.ts';
import type { Connection, Credential } from '../transport/connection.ts';
import { startDeadline } from '#base/waiting/abort.ts';
import type { Exchange, Request } from '../transport/exchange.ts';
import { requestName, tooLate } from '../transport/failures.ts';
import type { Transport } from '../transport/transport.ts';

export interface Call {
  method: string;
  /** Path and query, without the path prefix of the server. */
  path: string;
  body?: unknown;
  contentType?: string | undefined;
  /** Default: JSON. */
  accept?: string;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
}

export interface CallerOptions {
  clock: Clock;
  timeoutMs: number;
  /** How often a request is retried when the server is busy. */
  maxRetries: number;
  userAgent: string;
}

interface Attempt {
  call: Call;
  name: string;
  signal: AbortSignal;
  /** Waits as long as the server asks for; that time does not count. */
  wait: (ms: number) => Promise<void>;
}

const maxErrorBytes = 1_048_576;
/** Of all retries of a call together. The error of a server that asks for a longer wait explains more than a timeout. */
const maxWaitMs = 90_000;

/** Sends calls with credentials, deadlines and retries, and turns error responses into ApiErrors. */
export class Caller {
  readonly #connection: Connection;
  readonly #transport: Transport;
  readonly #options: CallerOptions;

  constructor(connection: Connection, transport: Transport, options: CallerOptions) {
    this.#connection = connection;
    this.#transport = transport;
    this.#options = options;
  }

  text(call: Call): Promise<{ text: string; contentType: string }> {
    return this.#within(call, async attempt => {
      const exchange = await this.#accepted(attempt);
      const text = await readText(exchange, attempt);
      return { text, contentType: String(exchange.headers['content-type'] ?? '') };
    });
  }

  /** Resolves with the head of the response. The deadline does not include the body. */
  open(call: Call): Promise<Exchange> {
    return this.#within(call, attempt => this.#accepted(attempt));
  }

  /** Reads the body of an opened response within the deadline of the call. */
  read(exchange: Exchange, call: Call, take: (chunk: Buffer) => void): Promise<void> {
    return this.#within(call, attempt => readInto(exchange, attempt, take));
  }

  async #within<T>(call: Call, run: (attempt: Attempt) => Promise<T>): Promise<T> {
    const { clock, timeoutMs: defaultMs } = this.#options;
    const timeoutMs = call.timeoutMs ?? defaultMs;
    const name = requestName(call.method, call.path);
    const deadline = startDeadline(clock, timeoutMs, () => tooLate(name, timeoutMs), call.signal);
    let endsAtMs = clock.monotonicMs() + timeoutMs;
    const wait = async (ms: number) => {
      endsAtMs += ms;
      deadline.extend(endsAtMs - clock.monotonicMs());
      await clock.sleep(ms, deadline.signal);
    };
    try {
      return await run({ call, name, signal: deadline.signal, wait });
    } finally {
      deadline.end();
    }
  }

  async #accepted({ call, name, signal, wait }: Attempt): Promise<Exchange> {
    const { maxRetries } = this.#options;
    const { identity } = this.#connection;
    let renewed = false;
    for (let retries = 0, waitedMs = 0; ; ) {
      const credential = await identity.current(signal);
      const exchange = await this.#transport.send(this.#request(call, credential), credential, signal);
      if (exchange.status < 400) return exchange;
      const error = await refusal(exchange, name, signal);
      if (error.code === 401 && !renewed) {
        renewed = true;
        if (await identity.renew(credential, signal)) continue;
      }
      const waitMs = retryWaitMs(error);
      if (waitMs === undefined || retries === (call.maxRetries ?? maxRetries)) throw error;
      retries += 1;
      waitedMs += waitMs;
      if (waitedMs > maxWaitMs) throw error;
      await wait(waitMs);
    }
  }

  #request(call: Call, { authorization }: Credential): Request {
    const { userAgent } = this.#options;
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const prefix = trimEndOf(new URL(this.#connection.server).pathname, '/');
    return {
      method: call.method,
      path: `${prefix}${call.path}`,
      headers: {
        accept: call.accept ?? 'application/json',
        'user-agent': userAgent,
        ...(body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
        ...(authorization === undefined ? {} : { authorization: authorization.reveal() }),
      },
      ...(body === undefined ? {} : { body }),
    };
  }
}

async function refusal(exchange: Exchange, name: string, signal: AbortSignal): Promise<ApiError> {
  const retryAfter = Number(exchange.headers['retry-after'] ?? Number.NaN);
  const text = await readText(exchange, { name, signal, maxBytes: maxErrorBytes });
  return errorFrom(exchange.status, text, Number.isFinite(retryAfter) ? retryAfter : undefined, name);
}

/** Only requests that the server did not process, and only with Retry-After. */
function retryWaitMs({ code, details }: ApiError): number | undefined {
  const { retryAfterSeconds = 0 } = details;
  return (code === 429 || code === 503) && retryAfterSeconds > 0 ? retryAfterSeconds * 1000 : undefined;
}
