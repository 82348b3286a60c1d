import { packContent } from '../../bundle.ts';
import type { NodeFiles } from '../../desired/files.ts';
import type { BundleFile } from '../../bundle.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';

export const gather: Step<ConfigureJourney> = {
  name: 'gather',
  does: 'makes the files of the host, with fresh tokens, and gets the programs ready',
  // The first host waits for all programs to be checked and packed.
  limitMs: 15 * 60_000,
  async make(journey, { signal }) {
    const { instance, world } = journey;
    const material = await world.material.materialFor(instance, signal);
    const [agent, programs, texts] = await Promise.all([
      world.payload.agent(),
      world.payload.files(material.platform),
      packTexts(material.files),
    ]);
    journey.gathered = { material, agent, programs, texts };
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
