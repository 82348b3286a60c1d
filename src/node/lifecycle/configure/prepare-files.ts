import { type Patience, poll } from '#base/waiting/poll.ts';
import { packFiles } from '../../pack-files.ts';
import { PendingInputError } from '../../inputs/missing-input.ts';
import type { HostInputs } from '../deps.ts';
import type { Step, StepTurn } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { checkCluster, checkPayload } from './remedies.ts';

export const prepareFiles: Step<ConfigureJourney> = {
  name: 'prepare files',
  description: 'prepares the files of the host with new tokens, and the agent program',
  // Copying the agent program may wait for programs that are being packed.
  usualMs: 15_000,
  limitMs: 15 * 60_000,
  remedy: checkCluster,
  async run(journey, turn) {
    const { deps } = journey;
    const inputs = await prepareInputs(journey, turn);
    const [agent, texts] = await Promise.all([deps.payload.agent(), packFiles(inputs.files.files)]);
    journey.prepared = { inputs, agent, texts };
    // Packs programs in the background during the next steps; `pack programs` reports a failure.
    deps.payload.files(inputs.platform).catch(() => undefined);
  },
};

/** For journeys that write no files: nothing has to exist in the cluster, and no token is created. */
export const prepareAgent: Step<ConfigureJourney> = {
  name: 'prepare agent',
  description: 'prepares the agent program only; creates no token and needs no Secret',
  usualMs: 15_000,
  limitMs: 15 * 60_000,
  remedy: checkPayload,
  async run(journey) {
    const { inputs, payload } = journey.deps;
    journey.basics = { facts: inputs.readFacts(), agent: await payload.agent() };
  },
};

export const packPrograms: Step<ConfigureJourney> = {
  name: 'pack programs',
  description: 'waits until all programs are checked and packed, which is done once for all hosts',
  usualMs: 60_000,
  limitMs: 15 * 60_000,
  remedy: checkPayload,
  async run(journey) {
    journey.programs = await journey.deps.payload.files(journey.prepared.inputs.platform);
  },
};

/** After a first start the other controllers create accounts and ConfigMaps while hosts are connected already. */
const pendingPatience: Patience = { everyMs: 1000, limitMs: 60_000 };

async function prepareInputs({ instance, deps }: ConfigureJourney, { signal, note }: StepTurn): Promise<HostInputs> {
  let pending: PendingInputError | undefined;
  const prepare = async () => {
    try {
      return await deps.inputs.prepareInputs(instance, signal);
    } catch (error) {
      if (!(error instanceof PendingInputError)) throw error;
      pending = error;
      note(`waiting for ${error.label}`);
      return undefined;
    }
  };
  const inputs = await poll(prepare, { clock: deps.clock, signal, patience: pendingPatience });
  if (inputs === undefined) throw pending;
  note(undefined);
  return inputs;
}
