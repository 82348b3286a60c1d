import { instanceAnnotation } from '#contract/names.ts';
import type { HostView } from './host-view.ts';

/** Reboots that the operator ordered. */
export interface RebootsView {
  /** Times of the last day, as recorded. */
  ordered: readonly string[];
  /** As many are allowed in 24 hours. */
  limit: number;
  /** Value of a request that is not carried out yet. */
  requested: string | undefined;
}

/** Of the operator, for each host. */
const limit = 3;
const dayMs = 24 * 3_600_000;

/** Undefined when the host was not rebooted and is not to be. */
export function rebootsOf({ instance }: Pick<HostView, 'instance'>): RebootsView | undefined {
  const { reboots = [], rebootRequest } = instance?.status ?? {};
  const wanted = instance?.metadata.annotations?.[instanceAnnotation.reboot];
  const requested = wanted === undefined || wanted === rebootRequest ? undefined : wanted;
  return reboots.length === 0 && requested === undefined ? undefined : { ordered: reboots, limit, requested };
}

/** The reboots that count at this time. */
export function recentReboots({ ordered }: RebootsView, nowMs: number): number[] {
  return ordered.map(time => Date.parse(time)).filter(ms => Math.abs(nowMs - ms) < dayMs);
}

/** When the next reboot is allowed; undefined when it is allowed now. */
export function nextRebootMs(reboots: RebootsView, nowMs: number): number | undefined {
  const recent = recentReboots(reboots, nowMs).toSorted((one, other) => one - other);
  const oldest = recent.at(-reboots.limit);
  return oldest === undefined ? undefined : oldest + dayMs;
}
