import { oneLine, type SafeText, safe } from '../../safe-text.ts';
import type { HostView } from '../view/host-view.ts';
import { countsLine, hostTable, type Layout } from './host-table.ts';
import { problemBlocks } from './problems.ts';

interface FrameLayout extends Layout {
  /** Height of the terminal. */
  rows: number;
  /** Runs this program when pasted into a shell. */
  command: string;
  /** Lines above the table; they take at most a third of the terminal. */
  above?: readonly SafeText[];
}

/** Hosts that are shown however small the terminal is. */
const minHosts = 3;

/**
 * Lines above, table, counts, problems and further lines, never higher than the terminal. The first problem is shown in full before
 * further hosts: its remedy is what the user needs.
 */
export function frame(hosts: readonly HostView[], more: readonly SafeText[], layout: FrameLayout): SafeText[] {
  const blocks = problemBlocks(mostUrgent(hosts, hosts.length), { ...layout, wrapsCommands: true });
  const below = more.length === 0 ? [] : [empty, ...more];
  // One line for the cursor, the heading and the counts each.
  const left = Math.max(0, layout.rows - 3 - below.length - minHosts);
  const above = (layout.above ?? []).slice(0, Math.min(left, Math.floor(layout.rows / 3)));
  const room = Math.max(minHosts, layout.rows - 3 - below.length - above.length);
  const [first = []] = blocks;
  const needed = blocks.length === 0 ? 0 : first.length + (blocks.length > 1 ? 2 : 1);
  const forHosts = Math.max(minHosts, room - needed);
  const isCut = hosts.length > forHosts;
  const visible = isCut ? inOrder(hosts, mostUrgent(hosts, forHosts - 1)) : hosts;
  const hidden = hosts.length - visible.length;
  const table = [...hostTable(visible, layout), ...(hidden > 0 ? [safe`… and ${hidden} more`] : [])];
  const used = visible.length + (hidden > 0 ? 1 : 0);
  const problems = problemsIn(room - used, blocks, layout.command);
  return [...above, ...table, countsLine(hosts, layout.paint), ...problems, ...below];
}

const empty = safe``;

/** As many problems as fit, after an empty line. */
function problemsIn(room: number, blocks: readonly SafeText[][], command: string): SafeText[] {
  const all = blocks.flat();
  if (all.length === 0 || room < 2) return [];
  if (all.length + 1 <= room) return [empty, ...all];
  const shown: SafeText[] = [];
  let count = 0;
  for (const block of blocks) {
    // One line says how many are not shown.
    if (shown.length + block.length + 2 > room) break;
    shown.push(...block);
    count += 1;
  }
  if (count === 0) return [empty, ...all.slice(0, room - 2), safe`… the rest: \`${oneLine(command)} status\``];
  return [empty, ...shown, safe`… ${blocks.length - count} more: \`${oneLine(command)} status\` prints them`];
}

const urgency: Readonly<Record<HostView['tone'], number>> = { bad: 0, slow: 1, busy: 2, idle: 3, good: 4 };

function mostUrgent(hosts: readonly HostView[], count: number): HostView[] {
  return hosts.toSorted((a, b) => urgency[a.tone] - urgency[b.tone]).slice(0, count);
}

function inOrder(hosts: readonly HostView[], chosen: readonly HostView[]): HostView[] {
  const set = new Set(chosen);
  return hosts.filter(host => set.has(host));
}
