import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { preflight } from './preflight.ts';
import { missingFiles } from './stage.ts';
import { checkCluster } from './remedies.ts';

export const checkHost: Step<ConfigureJourney> = {
  name: 'preflight',
  description: 'checks the host for problems before anything on it is changed',
  usualMs: 5_000,
  limitMs: 30_000,
  remedy: checkCluster,
  async run({ address, ipv4, username, inventory, programs, prepared }) {
    const missing = missingFiles(programs, inventory);
    preflight({ address, ipv4, username, inventory, missing, vxlanPort: prepared.inputs.vxlanPort });
  },
};
