import { timestamp } from '#base/clock.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, isAppError } from '#base/errors.ts';
import { pathKey } from '#contract/host-path.ts';
import { type Inventory, parseInventory } from '#contract/inventory.ts';
import { agentProgram } from '#contract/paths.ts';
import { askAgent, callAgent } from '../agent-call.ts';
import type { AgentJourney, HostJourney } from '../host-journey.ts';
import type { Step, StepTurn } from '../step.ts';
import { notAdministrator } from './preflight.ts';
import { checkCommand, checkUpload } from './remedies.ts';

/** The agent hashes all managed files, perhaps on a slow disk. */
const inventoryMs = 180_000;
/** An inventory, and copying the program. */
const secureMs = 2 * inventoryMs;

export const uploadAgent: Step<HostJourney> = {
  name: 'agent program',
  description: 'uploads the agent to a folder that only administrators can write to, unless it is there',
  usualMs: 60_000,
  limitMs: 60 * 60_000,
  remedy: checkUpload,
  async run(journey, turn) {
    const { agent } = journey;
    if ((await journey.host.fileSize(programOf(journey), turn.signal)) !== agent.bytes) await upload(journey, turn);
  },
};

/** For journeys that do not prepare other files. */
export const loadAgent: Step<AgentJourney> = {
  ...uploadAgent,
  async run(journey, turn) {
    journey.agent = await journey.deps.payload.agent();
    await uploadAgent.run(journey, turn);
  },
};

export const takeInventory: Step<HostJourney> = {
  name: 'inventory',
  description: 'has the agent report everything about the host in one call; it changes nothing',
  usualMs: 30_000,
  limitMs: 70 * 60_000,
  remedy: checkCommand,
  async run(journey, turn) {
    const { signal } = turn;
    journey.inventory = await verifiedInventory(journey, signal).catch(async (error: unknown) => {
      if (!isAppError(error) || !damageErrors.includes(error.code)) throw error;
      turn.note('the agent program does not run; uploading it again');
      await upload(journey, turn);
      turn.note(undefined);
      return verifiedInventory(journey, signal).catch((again: unknown) => {
        throw isAppError(again, 'AGENT_COMMAND_FAILED') ? unusable(journey, again) : again;
      });
    });
  },
};

/** After the name check: a host that another version configured stays unchanged. */
export const secureFolders: Step<HostJourney> = {
  name: 'secure folders',
  description: 'has the agent secure the managed folders and copy itself into place',
  usualMs: 30_000,
  limitMs: 15 * 60_000,
  remedy: checkCommand,
  async run(journey, turn) {
    const { record, deps } = journey;
    // Before the first change: otherwise an interrupted join would leave a host that is never cleaned.
    if (record.known.touched === undefined) await record.save({ touched: timestamp(deps.clock.now()) });
    journey.inventory = await secure(journey, turn);
    checkPlaced(journey, journey.inventory);
  },
};

/** Fails when the inventory does not come from the uploaded program. */
async function verifiedInventory(journey: HostJourney, signal: AbortSignal): Promise<Inventory> {
  const inventory = await askForInventory(journey, signal);
  const path = programOf(journey);
  const hash = Object.entries(inventory.files).find(([each]) => pathKey(each) === pathKey(path))?.[1];
  if (hash === journey.agent.sha256) return inventory;
  throw new AppError('AGENT_PROGRAM_DAMAGED', `${journey.address}: ${path} is not the program that was uploaded`, {
    remedy: 'Find out what changes programs on the host, such as a virus scanner.',
  });
}

export async function askForInventory(journey: HostJourney, signal: AbortSignal): Promise<Inventory> {
  const { host, address } = journey;
  const command = journey.commands.inventory(journey.inventoryOptions);
  return parseInventory(await callAgent({ host, address, command, signal, timeoutMs: inventoryMs }), address);
}

async function secure(journey: HostJourney, { signal, note }: StepTurn): Promise<Inventory> {
  const { host, address, deps } = journey;
  const command = journey.commands.secure(journey.inventoryOptions);
  const answer = await askAgent({ host, address, command, signal, note, timeoutMs: secureMs });
  const events = answer.strings('events').slice(0, maxEvents);
  if (events.length > 0) deps.log.warn('Secured folders of host', { address, events });
  return parseInventory(JSON.stringify(answer.raw('inventory') ?? {}), address);
}

const maxEvents = 50;

/** Errors that a damaged program causes; its output and exit code can be anything. */
const damageErrors: readonly ErrorCode[] = ['AGENT_PROGRAM_DAMAGED', 'AGENT_COMMAND_FAILED', 'AGENT_ANSWER_INVALID'];

function checkPlaced(journey: HostJourney, { isAdministrator }: Inventory): void {
  // The preflight reports a user without administrator rights.
  if (!isAdministrator) return;
  const { agent } = journey;
  const { files } = journey.inventory;
  for (const path of [programOf(journey), agent.path]) {
    if (files[pathKey(path)] !== agent.sha256) {
      throw unusable(journey, new Error(`${path} is not the program that was uploaded`));
    }
  }
}

function programOf({ agent }: HostJourney): string {
  return agentProgram(agent.sha256);
}

async function upload(journey: HostJourney, turn: StepTurn): Promise<void> {
  const { agent } = journey;
  const { host, deps, address } = journey;
  const { signal, report } = turn;
  turn.note(`waiting for uploads of ${deps.slots.uploads.taken} other hosts`);
  using _slot = await turn.queued(() => deps.slots.uploads.take(signal));
  turn.note(undefined);
  report({ bytes: 0, totalBytes: agent.bytes });
  const onProgress = (bytes: number) => report({ bytes, totalBytes: agent.bytes });
  const content = { bytes: agent.bytes, chunks: () => agent.content() };
  await host.upload(programOf(journey), content, { signal, onProgress }).catch((error: unknown) => {
    // Below C:\Windows a folder can be missing only because creating it was not allowed.
    const isDenied = isAppError(error, 'HOST_FILE_DENIED') || isAppError(error, 'HOST_FILE_MISSING');
    throw isDenied ? notAdministrator(address, journey.username, error) : error;
  });
}

function unusable(journey: HostJourney, cause: Error): AppError {
  return new AppError('AGENT_UNUSABLE', `${journey.address}: the agent does not run: ${cause.message}`, {
    remedy: `Run ${programOf(journey)} on the host; often a virus scanner or a policy blocks programs.`,
    cause,
  });
}
