import { shortLine } from '#base/printable.ts';
import type { InstanceProgress } from '#contract/windows-instance/resource.ts';

/** A duration for people: `0.3 s`, `42 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return pairText(whole, 60, 'min', 's');
  const minutes = Math.floor(whole / 60);
  return minutes < 24 * 60 ? pairText(minutes, 60, 'h', 'min') : pairText(Math.floor(minutes / 60), 24, 'd', 'h');
}

function pairText(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size;
  return `${Math.floor(amount / size)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Bytes in the unit that gives the shortest number: `812 B`, `7.8 kB`, `24 MB`. */
export function bytesText(bytes: number): string {
  let [amount, unit] = [Math.max(0, bytes), 0];
  while (amount >= 999.5 && unit < units.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  return `${amount < 9.95 && unit > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[unit] ?? ''}`;
}

/** Progress of a transfer: `12 of 24 MB (50 %)`. */
export function shareText(bytes: number, totalBytes: number): string {
  return `${amountText(bytes, totalBytes)} (${percentOf(bytes, totalBytes)} %)`;
}

function percentOf(bytes: number, totalBytes: number): number {
  return totalBytes > 0 ? Math.floor((100 * Math.max(0, Math.min(bytes, totalBytes))) / totalBytes) : 100;
}

/** `12 of 24 MB`. */
function amountText(bytes: number, totalBytes: number): string {
  const [done, total] = [bytesText(bytes), bytesText(totalBytes)];
  const [, unit = ''] = total.split(' ');
  return `${done.endsWith(` ${unit}`) ? done.slice(0, -unit.length - 1) : done} of ${total}`;
}

const barWidth = 10;

/** A running transfer, the most important first: `[#####-----] 50 %, 4.0 s left, 3.0 MB/s, 12 of 24 MB`. */
export function uploadText({ bytes, totalBytes, started = '' }: InstanceProgress, nowMs: number): string {
  const percent = percentOf(bytes, totalBytes);
  const full = Math.floor((percent * barWidth) / 100);
  const bar = `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] ${percent} %`;
  const amount = amountText(bytes, totalBytes);
  const bytesPerMs = bytes / (nowMs - Date.parse(started));
  if (!Number.isFinite(bytesPerMs) || bytesPerMs <= 0) return `${bar}, ${amount}`;
  const leftMs = Math.max(0, totalBytes - bytes) / bytesPerMs;
  return `${bar}, ${durationText(leftMs)} left, ${bytesText(bytesPerMs * 1000)}/s, ${amount}`;
}

/** `1 host`, `2 hosts`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const maxValue = 60;

/** A value that anyone may have written into the cluster, shortened. */
export function valueText(text: string): string {
  return shortLine(text.length > maxValue ? `${text.slice(0, maxValue - 3)}...` : text, maxValue);
}
