import { AppError, isAppError } from '#base/errors.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { whenAborted, withDeadline } from '#base/waiting/deadline.ts';
import { askAgent } from '../agent-call.ts';
import type { StepTurn } from '../step.ts';
import { askForInventory } from './agent-program.ts';
import type { ConfigureJourney } from './journey.ts';

const commandMs = 60_000;
/** How long Windows may take from the order to the end of the connection. */
const downMs = 180_000;
const [firstPauseMs, longestPauseMs] = [1000, 10_000];

/** What a host answers, or does not, while it goes down and comes up. */
const goingOn: readonly ErrorCode[] = [
  'HOST_UNREACHABLE',
  'HOST_NOT_SSH',
  'HOST_HANDSHAKE_FAILED',
  'HOST_REFUSED_KEY',
  'HOST_CONNECTION_LOST',
  'HOST_COMMAND_REFUSED',
  'HOST_COMMAND_NO_EXIT_CODE',
  'AGENT_COMMAND_FAILED',
];

/**
 * Reboots the host, once for each reason: the boot that has to end is written down before the order goes out, so that
 * whoever takes up the journey in another boot knows that it is done.
 */
export async function rebootOnce(journey: ConfigureJourney, because: string, turn: StepTurn): Promise<void> {
  const { record, world } = journey;
  const { bootId } = journey.inventory;
  if (wasRebooted(journey, because)) return;
  if (bootId === '') throw unknownBoot(journey.address);
  await record.saveReboot({ bootId, because });
  world.log.info('Rebooting host', { address: journey.address, because });
  if (await order(journey, bootId, turn.signal)) await goDown(journey, turn);
  await comeBack(journey, bootId, turn);
}

/** The reboot for this reason was asked for in a boot that is over. */
export function wasRebooted({ record, inventory }: ConfigureJourney, because: string): boolean {
  return record.reboot?.because === because && record.reboot.bootId !== inventory.bootId;
}

/** False when the host says that this boot is over already. */
async function order(journey: ConfigureJourney, bootId: string, signal: AbortSignal): Promise<boolean> {
  const { host, address } = journey;
  try {
    // In another boot the agent does nothing, so it does no harm if the connection breaks and this is sent again.
    const command = journey.commands.reboot(bootId);
    return (await askAgent({ host, address, command, signal, timeoutMs: commandMs })).boolean('rebooting') ?? true;
  } catch (error) {
    if (isAppError(error) && goingOn.includes(error.code)) return true;
    throw error;
  }
}

async function goDown({ host, world }: ConfigureJourney, { signal, note }: StepTurn): Promise<void> {
  note('the host goes down');
  const late = new Error('still up');
  try {
    const limit = { clock: world.clock, ms: downMs, error: () => late, signal };
    await withDeadline(limit, () => whenAborted(host.ended));
  } catch (error) {
    if (error !== late) throw error;
  }
}

async function comeBack(journey: ConfigureJourney, bootId: string, turn: StepTurn): Promise<void> {
  const { host, world } = journey;
  const { signal } = turn;
  turn.note('the host comes up');
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    await host.close();
    await world.clock.sleep(pauseMs, signal);
    try {
      const seen = await askForInventory(journey, signal);
      if (seen.bootId !== bootId && seen.bootId !== '') {
        journey.inventory = seen;
        return;
      }
    } catch (error) {
      if (!isAppError(error) || !goingOn.includes(error.code)) throw error;
      turn.note(`the host is not back yet: ${error.message}`);
    }
  }
}

function unknownBoot(address: string): AppError {
  return new AppError('AGENT_ANSWER_INVALID', `${address}: the agent does not tell in which boot the host is`, {
    remedy: 'Reboot the host by hand; the journey goes on by itself.',
  });
}
