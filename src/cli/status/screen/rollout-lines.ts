import { oneLine, type SafeText, safe } from '../../safe-text.ts';
import { shellWord } from '../../shell-quote.ts';
import { durationText, valueText } from '../view/amounts.ts';
import { ignoredText } from '../view/upgrade.ts';
import {
  needsAcceptance,
  type Rollback,
  type RolloutGroup,
  type RolloutView,
  rolloutGroups,
  stopsRollout,
} from '../view/rollout.ts';
import { padTo, widthOf } from './text-width.ts';
import { timeText } from './time-text.ts';

/** More names are not readable; `-o json` has all. */
const maxNames = 5;

/**
 * The roll-out in a few lines, however many hosts there are: how far it is, what it waits for, and the commands with which it goes
 * on. Without a time, the lines change only when something happens.
 */
export function rolloutLines(rollout: RolloutView, nowMs?: number): SafeText[] {
  const { version, hosts, upgrading, failing, pinned, invalidSettings, unknownSettings } = rollout;
  return [
    safe`Roll-out of ${oneLine(valueText(version))}: ${oneLine(hosts === 0 ? 'no host is configured yet' : countsText(rollout, nowMs))}`,
    ...namesLine('upgrading', upgrading),
    ...namesLine('failing, is retried', failing),
    ...namesLine('pinned', pinned.map(pinText)),
    ...invalidSettings.flatMap(settingLines),
    ...unknownSettings.flatMap(({ message, remedy }) => [
      safe`  ignored: ${oneLine(message)}`,
      safe`    -> ${oneLine(remedy)}`,
    ]),
    ...waitLines(rollout),
    ...rollbackLines(rollout),
    ...stopLines(rollout),
  ];
}

/** `win-8 to 11.0.0`. A pin keeps the host at the version that it runs, whatever it names. */
function pinText({ host, version, runs }: RolloutView['pinned'][number]): string {
  const other = runs === undefined || runs === version ? '' : `, but it runs ${valueText(runs)}`;
  return `${host} to ${valueText(version)}${other}`;
}

/** What the operator uses meanwhile is not known here. */
function settingLines({ key, message, remedy }: RolloutView['invalidSettings'][number]): SafeText[] {
  const meanwhile = key === 'paused' ? '' : '; the operator keeps the last valid value that it has read';
  return [safe`  invalid: ${oneLine(message)}${oneLine(meanwhile)}`, safe`    -> ${oneLine(remedy)}`];
}

/** `12 of 40 upgraded, 1 soaking (until 12:04:00 UTC, 4 min left), 27 waiting`. */
function countsText({ hosts, counts, soaking }: RolloutView, nowMs: number | undefined): string {
  const others = rolloutGroups.filter(group => group !== 'upgraded' && counts[group] > 0);
  const textOf = (group: RolloutGroup) =>
    `${counts[group]} ${group}${group === 'soaking' ? soakText(soaking, nowMs) : ''}`;
  return [`${counts.upgraded} of ${hosts} upgraded`, ...others.map(textOf)].join(', ');
}

function soakText(soaking: RolloutView['soaking'], nowMs: number | undefined): string {
  const until = soaking
    .map(each => each.until)
    .toSorted()
    .at(-1);
  if (until === undefined || until === '') return '';
  const leftMs = nowMs === undefined ? 0 : Date.parse(until) - nowMs;
  return ` (until ${until.slice(11, 19)} UTC${leftMs > 0 ? `, ${durationText(leftMs)} left` : ''})`;
}

function namesLine(what: string, names: readonly string[]): SafeText[] {
  if (names.length === 0) return [];
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return [safe`  ${oneLine(what)}: ${oneLine(`${names.slice(0, maxNames).join(', ')}${more}`)}`];
}

function waitLines({ counts, firstLeft, isPaused, isStopped }: RolloutView): SafeText[] {
  const hasWaiting = counts.waiting + counts.staging + counts.staged > 0;
  if (isPaused)
    return [safe`  paused: no upgrade starts, and no node is taken out of service, until \`wmco rollout resume\``];
  if (!hasWaiting || isStopped || firstLeft === undefined || firstLeft === 0) return [];
  return [
    safe`  the others wait until ${oneLine(firstLeft === 1 ? '1 more host has' : `${firstLeft} more hosts have`)} soaked (first)`,
  ];
}

/** Those that stop the roll-out first. */
function rollbackLines({ rollbacks, version }: RolloutView): SafeText[] {
  const ordered = rollbacks.toSorted((one, other) => Number(stopsRollout(other)) - Number(stopsRollout(one)));
  const left = ordered.length - maxNames;
  return [
    ...ordered.slice(0, maxNames).map(rollback => safe`  ${oneLine(rollbackText(rollback, version))}`),
    ...(left > 0 ? [safe`  … and ${left} more, see \`wmco status\``] : []),
  ];
}

function rollbackText(rollback: Rollback, to: string): string {
  const { host, from, code, message, at, isBack, isStuck, isRetried, otherAccepted } = rollback;
  const decided = isRetried ? 'tried again' : 'accepted';
  const word = stopsRollout(rollback) ? 'stopped' : decided;
  const unfinished = isStuck
    ? `cannot go back to ${from}, and still has the version that failed`
    : `goes back to ${from}`;
  const did = isBack ? `went back to ${from}` : unfinished;
  const ignored = ignoredText({ otherAccepted, to });
  return `${word}: ${host} ${did} (${timeText(at)}) ${code}: ${message}${ignored === undefined ? '' : `; ${ignored}`}`;
}

function stopLines({ rollbacks }: RolloutView): SafeText[] {
  const open = rollbacks.filter(needsAcceptance);
  const back = open.filter(({ isBack }) => isBack);
  const [first] = back;
  if (first === undefined && !open.some(({ isStuck }) => isStuck)) return [];
  const [host, what] = back.length === 1 ? [shellWord(first?.host ?? ''), first?.host] : ['HOST', 'a host'];
  const next: [purpose: string, command: string] = ['to upgrade the others nevertheless:', 'wmco rollout continue'];
  const commands: (typeof next)[] =
    first === undefined
      ? [next]
      : [
          [
            `to try ${what} again:`,
            `${first.isPinned && back.length === 1 ? `wmco rollout unpin ${host} && ` : ''}wmco rollout retry ${host}`,
          ],
          next,
          ...(back.every(({ isPinned }) => isPinned)
            ? []
            : [[`to keep ${what} at its version:`, `wmco rollout pin ${host}`] satisfies typeof next]),
        ];
  const width = Math.max(...commands.map(([purpose]) => widthOf(oneLine(purpose))));
  return commands.map(([purpose, command]) => safe`    ${padTo(oneLine(purpose), width)}  ${oneLine(command)}`);
}
