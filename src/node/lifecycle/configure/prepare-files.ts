import { packContent } from '../../bundle.ts';
import type { NodeFiles } from '../../desired/files.ts';
import type { BundleFile } from '../../bundle.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';

export const prepareFiles: Step<ConfigureJourney> = {
  name: 'prepare files',
  description: 'makes the files of the host, with fresh tokens, and gets the agent program ready',
  // An agent program that has to be copied again waits for programs that are being packed.
  limitMs: 15 * 60_000,
  async run(journey, { signal }) {
    const { instance, world } = journey;
    const inputs = await world.inputs.prepareInputs(instance, signal);
    const [agent, texts] = await Promise.all([world.payload.agent(), packTexts(inputs.files)]);
    journey.prepared = { inputs, agent, texts };
    // Meanwhile the agent travels and looks around. What fails here is reported by the step that waits for it.
    world.payload.files(inputs.platform).catch(() => undefined);
  },
};

/** Only the first host has to wait. */
export const packPrograms: Step<ConfigureJourney> = {
  name: 'pack programs',
  description: 'waits until all programs are checked and packed, which is done once for all hosts',
  limitMs: 15 * 60_000,
  async run(journey) {
    journey.programs = await journey.world.payload.files(journey.prepared.inputs.platform);
  },
};

function packTexts({ files }: NodeFiles): Promise<BundleFile[]> {
  return Promise.all(
    files.map(async ({ path, content, sensitive }) => ({
      path,
      secret: sensitive,
      ...(await packContent(new TextEncoder().encode(content.reveal()))),
    })),
  );
}
