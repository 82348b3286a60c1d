import { setTimeout as delay } from 'node:timers/promises';
import { isConflict } from '../../src/kube/api-error.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { LeaseLeadership } from '../../src/kube/leader/lease.ts';
import { configMaps } from '../../src/kube/resources.ts';

/** A candidate as a process of its own. While it leads it counts up an object that nobody else may write to. */
export interface CandidateConfig {
  kubeconfig: string;
  namespace: string;
  identity: string;
  leaseDurationMs: number;
  renewDeadlineMs: number;
  retryPeriodMs: number;
}

/** Times are those of the machine's monotonic clock, the same for all processes. */
export type CandidateNews =
  | { is: 'candidate' }
  | { is: 'leader'; atMs: number; transitions: number }
  | { is: 'wrote'; atMs: number; count: number }
  | { is: 'refused'; atMs: number; count: number }
  | { is: 'lost'; atMs: number; why: string };

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const tell = (news: CandidateNews): void => void process.send?.(news);

async function stand({ kubeconfig, namespace, ...times }: CandidateConfig): Promise<void> {
  const client = createClient(loadKubeconfig(kubeconfig));
  const leadership = new LeaseLeadership({ client, namespace, name: 'leader', ...times });
  tell({ is: 'candidate' });
  const lost = (why: Error): void => {
    process.send?.({ is: 'lost', atMs: nowMs(), why: why.message } satisfies CandidateNews, () => process.exit(2));
  };
  await leadership.acquire(lost, new AbortController().signal);
  tell({ is: 'leader', atMs: nowMs(), transitions: leadership.transitions ?? -1 });
  let counter = await client.get(configMaps, 'counter', { namespace });
  while (leadership.isHeld()) {
    const count = Number(counter.data?.['count'] ?? 0) + 1;
    // The time it was sent: a process that is stopped while the answer travels hears of its own write much later.
    const atMs = nowMs();
    try {
      // Over the version of our own last write: another leader would have made another one.
      counter = await client.replace(configMaps, { ...counter, data: { count: String(count), by: times.identity } });
      tell({ is: 'wrote', atMs, count });
    } catch (error) {
      tell({ is: 'refused', atMs, count });
      if (isConflict(error)) return;
    }
    await delay(20);
  }
}

process.once('message', message => void stand(message as CandidateConfig));
// Without its parent nobody would end it.
process.once('disconnect', () => process.exit(0));
