import { configMapName } from '#contract/names.ts';
import { shellWord } from '../../shell-quote.ts';
import { oneLine, type SafeText, safe } from '../../safe-text.ts';
import { budgetOf, removedHostsOf } from '../view/budget.ts';
import type { ClusterView, HostView } from '../view/host-view.ts';
import { isRolloutOpen, rolloutOf } from '../view/rollout.ts';
import { rolloutLines } from './rollout-lines.ts';
import { timeText } from './time-text.ts';

/**
 * The roll-out until it has ended, the disruption budget while a host holds it or waits for it, and the hosts that were removed by
 * force. Without a time, the lines change only when something happens: each change is printed again.
 */
export function clusterLines(view: ClusterView, hosts: readonly HostView[], nowMs?: number): SafeText[] {
  const rollout = rolloutOf(view);
  const open = rollout !== undefined && isRolloutOpen(rollout) ? rolloutLines(rollout, nowMs) : [];
  const sections = [open, budgetLines(view, hosts), removedLines(view)].filter(lines => lines.length > 0);
  return sections.flatMap(lines => [safe``, ...lines]);
}

function budgetLines(view: ClusterView, hosts: readonly HostView[]): SafeText[] {
  const { maxUnavailable, holds, waits } = budgetOf(view, hosts);
  if (holds.length + waits.length === 0) return [];
  return [
    safe`Budget: maxUnavailable is ${oneLine(maxUnavailable)}`,
    ...limited(
      holds,
      'hold it',
      ({ instance, node, journey, since }) =>
        safe`  ${oneLine(instance)} holds it since ${oneLine(timeText(since))}: ${oneLine(journey)} of Node ${oneLine(node)}`,
    ),
    ...limited(waits, 'wait', ({ host, message }) => safe`  ${oneLine(host)} waits: ${oneLine(message)}`),
  ];
}

/** A thousand hosts wait for the same; `-o json` has all. */
const maxLines = 10;

function limited<T>(list: readonly T[], what: string, print: (each: T) => SafeText): SafeText[] {
  const left = list.length - maxLines;
  const shown = list.slice(0, maxLines).map(print);
  return left > 0 ? [...shown, safe`  … and ${left} more ${oneLine(what)}`] : shown;
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
