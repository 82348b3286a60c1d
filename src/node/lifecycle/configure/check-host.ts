import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { preflight } from './preflight.ts';
import { missingFiles } from './stage.ts';

export const checkHost: Step<ConfigureJourney> = {
  name: 'preflight',
  description: 'checks the host for problems before anything on it is changed',
  limitMs: 30_000,
  async run({ address, username, inventory, programs }) {
    const missing = missingFiles(programs, inventory);
    preflight({ address, username, inventory, missing });
  },
};
