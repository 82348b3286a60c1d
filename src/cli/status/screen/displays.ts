import { joinText, type SafeText, safe } from '../../safe-text.ts';
import type { LiveTerminal } from '../../terminal.ts';
import type { HostView } from '../view/host-view.ts';
import { ChangeLines } from './change-lines.ts';
import { frame } from './frame.ts';
import type { Layout } from './host-table.ts';
import { JsonLines } from './json-lines.ts';
import { paintFor } from './paint.ts';
import { Screen } from './screen.ts';

export interface Display {
  /** `more` is shown below the hosts, `above` before them. */
  show(hosts: readonly HostView[], more?: readonly SafeText[], above?: readonly SafeText[]): void;
  /** Ends the display with these lines, which stay. */
  close(last: readonly SafeText[]): void;
}

/** Redraws a table on a terminal; elsewhere prints a line for each change. */
export function displayOn(
  terminal: LiveTerminal,
  stamp: (nowMs: number) => string,
  table: Pick<Layout, 'isWide' | 'hasHeaders'> = {},
): Display {
  const layout = () => ({ ...layoutFor(terminal), ...table, rows: rowsOf(terminal), command: terminal.command() });
  return terminal.size() === undefined
    ? lineDisplay(terminal, stamp)
    : screenDisplay(terminal, (hosts, more, above) => frame(hosts, more, { ...layout(), above }));
}

function lineDisplay(terminal: LiveTerminal, stamp: (nowMs: number) => string): Display {
  const { out, clock } = terminal;
  const changes = new ChangeLines(stamp);
  let printed: SafeText = safe``;
  return {
    show(hosts, more = [], above = []) {
      for (const line of changes.next(hosts, clock.now())) out(safe`${line}\n`);
      const added = joinText([...above, ...more], '\n');
      if (added !== printed && added !== '') out(safe`${added}\n`);
      printed = added;
    },
    close: last => last.forEach(line => out(safe`${line}\n`)),
  };
}

/** One JSON document on each line: a host or a note whenever it has changed. */
export function jsonDisplay({ out, clock }: LiveTerminal): Display {
  const lines = new JsonLines();
  return {
    show: (hosts, more = []) =>
      lines
        .next(
          hosts,
          more.filter(line => line !== ''),
          clock.now(),
        )
        .forEach(line => out(safe`${line}\n`, 'data')),
    close: () => undefined,
  };
}

export function screenDisplay(
  terminal: LiveTerminal,
  render: (hosts: readonly HostView[], more: readonly SafeText[], above: readonly SafeText[]) => SafeText[],
): Display {
  const screen = new Screen(terminal);
  return {
    show: (hosts, more = [], above = []) => screen.draw(render(hosts, more, above)),
    close: last => screen.close(last),
  };
}

export function layoutFor(terminal: LiveTerminal): Layout {
  const { columns } = terminal.size() ?? {};
  return { nowMs: terminal.clock.now(), paint: paintFor(terminal), ...(columns !== undefined && { columns }) };
}

function rowsOf(terminal: LiveTerminal): number {
  return terminal.size()?.rows ?? 24;
}
