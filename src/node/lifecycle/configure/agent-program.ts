import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, isAppError } from '#base/errors.ts';
import { type Inventory, parseInventory } from '#contract/inventory.ts';
import { agentName } from '#contract/names.ts';
import { nameSourceOf } from '../../desired/services.ts';
import type { BundleContent } from '../../bundle-seals.ts';
import { callAgent } from '../agent-call.ts';
import type { Step, StepTurn } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { sendBundle } from './send-bundle.ts';

/** All of our files are read for it, on a slow disk. */
const inventoryMs = 180_000;
const stopMs = 30_000;

export const bringAgent: Step<ConfigureJourney> = {
  name: 'agent program',
  does: 'asks the agent on the host for an inventory; uploads the agent when it is absent or another one',
  limitMs: 60 * 60_000,
  async make(journey, turn) {
    const { agent } = journey.gathered;
    const seen = await askForInventory(journey, turn.signal).catch(unlessAnother);
    if (seen?.files[agent.path] === agent.sha256) journey.inventory = seen;
    // An agent of ours can put aside a program that runs, which an upload cannot.
    else if (seen !== undefined) await sendBundle(journey, withAgent(journey, seen), seen.bundles, turn);
    else await upload(journey, turn);
  },
};

export const takeInventory: Step<ConfigureJourney> = {
  name: 'inventory',
  does: 'asks the agent for everything that is to be known about the host, in one call',
  limitMs: 4 * 60_000,
  met: journey => journey.knownInventory !== undefined,
  async make(journey, { signal }) {
    const { agent } = journey.gathered;
    const seen = await askForInventory(journey, signal).catch((error: unknown) => {
      throw isAppError(error, 'AGENT_COMMAND_FAILED') ? unusable(journey, error) : error;
    });
    if (seen.files[agent.path] !== agent.sha256) {
      throw unusable(journey, new Error(`the program ${agent.path} is not the one that was uploaded`));
    }
    journey.inventory = seen;
  },
};

/** The state of the host as it is now. */
export async function askForInventory(journey: ConfigureJourney, signal: AbortSignal): Promise<Inventory> {
  const { host, address } = journey;
  const { apiServerUrl, platform } = journey.gathered.material;
  const command = journey.commands.inventory({ apiServerUrl, ...nameSourceOf(platform) });
  return parseInventory(await callAgent({ host, address, command, signal, timeoutMs: inventoryMs }), address);
}

/** How it shows that there is no agent, or one that knows less: the words are in any language, and the code is any. */
const signsOfAnother: readonly ErrorCode[] = ['AGENT_COMMAND_FAILED', 'AGENT_ANSWER_INVALID', 'FIELD_INVALID', 'USAGE'];

function unlessAnother(error: unknown): undefined {
  if (!isAppError(error) || !signsOfAnother.includes(error.code)) throw error;
}

async function upload(journey: ConfigureJourney, turn: StepTurn): Promise<void> {
  const { agent } = journey.gathered;
  const { host, world } = journey;
  const { signal, report } = turn;
  turn.note('other hosts upload');
  using _slot = await world.slots.uploads.take(signal);
  turn.note(undefined);
  const onProgress = (bytes: number) => report({ bytes, totalBytes: agent.bytes });
  const send = () =>
    host.upload(agent.path, { bytes: agent.bytes, chunks: () => agent.content() }, { signal, onProgress });
  try {
    await send();
  } catch (error) {
    if (!isAppError(error, 'HOST_FILE_FAILED') && !isAppError(error, 'HOST_FILE_DENIED')) throw error;
    // Somebody else's agent runs from that very file; Windows lets nobody replace it then.
    await host.exec(`sc.exe stop ${agentName}`, { signal, timeoutMs: stopMs });
    await world.clock.sleep(stopGraceMs, signal);
    await send();
  }
}

const stopGraceMs = 10_000;

/** The version stays what it was: all else on the host is still of that one. */
function withAgent({ gathered }: ConfigureJourney, { stagedVersion }: Inventory): BundleContent {
  const { path, sha256, bytes } = gathered.agent;
  const packed = () => gathered.agent.content();
  const file = { path, sha256, bytes, encoding: 'none', packedBytes: bytes, secret: false, packed } as const;
  return { version: stagedVersion, files: [file] };
}

function unusable({ address, gathered }: ConfigureJourney, cause: Error): AppError {
  return new AppError('AGENT_UNUSABLE', `${address}: the agent does not run: ${cause.message}`, {
    remedy: `Run ${gathered.agent.path} on the host; often a virus scanner or a policy keeps programs from running.`,
    cause,
  });
}
