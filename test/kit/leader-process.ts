import { setTimeout as delay } from 'node:timers/promises';
import { isConflict } from '../../src/kube/api-error.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { LeaseLeadership } from '../../src/kube/leader/lease.ts';
import { configMaps } from '../../src/kube/resources.ts';

/** A candidate in its own process. While it leads it increments an object that only the leader writes. */
export interface CandidateConfig {
  kubeconfig: string;
  namespace: string;
  identity: string;
  leaseDurationMs: number;
  renewDeadlineMs: number;
  retryPeriodMs: number;
}

/** Times are those of the machine's monotonic clock, the same for all processes. */
export type CandidateMessage =
  | { is: 'candidate' }
  | { is: 'leader'; atMs: number; transitions: number }
  | { is: 'wrote'; atMs: number; count: number }
  | { is: 'refused'; atMs: number; count: number }
  | { is: 'lost'; atMs: number; why: string };

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const send = (news: CandidateMessage): void => void process.send?.(news);

async function stand({ kubeconfig, namespace, ...times }: CandidateConfig): Promise<void> {
  const client = createClient(loadKubeconfig(kubeconfig));
  const leadership = new LeaseLeadership({ client, namespace, name: 'leader', ...times });
  send({ is: 'candidate' });
  const lost = (why: Error): void => {
    process.send?.({ is: 'lost', atMs: nowMs(), why: why.message } satisfies CandidateMessage, () => process.exit(2));
  };
  await leadership.acquire(lost, new AbortController().signal);
  send({ is: 'leader', atMs: nowMs(), transitions: leadership.transitions ?? -1 });
  let counter = await client.get(configMaps, 'counter', { namespace });
  while (leadership.isHeld()) {
    const count = Number(counter.data?.['count'] ?? 0) + 1;
    // The time it was sent: a process that is stopped while the answer travels gets the answer much later.
    const atMs = nowMs();
    try {
      // Over the version of our own last write: another leader would have made another one.
      counter = await client.replace(configMaps, { ...counter, data: { count: String(count), by: times.identity } });
      send({ is: 'wrote', atMs, count });
    } catch (error) {
      send({ is: 'refused', atMs, count });
      if (isConflict(error)) return;
    }
    await delay(20);
  }
}

process.once('message', message => void stand(message as CandidateConfig));
// It must end with its parent.
process.once('disconnect', () => process.exit(0));
