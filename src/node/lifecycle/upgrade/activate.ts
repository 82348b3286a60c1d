import { AppError, isAppError } from '#base/errors.ts';
import { type ActivationStatus, parseActivation } from '#contract/activation.ts';
import { activationService } from '#contract/names.ts';
import { activationFile } from '#contract/paths.ts';
import { callAgent } from '../agent-call.ts';
import type { HostJourney } from '../host-journey.ts';
import type { Step, StepTurn } from '../step.ts';
import { isUnreachable } from '../unreachable.ts';
import type { SwapJourney } from './swap-journey.ts';

const commandMs = 60_000;
const pollMs = 1000;

export const activate: Step<SwapJourney> = {
  name: 'activate',
  description: 'has the host stop its services, swap its files and start its agent, and polls until that is done',
  usualMs: 30_000,
  limitMs: 10 * 60_000,
  remedy: checkActivation,
  timeout: {
    code: 'ACTIVATION_FAILED',
    message: ({ address, target }) => `${address}: the swap to the files of version ${target} did not end`,
  },
  isDone: ({ isInPlace }) => isInPlace,
  async run(journey, turn) {
    const { isOrdered, node, deps } = journey;
    const { nodes } = deps;
    if (node !== undefined) journey.before = { event: nodes.lastEvent(node), failure: nodes.agentFailure(node) };
    if (!isOrdered) await journey.recordOrder(turn.signal);
    await untilSwapped(journey, isOrdered, turn);
  },
};

/** An attempt that was interrupted looks first: the host may have gone back to its former files already. */
async function untilSwapped(journey: SwapJourney, isOrdered: boolean, turn: StepTurn): Promise<void> {
  const { deps, target } = journey;
  let isSent = isOrdered;
  const look = async (): Promise<ActivationStatus> => {
    if (!isSent) await order(journey, turn);
    isSent = true;
    return askForActivation(journey, turn.signal);
  };
  for (;;) {
    const status = await look().catch((error: unknown) => tolerated(journey, error, turn));
    if (status !== undefined && !isUnderWay(status)) {
      if (status.version === target && status.state !== 'failed') return;
      checkOutcome(journey, status);
      // No order is open: it was not sent, or it was lost with the host's disk.
      isSent = false;
    }
    if (status !== undefined)
      turn.note(status.doing, status.problem === undefined ? undefined : notInPlace(journey, status));
    await deps.clock.sleep(pollMs, turn.signal);
  }
}

/** The host repeats a swap that has failed, unless it cannot read its journal. */
function isUnderWay({ state, doing }: ActivationStatus): boolean {
  return state === 'running' || (state === 'failed' && doing !== undefined);
}

async function order(journey: SwapJourney, { signal, note }: StepTurn): Promise<void> {
  const { host, address, commands, set, target } = journey;
  await callAgent({ host, address, command: commands.activate(set, target), signal, note, timeoutMs: commandMs });
}

/** How far the last swap of the host is. */
export async function askForActivation(journey: HostJourney, signal: AbortSignal): Promise<ActivationStatus> {
  const { host, address, commands } = journey;
  const command = commands.activation;
  return parseActivation(await callAgent({ host, address, command, signal, timeoutMs: commandMs }), address);
}

/** The swap stops networks. Anything else will not pass by itself. */
async function tolerated(journey: SwapJourney, error: unknown, { note, signal }: StepTurn): Promise<undefined> {
  signal.throwIfAborted();
  if (isUnreachable(error)) {
    note(`the host does not answer: ${error.message}`, error);
    await journey.host.close();
    return;
  }
  if (!isAppError(error) || ownCodes.some(code => code === error.code)) throw error;
  throw new AppError('ACTIVATION_FAILED', error.message, { remedy: error.remedy, cause: error });
}

/** Errors that are not about the files of the host. */
const ownCodes = ['LEADER_STALE', 'HOST_KEY_CHANGED', 'HOST_WANTS_PASSWORD', 'INTERNAL_ERROR'] as const;

function checkOutcome(journey: SwapJourney, status: ActivationStatus): void {
  const { address, target } = journey;
  if (status.state === 'failed') throw notInPlace(journey, status);
  if (status.state !== 'reverted') return;
  throw new AppError(
    'ACTIVATION_REVERTED',
    `${address}: the host went back from version ${target} to its former files: ${status.problem ?? noReason}`,
    { remedy: checkActivation(journey) },
  );
}

const noReason = 'it reports no reason';

function notInPlace(journey: SwapJourney, { version, problem = noReason }: ActivationStatus): AppError {
  const { address, target } = journey;
  const has = version || 'no whole set';
  return new AppError(
    'ACTIVATION_FAILED',
    `${address}: the files of version ${target} could not be put in place (the host has ${has}): ${problem}`,
    { remedy: checkActivation(journey) },
  );
}

function checkActivation({ address }: HostJourney): string {
  return `Run \`Get-Service ${activationService}\` and \`Get-Content ${activationFile}\` on ${address} to see how far the swap is.`;
}
