import { request } from 'node:https';
import type { Clock } from '#base/clock.ts';
import type { InventoryProbe } from '#contract/inventory.ts';

const limitMs = 10_000;

/**
 * Checks that the host can reach the API server. Its certificate is not verified, because the host may not have the CA yet;
 * no credential is sent.
 */
export async function probeServer(url: string, clock: Clock, signal: AbortSignal): Promise<InventoryProbe> {
  try {
    const date = await dateOf(new URL('/version', url), AbortSignal.any([signal, AbortSignal.timeout(limitMs)]));
    const serverMs = Date.parse(date ?? '');
    return Number.isNaN(serverMs) ? { url } : { url, clockAheadMs: Math.round(clock.now() - serverMs) };
  } catch (error) {
    signal.throwIfAborted();
    return { url, problem: reasonOf(error) };
  }
}

function dateOf(url: URL, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(url, { signal, agent: false, rejectUnauthorized: false }, answer => {
      answer.resume();
      resolve(answer.headers.date);
      answer.once('close', () => call.destroy());
    });
    call.once('error', reject);
    call.end();
  });
}

function reasonOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  const isLate = name === 'AbortError' || name === 'TimeoutError';
  return isLate ? `no answer within ${limitMs / 1000} s` : message || name;
}
