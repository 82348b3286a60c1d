import type { SafeText } from '../safe-text.ts';
import { bytesText, countText, durationText } from '../status/view/amounts.ts';
import type { Layout } from '../status/screen/host-table.ts';
import { type Column, printTable, type Row } from '../status/screen/table.ts';
import { configureMs, type HostView, isDuplicate, isGood } from '../status/view/host-view.ts';
import type { SimulatedMachine } from './running.ts';

/** The first failure may be temporary. */
const attemptsUntilSettled = 2;

/** True if the host is Ready or keeps failing, so that waiting longer changes little. */
export function isSettled(host: HostView): boolean {
  if (isGood(host)) return true;
  if (host.tone !== 'bad') return false;
  const isRejected = host.phase === 'Rejected' || isDuplicate(host);
  return host.instance === undefined || isRejected || host.attempts >= attemptsUntilSettled;
}

/** `8 of 8 hosts Ready in 18 s (36 s of sandbox time).` */
export function outcomeLine(hosts: readonly HostView[], elapsedMs: number, speed: number): string {
  const ready = hosts.filter(({ tone }) => tone === 'good').length;
  const simulated = speed === 1 ? '' : ` (${durationText(elapsedMs * speed)} of sandbox time)`;
  return `${ready} of ${countText(hosts.length, 'host')} Ready in ${durationText(elapsedMs)}${simulated}.`;
}

const columns: readonly Column[] = [
  { name: 'host', title: 'HOST' },
  { name: 'node', title: 'NODE', hideOrder: 2 },
  { name: 'phase', title: 'PHASE' },
  { name: 'time', title: 'TIME' },
  { name: 'ssh', title: 'SSH SESSIONS', hideOrder: 1 },
  { name: 'sent', title: 'SENT' },
  { name: 'slowest', title: 'SLOWEST STEP' },
];

/** Time, SSH sessions and bytes for each host. */
export function summaryLines(
  hosts: readonly HostView[],
  machines: readonly SimulatedMachine[],
  layout: Layout,
): SafeText[] {
  const byName = new Map(machines.map(machine => [machine.name, machine]));
  const rows = hosts.map((host): Row => {
    const { sshSessions = 0, uploadedBytes = 0 } = byName.get(host.name) ?? {};
    const ms = configureMs(host, layout.nowMs);
    return {
      host: host.name,
      node: host.nodeName ?? '',
      phase: host.phase,
      time: ms === undefined ? '' : durationText(ms),
      ssh: String(sshSessions),
      sent: bytesText(uploadedBytes),
      slowest: slowestText(host),
      tone: host.tone,
    };
  });
  return printTable(columns, rows, layout);
}

function slowestText({ timeline }: HostView): string {
  const finishedSteps = timeline.flatMap(({ name, started, finished, attempts }) =>
    finished === undefined ? [] : [{ name, attempts, ms: Date.parse(finished) - Date.parse(started) }],
  );
  const [slowest] = finishedSteps.toSorted((a, b) => b.ms - a.ms);
  if (slowest === undefined) return '';
  const { name, ms, attempts } = slowest;
  return `${name}, ${durationText(ms)}${attempts > 1 ? ` (${attempts} attempts)` : ''}`;
}
