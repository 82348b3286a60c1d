import { maxReboots, openRequest } from '#node/lifecycle/reboot/due.ts';
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

/** Undefined when the host was not rebooted and is not to be. */
export function rebootsOf({ instance }: Pick<HostView, 'instance'>): RebootsView | undefined {
  if (instance === undefined) return undefined;
  const { status = {} } = instance;
  const { reboots: ordered = [] } = status;
  const requested = openRequest(instance, status);
  return ordered.length === 0 && requested === undefined ? undefined : { ordered, limit: maxReboots, requested };
}
