import { nextRebootMs, recentReboots } from '#node/lifecycle/reboot/due.ts';
import { valueText } from '../view/amounts.ts';
import { shellWord } from '../../shell-quote.ts';
import type { HostView } from '../view/host-view.ts';
import { rebootsOf } from '../view/reboots.ts';
import { ignoredText } from '../view/upgrade.ts';
import { timeText } from './time-text.ts';

/** `11.0.0 -> 11.1.0: staged 2026-07-01 12:00:05 UTC, in service again …, soaking`. */
export function upgradeLine({ upgrade }: HostView): string | undefined {
  if (upgrade === undefined) return undefined;
  const { from, to, staged, activated, ready, soaked, state } = upgrade;
  const times: [what: string, time: string | undefined][] = [
    ['staged', staged],
    ['activated', activated],
    ['in service again', ready],
    ['soaked', soaked],
  ];
  const reached = times.flatMap(([what, time]) => (time === undefined ? [] : [`${what} ${timeText(time)}`]));
  const isSaid = state === 'staged' || state === 'upgraded';
  return `${from} -> ${to}: ${[...reached, ...(isSaid ? [] : [state])].join(', ')}`;
}

export function rollbackText({ upgrade }: HostView): string | undefined {
  if (upgrade?.failed === undefined || upgrade.from === upgrade.to) return undefined;
  const { failed, rolledBack, from, isAccepted, isRetried } = upgrade;
  const when = rolledBack === undefined ? `not yet at ${from}` : `to ${from}, ${timeText(rolledBack)}`;
  const decided = isRetried ? ['it is tried again'] : isAccepted ? ['accepted: other hosts are upgraded'] : [];
  const ignored = ignoredText(upgrade) ?? [];
  return [`${when}, because of ${failed.code}: ${failed.message}`, ...decided, ignored].flat().join('; ');
}

export function pinText({ name, pinnedVersion, instance }: HostView): string | undefined {
  if (pinnedVersion === undefined) return undefined;
  const { version = pinnedVersion } = instance?.status ?? {};
  const other = version === pinnedVersion ? '' : `, but it runs ${valueText(version)}`;
  return `to ${valueText(pinnedVersion)}${other}; to upgrade it with the others: \`wmco rollout unpin ${shellWord(name)}\``;
}

/** `2 of at most 3 in 24 h, requested 2026-07-01T12:00:05Z`. */
export function rebootText(host: HostView, nowMs: number): string | undefined {
  const reboots = rebootsOf(host);
  if (reboots === undefined) return undefined;
  const { ordered, limit, requested } = reboots;
  const nextMs = nextRebootMs(ordered, nowMs);
  return [
    `${recentReboots(ordered, nowMs).length} of at most ${limit} in 24 h`,
    ...(requested === undefined ? [] : [`requested ${timeText(valueText(requested))}`]),
    ...(nextMs === undefined ? [] : [`the next one after ${timeText(new Date(nextMs).toISOString())}`]),
  ].join(', ');
}
