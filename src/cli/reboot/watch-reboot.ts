import type { Clock } from '#base/clock.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { SafeText } from '../safe-text.ts';
import type { WatchedCluster } from '../status/cluster-reader.ts';
import { follow } from '../status/screen/follow.ts';
import { JourneyLines } from '../status/screen/journey-lines.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import type { HostView } from '../status/view/host-view.ts';

export type RebootEnd = 'rebooted' | 'replaced' | 'gone' | 'timed out' | 'stopped';

/** The request: the UID of an instance, and the value of its annotation. */
export interface RebootRequest {
  uid: string | undefined;
  value: string;
}

export interface WatchRebootDeps {
  cluster: Pick<WatchedCluster, 'view' | 'onChange'>;
  print: (line: SafeText) => void;
  clock: Clock;
  signal: AbortSignal;
  timeoutMs: number;
}

/** Prints each step until the request is carried out and the Node is Ready. */
export async function watchReboot(request: RebootRequest, deps: WatchRebootDeps): Promise<RebootEnd> {
  const { cluster, print, clock, signal, timeoutMs } = deps;
  const lines = new JourneyLines('reboot');
  const startMs = clock.monotonicMs();
  let end: RebootEnd = 'stopped';
  const refresh = () => {
    const host = hostViews(cluster.view()).find(({ instance }) => instance?.metadata.uid === request.uid);
    if (host !== undefined) lines.next(host, clock.now()).forEach(print);
    const isOver = clock.monotonicMs() - startMs > timeoutMs;
    end = endOf(host, request) ?? (isOver ? 'timed out' : 'stopped');
    return end === 'stopped' ? 'continue' : 'stop';
  };
  await follow(refresh, { onChange: cluster.onChange, clock, signal });
  return end;
}

/** Undefined while it is not at its end. */
function endOf(host: HostView | undefined, { value }: RebootRequest): RebootEnd | undefined {
  if (host?.instance === undefined) return 'gone';
  const { metadata, status = {} } = host.instance;
  if (status.rebootRequest !== value) {
    return metadata.annotations?.[instanceAnnotation.reboot] === value ? undefined : 'replaced';
  }
  const isRunning = status.journey?.name === 'reboot' || status.phase !== 'Ready';
  return isRunning || host.node?.ready !== true ? undefined : 'rebooted';
}
