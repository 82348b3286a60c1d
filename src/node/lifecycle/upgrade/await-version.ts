import { AppError } from '#base/errors.ts';
import type { NodeView } from '#contract/node.ts';
import { awaitsReboot, isUpToDate } from '#contract/node-marks.ts';
import { checkAgent } from '../configure/remedies.ts';
import type { Step, StepTurn } from '../step.ts';
import { bootOf, untilAgent } from '../until-agent.ts';
import type { SwapJourney } from './swap-journey.ts';

/** Failures that the agent reports without interruption for this long do not pass by themselves. */
export const failingMs = 60_000;

const untilTarget: Pick<Step<SwapJourney>, 'usualMs' | 'limitMs' | 'timeout' | 'isDone' | 'remedy'> = {
  usualMs: 60_000,
  limitMs: 5 * 60_000,
  remedy: goesBack,
  timeout: {
    code: 'NODE_VERSION_TIMEOUT',
    message: journey => {
      const { address, node, target } = journey;
      const event = newEvent(journey);
      const report = event === undefined ? 'its agent reported no event' : `last event of its agent: ${event}`;
      const state = node?.ready === false ? `; the Node is not ready: ${node.readyMessage ?? ''}` : '';
      return `${address}: Node ${node?.name} did not reach version ${target} (${report}${state})`;
    },
  },
  isDone: ({ node, target }) => node !== undefined && hasTarget(node, target),
};

/** Whoever reads it at night need not act. */
function goesBack(journey: SwapJourney): string {
  const { name, upgrade } = journey;
  const first = name === 'upgrade' && upgrade?.fromAgent !== undefined;
  const comfort = `The host goes back to version ${upgrade?.from} by itself if this lasts. To find the cause: `;
  return `${first ? comfort : ''}${checkAgent(journey)}`;
}

export const awaitAgent: Step<SwapJourney> = {
  name: 'wait for agent',
  description: 'waits until the agent confirms the version and the Node is ready, or it requests a reboot',
  ...untilTarget,
  run: (journey, turn) => untilHealthy(journey, turn, awaitsReboot),
};

export const awaitTarget: Step<SwapJourney> = {
  name: 'wait for version',
  description: 'waits until the agent confirms the version after the reboot and the Node is ready',
  ...untilTarget,
  run: (journey, turn) => untilHealthy(journey, turn, () => false),
};

async function untilHealthy(
  journey: SwapJourney,
  turn: StepTurn,
  isEnough: (node: NodeView) => boolean,
): Promise<void> {
  using failing = new FailingAgent(journey);
  const signal = AbortSignal.any([turn.signal, failing.signal]);
  await untilAgent(
    journey,
    { ...turn, signal },
    {
      isEnough: node => isEnough(node) || hasTarget(node, journey.target),
      onFailure: failure => failing.see(failure),
    },
  );
}

function hasTarget(node: NodeView, target: string): boolean {
  return isUpToDate(node, target) && node.ready;
}

/** The last event of the agent; one from before the swap does not count. */
function newEvent(journey: SwapJourney): string | undefined {
  const { node, deps, before } = journey;
  const event = node && deps.nodes.lastEvent(node, bootOf(journey));
  return event === before.event ? undefined : event;
}

/** Its signal is aborted when the agent has reported failures for too long. */
class FailingAgent implements Disposable {
  readonly #journey: SwapJourney;
  readonly #end = new AbortController();
  #timer: AbortController | undefined;
  #failure: string | undefined;

  constructor(journey: SwapJourney) {
    this.#journey = journey;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  see(failure: string | undefined): void {
    this.#failure = failure === this.#journey.before.failure ? undefined : failure;
    if (this.#failure === undefined) this[Symbol.dispose]();
    else if (this.#timer === undefined) void this.#start();
  }

  async #start(): Promise<void> {
    const timer = new AbortController();
    this.#timer = timer;
    await this.#journey.deps.clock.sleep(failingMs, timer.signal).catch(() => undefined);
    if (!timer.signal.aborted) this.#end.abort(unhealthy(this.#journey, this.#failure));
  }

  [Symbol.dispose](): void {
    this.#timer?.abort();
    this.#timer = undefined;
  }
}

function unhealthy(journey: SwapJourney, failure = ''): AppError {
  const { address, target, nodeName } = journey;
  const message = `${address}: the agent of Node ${nodeName} fails with version ${target}: ${failure}`;
  return new AppError('UPGRADE_UNHEALTHY', message, { remedy: checkAgent(journey) });
}
