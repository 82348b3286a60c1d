import { takeInventory } from './configure/agent-program.ts';
import { otherName } from './configure/name-check.ts';
import type { AgentJourney } from './host-journey.ts';
import type { Step } from './step.ts';

/** For hosts that have joined: another host may answer at the address now. */
export const identifyHost: Step<AgentJourney> = {
  ...takeInventory,
  description: 'has the agent report everything about the host; its name must be the recorded one',
  async run(journey, turn) {
    await takeInventory.run(journey, turn);
    const { address, record, inventory } = journey;
    const { name = inventory.nodeName } = record.known.host ?? {};
    if (inventory.nodeName !== '' && inventory.nodeName !== name) throw otherName(address, inventory.nodeName, name);
  },
};
