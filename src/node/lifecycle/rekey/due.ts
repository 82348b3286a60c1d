import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';

const shortestMs = 30_000;
const longestMs = 300_000;

/**
 * How long until a host that rejected this key is asked again: soon after the rotation, then every five minutes. Undefined when it is due:
 * for another key, or when an administrator wants it.
 */
export function rekeyDelayMs({ metadata, status }: WindowsInstance, hash: string, nowMs: number): number | undefined {
  const { pending } = status?.key ?? {};
  if (pending?.hash !== hash || pending.retry !== metadata.annotations?.[instanceAnnotation.retry]) return undefined;
  const [sinceMs, triedMs] = [Date.parse(pending.since), Date.parse(pending.tried)];
  const pauseMs = Math.min(longestMs, Math.max(shortestMs, (triedMs - sinceMs) / 2));
  const leftMs = triedMs + pauseMs - nowMs;
  // A clock that was set back must not stop it.
  return leftMs > 0 && leftMs <= pauseMs ? leftMs : undefined;
}
