import { controllerCommand } from '#contract/agent-command.ts';
import { agentName } from '#contract/names.ts';
import { type InstallOutcome, installAgent } from '../install.ts';
import { waitingIn } from './one-shot.ts';
import type { Verb } from './verb.ts';

export const install: Verb = {
  name: 'install',
  summary: 'make or correct the Windows service of the agent, and have it started',
  required: ['namespace'],
  optional: ['service-log-size'],
  async run(values, world) {
    const logMegabytes = values['service-log-size'];
    const command = controllerCommand({
      namespace: values.namespace,
      node: 'placeholder',
      ...(logMegabytes !== '' && { logMegabytes: Number(logMegabytes) }),
    });
    const outcome = await installAgent(command, world.host(), waitingIn(world));
    return { text: textOf(outcome), data: outcome };
  },
};

function textOf({ created, changed, started }: InstallOutcome): string {
  const done = [...(created ? ['created'] : []), ...(changed ? ['changed'] : []), ...(started ? ['started'] : [])];
  return done.length === 0
    ? `Nothing to do: service ${agentName} is as it should be.`
    : `Service ${agentName}: ${done.join(', ')}.`;
}
