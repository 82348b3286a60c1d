import { joinText, type SafeText, safe } from '../../safe-text.ts';
import type { LiveTerminal } from '../../terminal.ts';
import { ChangeLines } from './change-lines.ts';
import { countsLine, hostTable, type Layout, problemLines } from './host-table.ts';
import type { HostView } from '../view/host-view.ts';
import { paintFor } from './paint.ts';
import { Screen } from './screen.ts';

export interface Display {
  show(hosts: readonly HostView[], more?: readonly SafeText[]): void;
  /** The last frame stays on the terminal. */
  close(): void;
}

/** Redraws a table on a terminal; elsewhere prints a line for each change. */
export function displayOn(terminal: LiveTerminal, stamp: (nowMs: number) => string): Display {
  return terminal.size() === undefined
    ? lineDisplay(terminal, stamp)
    : screenDisplay(terminal, (hosts, more) => frame(hosts, more, terminal));
}

function lineDisplay({ out, clock }: LiveTerminal, stamp: (nowMs: number) => string): Display {
  const changes = new ChangeLines(stamp);
  let printed: SafeText = safe``;
  return {
    show(hosts, more = []) {
      for (const line of changes.next(hosts, clock.now())) out(safe`${line}\n`);
      const added = joinText(more, '\n');
      if (added !== printed && added !== '') out(safe`${added}\n`);
      printed = added;
    },
    close: () => undefined,
  };
}

export function screenDisplay(
  terminal: LiveTerminal,
  render: (hosts: readonly HostView[], more: readonly SafeText[]) => SafeText[],
): Display {
  const screen = new Screen(terminal);
  return {
    show: (hosts, more = []) => screen.draw(render(hosts, more)),
    close: () => screen.close(),
  };
}

export function layoutFor(terminal: LiveTerminal): Layout {
  return { ...terminal.size(), nowMs: terminal.clock.now(), paint: paintFor(terminal) };
}

/** Never higher than the terminal: healthy hosts are hidden first. */
export function frame(hosts: readonly HostView[], more: readonly SafeText[], terminal: LiveTerminal): SafeText[] {
  const { rows } = terminal.size() ?? { rows: 24 };
  const layout = layoutFor(terminal);
  const counts = countsLine(hosts, layout.paint);
  // Room for heading, counts, the line about hidden hosts, and the empty lines between the parts.
  const room = Math.max(3, rows - more.length - 6);
  const visible = hosts.length <= room ? hosts : mostUrgent(hosts, room);
  const left = hosts.length - visible.length;
  const table = [...hostTable(visible, layout), ...(left > 0 ? [safe`… and ${left} more`] : []), counts];
  const problems = problemLines(hosts, layout);
  const spare = rows - 2 - table.length - (more.length > 0 ? more.length + 1 : 0);
  const listed = problems.length <= spare ? problems : problems.slice(0, Math.max(0, spare - 1));
  const cut = listed.length < problems.length ? [safe`… see \`wmco status\` for the rest`] : [];
  return [
    ...table,
    ...(listed.length > 0 ? [empty, ...listed, ...cut] : []),
    ...(more.length > 0 ? [empty, ...more] : []),
  ];
}

const empty = safe``;

const urgency: Readonly<Record<HostView['tone'], number>> = { bad: 0, busy: 1, paused: 2, good: 3 };

/** Keeps the order. */
function mostUrgent(hosts: readonly HostView[], count: number): HostView[] {
  const chosen = new Set(hosts.toSorted((a, b) => urgency[a.tone] - urgency[b.tone]).slice(0, count));
  return hosts.filter(host => chosen.has(host));
}
