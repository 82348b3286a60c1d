import { type HostView, rowKey } from '../view/host-view.ts';

/** Removes what was printed about rows that do not exist any more, and returns it. */
export function takeGone<T>(printed: Map<string, T>, hosts: readonly HostView[]): T[] {
  const present = new Set(hosts.map(rowKey));
  const gone = [...printed].filter(([key]) => !present.has(key));
  for (const [key] of gone) printed.delete(key);
  return gone.map(([, value]) => value);
}
