import type { RolloutGrants, UnavailableTime } from '#contract/rollout-grants.ts';

/**
 * Nodes that are out of service, but not by the operator, keep others waiting for an hour in 24 at most: one that is dead, lies or was
 * forgotten must not stop the fleet. Only time during which a host waits is counted.
 */
export const unavailableLimitMs = 3_600_000;
/** Time without a charge after which a node counts again. */
const forgetMs = 24 * 3_600_000;

type Times = RolloutGrants['unavailable'];

/** True while the node has used up its hour. */
export function hasUsedItsHour(node: string, times: Times, nowMs: number): boolean {
  const time = times.get(node);
  return time !== undefined && !isForgotten(time, nowMs) && time.ms >= unavailableLimitMs;
}

/** Charges these nodes for the time during which they kept a host waiting; drops what is older than a day. */
export function chargeNodes(times: Times, nodes: Iterable<string>, elapsedMs: number, nowMs: number): Times {
  const charged = new Map([...times].filter(([, time]) => !isForgotten(time, nowMs)));
  if (elapsedMs <= 0) return charged;
  for (const node of nodes) {
    const ms = (charged.get(node)?.ms ?? 0) + elapsedMs;
    charged.set(node, { ms: Math.min(ms, unavailableLimitMs), lastMs: nowMs });
  }
  return charged;
}

/** The clock can have been set back since. */
function isForgotten({ lastMs }: UnavailableTime, nowMs: number): boolean {
  return Math.abs(nowMs - lastMs) >= forgetMs;
}
