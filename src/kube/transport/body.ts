import type { Exchange } from './exchange.ts';
import { broken, invalidAnswer } from './failures.ts';

/** Strings cannot be longer than 512 MiB. */
const maxBodyBytes = 400 * 1024 * 1024;

export interface ReadOptions {
  /** Name of the request, for messages. */
  name: string;
  signal: AbortSignal;
  maxBytes?: number;
}

export async function readText(exchange: Exchange, options: ReadOptions): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const { name, maxBytes = maxBodyBytes } = options;
  await readInto(exchange, options, chunk => {
    length += chunk.length;
    if (length > maxBytes) throw invalidAnswer(name, `the response is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  });
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only.toString() : Buffer.concat(chunks, length).toString();
}

/** Passes on all chunks; faster than iterating. */
export function readInto(
  exchange: Exchange,
  { name, signal }: ReadOptions,
  take: (chunk: Buffer) => void,
): Promise<void> {
  const { body } = exchange;
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      signal.removeEventListener('abort', abort);
      body
        .off('data', data)
        .off('end', end)
        .off('close', close)
        .on('error', () => undefined)
        .off('error', fail);
      if (error === undefined) return resolve();
      exchange.cancel();
      reject(error);
    };
    const data = (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        settle(error);
      }
    };
    const fail = (error: unknown) => settle(broken(name, error));
    const end = () => (isTruncated(exchange) ? close() : settle());
    const close = () => settle(broken(name, new Error('the response ended too early')));
    const abort = () => settle(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    body.on('data', data).once('end', end).once('error', fail).once('close', close);
  });
}

/** Yields chunks as they arrive; cancels the exchange when the reader stops or the signal is aborted. */
export async function* readChunks(exchange: Exchange, { name, signal }: ReadOptions): AsyncGenerator<Buffer> {
  const { body } = exchange;
  const abort = () => {
    exchange.cancel();
    body.destroy();
  };
  signal.addEventListener('abort', abort, { once: true });
  let isWhole = false;
  try {
    signal.throwIfAborted();
    for await (const chunk of body) yield chunk as Buffer;
    if (isTruncated(exchange)) throw new Error('the response ended too early');
    isWhole = true;
  } catch (error) {
    throw signal.aborted ? signal.reason : broken(name, error);
  } finally {
    signal.removeEventListener('abort', abort);
    if (!isWhole) exchange.cancel();
  }
}

/** A reset may end the stream without an error; its code shows it. */
function isTruncated({ body }: Exchange): boolean {
  const { rstCode } = body as { rstCode?: number };
  return rstCode !== undefined && rstCode !== 0;
}
