import type { HostView } from '../view/host-view.ts';
import { countText, valueText } from '../view/amounts.ts';
import { timeText } from './time-text.ts';

/** So much of a hash is enough to compare it by eye. */
const shownDigits = 12;
const shownMirrors = 5;

/** `as desired (17a741db0354), since 2026-07-01 12:00:05 UTC`, or what the host has and what it should have, if that is known. */
export function settingText({ instance, settingsProblem }: HostView, group: 'files' | 'services'): string | undefined {
  const { [group]: setting } = instance?.status?.settings ?? {};
  if (setting === undefined) return undefined;
  const { desired, applied, at, failed } = setting;
  const since = at === undefined ? '' : `, since ${timeText(valueText(at))}`;
  const has = applied === undefined ? 'nothing known' : `${shortText(applied)}${since}`;
  const why = failed === undefined ? '' : `; failed with ${valueText(failed.code)}: ${valueText(failed.message)}`;
  if (settingsProblem !== undefined)
    return `has ${has}; what it should have is unknown now (${valueText(settingsProblem)})${why}`;
  if (applied === desired) return `as desired (${shortText(desired)})${since}`;
  return `not as desired: has ${has}; should have ${shortText(desired)}${why}`;
}

/** `ssh-ed25519 SHA256:…`, and since when the host has rejected another one. */
export function keyText({ instance }: HostView): string | undefined {
  const { fingerprint, pending } = instance?.status?.key ?? {};
  if (fingerprint === undefined) return undefined;
  const since = pending && `; the current one is rejected since ${timeText(valueText(pending.since))}`;
  return `${valueText(fingerprint)}${since ?? ''}`;
}

export function mirrorsText({ instance }: HostView): string | undefined {
  const { mirrors = [] } = instance?.status?.settings ?? {};
  if (mirrors.length === 0) return undefined;
  const names = mirrors.slice(0, shownMirrors).map(valueText);
  const more = mirrors.length - names.length;
  return [...names, ...(more > 0 ? [`and ${countText(more, 'more file')}`] : [])].join(', ');
}

/** Of services: version and hashes of the content and of the files. */
function shortText(hash: string): string {
  return hash
    .split(':')
    .map(part => valueText(part))
    .map(part => (/^[0-9a-f]{32}$/.test(part) ? part.slice(0, shownDigits) : part))
    .join(' ');
}
