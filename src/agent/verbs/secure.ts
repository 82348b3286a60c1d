import { type SecureOutcome, secureHost } from '../secure.ts';
import { createHashCache } from '../stage/hash-cache.ts';
import { inventory } from './inventory.ts';
import type { Verb } from './verb.ts';

const nothing: SecureOutcome = { placed: false, pruned: 0, events: [] };

export const secure: Verb = {
  name: 'secure',
  summary: 'let only administrators write to our folders, put the agent in place, and tell all about the host',
  required: [],
  optional: inventory.optional,
  async run(values, world) {
    const ports = world.host();
    const { files, system } = ports;
    // Who cannot do any of it learns that from the inventory.
    const hashOf = createHashCache(files, world.clock);
    const { program, signal } = world;
    const outcome = (await system.isAdministrator()) ? await secureHost(program, hashOf, ports, signal) : nothing;
    for (const event of outcome.events) world.log.warn('Secured', { event });
    const found = await inventory.run(values, { ...world, hashOf });
    const lines = [outcome.placed ? 'Put the agent in place.' : 'The agent is in place.', ...outcome.events];
    return { text: [...lines, '', found?.text].join('\n'), data: { ...outcome, inventory: found?.data } };
  },
};
