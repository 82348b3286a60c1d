import { type SafeText, safe } from '../../safe-text.ts';
import type { HostView } from '../view/host-view.ts';
import { countsLine, hostTable, type Layout } from './host-table.ts';
import { problemBlocks } from './problems.ts';

/** Table, counts and problems of all hosts, as long as they are; without headings only the rows. */
export function overview(hosts: readonly HostView[], layout: Layout): SafeText[] {
  const table = hosts.length === 0 ? [] : hostTable(hosts, layout);
  if (layout.hasHeaders === false) return table;
  const problems = problemBlocks(hosts, layout).flat();
  return [...table, countsLine(hosts, layout.paint), ...(problems.length > 0 ? [safe``, ...problems] : [])];
}
