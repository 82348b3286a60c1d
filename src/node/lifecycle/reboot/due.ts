import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { shortDuration } from '#base/short-duration.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { awaitsReboot } from '#contract/node-marks.ts';
import type { InstanceRecord, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';

/** Of one host, in `dayMs`. */
export const maxReboots = 3;
const dayMs = 24 * 3_600_000;

/** Why the host is to be rebooted; undefined when it is not. */
export function rebootCause(instance: WindowsInstance, node: NodeView | undefined): string | undefined {
  const { status = {} } = instance;
  if (node === undefined) return undefined;
  if (openRequest(instance, status) !== undefined) return `the annotation ${instanceAnnotation.reboot} has a new value`;
  if (awaitsReboot(node)) return 'its agent requires a reboot';
  return isInterrupted(status) ? 'its reboot is not finished' : undefined;
}

function isInterrupted({ journey, phase, reboot }: WindowsInstanceStatus): boolean {
  return journey?.name === 'reboot' && (phase === 'Rebooting' || reboot !== undefined);
}

/** Value of the annotation that was not carried out yet; an empty one requests nothing. */
export function openRequest(
  { metadata }: Pick<WindowsInstance, 'metadata'>,
  { rebootRequest }: Pick<InstanceRecord, 'rebootRequest'>,
): string | undefined {
  const value = metadata.annotations?.[instanceAnnotation.reboot] || undefined;
  return value === rebootRequest ? undefined : value;
}

/** The reboots of the last day, with a new one. */
export function withReboot(reboots: readonly string[] = [], nowMs: number): string[] {
  return [...recentReboots(reboots, nowMs), nowMs].slice(-maxReboots).map(timestamp);
}

export interface RebootLimit {
  problem: AppError;
  /** When the next reboot is allowed. */
  endsMs: number;
}

/** Why no reboot journey is started now; undefined when one may be. One that has begun is finished. */
export function rebootLimit(instance: WindowsInstance, nowMs: number): RebootLimit | undefined {
  return isInterrupted(instance.status ?? {}) ? undefined : orderLimit(instance, nowMs);
}

/** Why the host is not ordered to reboot again now; undefined when it may be. */
export function orderLimit({ metadata, status = {}, spec }: WindowsInstance, nowMs: number): RebootLimit | undefined {
  const endsMs = nextRebootMs(status.reboots, nowMs);
  if (endsMs === undefined) return undefined;
  const problem = new AppError(
    'REBOOT_LIMIT',
    `${spec.address}: rebooted ${maxReboots} times in ${shortDuration(dayMs)}; the next reboot is possible at ${timestamp(endsMs)}`,
    {
      remedy:
        `Read the events of the agent (\`kubectl describe node ${status.node ?? metadata.name}\`) to find out why it ` +
        `needs reboots. To reboot the host now, run \`Restart-Computer -Force\` on it.`,
    },
  );
  return { problem, endsMs };
}

/** When the next reboot is allowed; undefined when it is allowed now. */
export function nextRebootMs(reboots: readonly string[] | undefined, nowMs: number): number | undefined {
  const oldestMs = recentReboots(reboots, nowMs).at(-maxReboots);
  return oldestMs === undefined ? undefined : oldestMs + dayMs;
}

/**
 * The times of the reboots that count now, the oldest first. One far in the future, from a clock that was wrong, does not count: it
 * would block the host for long.
 */
export function recentReboots(reboots: readonly string[] = [], nowMs: number): number[] {
  return reboots
    .map(time => Date.parse(time))
    .filter(ms => Math.abs(nowMs - ms) < dayMs)
    .toSorted((one, other) => one - other);
}
