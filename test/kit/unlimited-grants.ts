import { defaultRollout } from '../../src/contract/rollout.ts';
import type { Grants } from '../../src/node/rollout/grants.ts';

/** A disruption budget without a limit. */
export const unlimitedGrants: Grants = {
  take: async () => ({ isGranted: true }),
  end: async () => undefined,
  settings: () => defaultRollout,
};
