import { endFailedSwap } from '../activation/cancel.ts';
import { type SecureOutcome, secureHost } from '../secure.ts';
import { createHashCache } from '../stage/hash-cache.ts';
import { inventory } from './inventory.ts';
import { waitingIn } from './one-shot.ts';
import type { Verb } from './verb.ts';

const skipped: SecureOutcome = { placed: false, pruned: 0, events: [] };

export const secure: Verb = {
  name: 'secure',
  summary: 'restrict the folders of the agent to administrators, place the agent, and print the inventory',
  required: [],
  optional: inventory.optional,
  changesHost: true,
  async run(values, deps) {
    const ports = deps.host();
    const { files, system } = ports;
    // Without administrator rights only the inventory is printed, which shows that.
    const hashOf = createHashCache(files, deps.clock);
    const { program, signal } = deps;
    const isAdministrator = await system.isAdministrator();
    if (isAdministrator) await endFailedSwap(ports, waitingIn(deps));
    const outcome = isAdministrator ? await secureHost(program, hashOf, ports, signal) : skipped;
    for (const event of outcome.events) deps.log.warn('Fixed owner or rights', { event });
    const found = await inventory.run(values, { ...deps, hashOf });
    const lines = [outcome.placed ? 'Placed the agent.' : 'The agent is up to date.', ...outcome.events];
    return { text: [...lines, '', found?.text].join('\n'), data: { ...outcome, inventory: found?.data } };
  },
};
