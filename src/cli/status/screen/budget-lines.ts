import { configMapName } from '#contract/names.ts';
import { shellWord } from '../../shell-quote.ts';
import { oneLine, type SafeText, safe } from '../../safe-text.ts';
import { budgetOf, removedHostsOf } from '../view/budget.ts';
import type { ClusterView, HostView } from '../view/host-view.ts';

/**
 * The disruption budget while a host holds it or waits for it, and the hosts that were removed by force. Times are absolute: each
 * change of these lines is printed again.
 */
export function clusterLines(view: ClusterView, hosts: readonly HostView[]): SafeText[] {
  const sections = [budgetLines(view, hosts), removedLines(view)].filter(lines => lines.length > 0);
  return sections.flatMap(lines => [safe``, ...lines]);
}

function budgetLines(view: ClusterView, hosts: readonly HostView[]): SafeText[] {
  const { maxUnavailable, holds, waits } = budgetOf(view, hosts);
  if (holds.length + waits.length === 0) return [];
  return [
    safe`Budget: maxUnavailable is ${oneLine(maxUnavailable)}`,
    ...holds.map(
      ({ instance, node, journey, since }) =>
        safe`  ${oneLine(instance)} holds it since ${oneLine(timeText(since))}: ${oneLine(journey)} of Node ${oneLine(node)}`,
    ),
    ...waits.map(({ host, message }) => safe`  ${oneLine(host)} waits: ${oneLine(message)}`),
  ];
}

/** Those whose Node exists have a row. */
function removedLines(view: ClusterView): SafeText[] {
  const notes = removedHostsOf(view).filter(({ isBack }) => !isBack);
  if (notes.length === 0) return [];
  return [
    safe`Removed by force, in ConfigMap ${oneLine(configMapName.removedHosts)}; if you have cleaned the host, forget it:`,
    ...notes.map(
      ({ node, address, removed }) =>
        safe`  ${oneLine(node)} (${oneLine(address)}), ${oneLine(timeText(removed))}: \`wmco remove --forget ${oneLine(shellWord(node))}\``,
    ),
  ];
}

/** `2026-07-01 12:00:05 UTC`. */
function timeText(text: string): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? text : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
