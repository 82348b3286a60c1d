import { AppError, isAppError } from '#base/errors.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { whenAborted, withDeadline } from '#base/waiting/deadline.ts';
import type { InstanceRecord } from '#contract/windows-instance/resource.ts';
import { askAgent } from '../agent-call.ts';
import type { HostJourney } from '../host-journey.ts';
import { orderLimit, withReboot } from '../reboot/due.ts';
import type { StepTurn } from '../step.ts';
import { unreachableCodes } from '../unreachable.ts';
import { askForInventory } from './agent-program.ts';

const commandMs = 60_000;
/** From the command to the end of the connection. */
const shutdownMs = 180_000;
const [firstPauseMs, longestPauseMs] = [1000, 10_000];

/** Errors while a host shuts down and starts. */
const rebootErrors: readonly ErrorCode[] = [...unreachableCodes, 'AGENT_COMMAND_FAILED'];

/** As `rebootOnce`, but at most as often in a day as is allowed: the reboot is counted before it is ordered. */
export async function rebootWithinLimit(journey: HostJourney, reason: string, turn: StepTurn): Promise<void> {
  const { record, deps, instance } = journey;
  const { known, reboot } = record;
  // An attempt that was interrupted after the order has been counted.
  if (reboot?.because === reason) return rebootOnce(journey, reason, turn);
  const nowMs = deps.clock.now();
  const limit = orderLimit({ ...instance, status: known }, nowMs);
  if (limit !== undefined) throw limit.problem;
  await rebootOnce(journey, reason, turn, { reboots: withReboot(known.reboots, nowMs) });
}

/**
 * Reboots the host once for each reason: the boot id is recorded before the command is sent, so that an attempt in a later boot knows
 * that the reboot is done. `counted` is recorded with it.
 */
export async function rebootOnce(
  journey: HostJourney,
  reason: string,
  turn: StepTurn,
  counted: InstanceRecord = {},
): Promise<void> {
  const { record, deps } = journey;
  const { bootId } = journey.inventory;
  if (wasRebooted(journey, reason)) return;
  if (bootId === '') throw unknownBoot(journey.address);
  await record.saveReboot({ bootId, because: reason }, counted);
  deps.log.info('Rebooting host', { address: journey.address, because: reason });
  if (await requestReboot(journey, bootId, turn)) await waitForShutdown(journey, turn);
  await waitForStart(journey, bootId, turn);
}

/** True if the reboot for this reason was requested in an earlier boot. */
export function wasRebooted({ record, inventory }: HostJourney, reason: string): boolean {
  return record.reboot?.because === reason && record.reboot.bootId !== inventory.bootId;
}

/** False when the host has rebooted already. */
async function requestReboot(journey: HostJourney, bootId: string, { signal, note }: StepTurn): Promise<boolean> {
  const { host, address } = journey;
  try {
    // In another boot the agent ignores the command, so it can be sent again after a broken connection.
    const command = journey.commands.reboot(bootId);
    const answer = await askAgent({ host, address, command, signal, note, timeoutMs: commandMs });
    return answer.boolean('rebooting') ?? true;
  } catch (error) {
    if (isAppError(error) && rebootErrors.includes(error.code)) return true;
    throw error;
  }
}

async function waitForShutdown({ host, deps }: HostJourney, { signal, note }: StepTurn): Promise<void> {
  note('the host shuts down');
  const timeout = new Error('still up');
  try {
    const limit = { clock: deps.clock, ms: shutdownMs, error: () => timeout, signal };
    await withDeadline(limit, () => whenAborted(host.ended));
  } catch (error) {
    if (error !== timeout) throw error;
  }
}

async function waitForStart(journey: HostJourney, bootId: string, turn: StepTurn): Promise<void> {
  const { host, deps } = journey;
  const { signal } = turn;
  turn.note('the host starts');
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    await host.close();
    await deps.clock.sleep(pauseMs, signal);
    try {
      const inventory = await askForInventory(journey, signal);
      if (inventory.bootId !== bootId && inventory.bootId !== '') {
        journey.inventory = inventory;
        return;
      }
    } catch (error) {
      if (!isAppError(error) || !rebootErrors.includes(error.code)) throw error;
      turn.note(`the host is not back yet: ${error.message}`);
    }
  }
}

function unknownBoot(address: string): AppError {
  return new AppError('AGENT_ANSWER_INVALID', `${address}: the agent does not report a boot id`, {
    remedy: 'Reboot the host manually.',
  });
}
