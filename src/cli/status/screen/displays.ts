import { joined, type SafeText, safe } from '../../safe-text.ts';
import type { LiveTerminal } from '../../terminal.ts';
import { ChangeLines } from './change-lines.ts';
import { countsLine, hostTable, type Look, problemLines } from './host-table.ts';
import type { HostView } from '../view/host-view.ts';
import { paintFor } from './paint.ts';
import { Screen } from './screen.ts';

/** Where hosts are followed. */
export interface Display {
  show(hosts: readonly HostView[], more?: readonly SafeText[]): void;
  /** Leaves the last picture. */
  close(): void;
}

/** On a terminal the same table again and again, elsewhere a line for each change. */
export function displayOn(terminal: LiveTerminal, stamp: (nowMs: number) => string): Display {
  return terminal.size() === undefined
    ? lineDisplay(terminal, stamp)
    : screenDisplay(terminal, (hosts, more) => frame(hosts, more, terminal));
}

function lineDisplay({ out, clock }: LiveTerminal, stamp: (nowMs: number) => string): Display {
  const changes = new ChangeLines(stamp);
  let before: SafeText = safe``;
  return {
    show(hosts, more = []) {
      for (const line of changes.next(hosts, clock.now())) out(safe`${line}\n`);
      const added = joined(more, '\n');
      if (added !== before && added !== '') out(safe`${added}\n`);
      before = added;
    },
    close: () => undefined,
  };
}

/** The same place of the terminal again and again. */
export function screenDisplay(
  terminal: LiveTerminal,
  picture: (hosts: readonly HostView[], more: readonly SafeText[]) => SafeText[],
): Display {
  const screen = new Screen(terminal);
  return {
    show: (hosts, more = []) => screen.draw(picture(hosts, more)),
    close: () => screen.close(),
  };
}

/** How things are shown on a terminal at this moment. */
export function lookOn(terminal: LiveTerminal): Look {
  return { ...terminal.size(), nowMs: terminal.clock.now(), paint: paintFor(terminal) };
}

/** A picture no higher than the terminal: hosts that need nobody's attention go first. */
export function frame(hosts: readonly HostView[], more: readonly SafeText[], terminal: LiveTerminal): SafeText[] {
  const { rows } = terminal.size() ?? { rows: 24 };
  const look = lookOn(terminal);
  const counts = countsLine(hosts, look.paint);
  // Heading, counts and the line of those left out, with an empty line before the problems and the rest.
  const room = Math.max(3, rows - more.length - 6);
  const shown = hosts.length <= room ? hosts : mostUrgent(hosts, room);
  const left = hosts.length - shown.length;
  const table = [...hostTable(shown, look), ...(left > 0 ? [safe`… and ${left} more`] : []), counts];
  const problems = problemLines(hosts, look);
  const spare = rows - 2 - table.length - (more.length > 0 ? more.length + 1 : 0);
  const told = problems.length <= spare ? problems : problems.slice(0, Math.max(0, spare - 1));
  const cut = told.length < problems.length ? [safe`… see \`wmco status\` for the rest`] : [];
  return [...table, ...(told.length > 0 ? [empty, ...told, ...cut] : []), ...(more.length > 0 ? [empty, ...more] : [])];
}

const empty = safe``;

const urgency: Readonly<Record<HostView['tone'], number>> = { bad: 0, busy: 1, still: 2, good: 3 };

/** In the order in which they were. */
function mostUrgent(hosts: readonly HostView[], count: number): HostView[] {
  const chosen = new Set(hosts.toSorted((a, b) => urgency[a.tone] - urgency[b.tone]).slice(0, count));
  return hosts.filter(host => chosen.has(host));
}
