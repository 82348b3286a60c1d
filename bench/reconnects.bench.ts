import { startCluster } from '../test/kit/cluster/cluster.ts';
import { measureReconnects } from '../test/kit/reconnects.ts';
import type { Report } from './run.ts';

export const description =
  'five informers whose connection is broken again and again: memory, time, handles left [COUNT]';

/** Exit code 1 if the heap grew by 5 MB or more, or on other leaks. */
export async function run(report: Report, [count = '2000']: readonly string[]): Promise<void> {
  await using cluster = await startCluster({ controllerManager: false });
  const figures = await measureReconnects(cluster.kubeconfigText, Number(count));
  report('reconnects', figures.reconnects, 'reconnects');
  report('watches asked for', figures.watches, 'watches');
  report('time per reconnect', (figures.seconds * 1000) / figures.reconnects, 'ms');
  report('heap growth', figures.heapGrowthMegabytes, 'MB');
  report('unhandled rejections', figures.rejections, 'rejections');
  report('handles left after stop', figures.handlesLeft.length, 'handles');
  report('time to exit after stop', figures.exitMs, 'ms');
  if (figures.heapGrowthMegabytes >= 5 || figures.rejections > 0 || figures.handlesLeft.length > 0)
    process.exitCode = 1;
}
