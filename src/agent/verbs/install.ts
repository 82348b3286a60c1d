import { controllerCommand } from '#contract/agent-command.ts';
import { agentName } from '#contract/names.ts';
import { rejectWhileSwapping } from '../activation/order.ts';
import { agentIdentity, cloudNodeIdentity } from '../identity/kept-identity.ts';
import { type InstallOutcome, installAgent } from '../install.ts';
import { waitingIn } from './one-shot.ts';
import type { Verb } from './verb.ts';

export const install: Verb = {
  name: 'install',
  summary: 'create keys and Windows service of the agent, start it, and print the hashes of the public keys',
  required: ['namespace', 'node'],
  optional: ['cert-duration', 'service-log-size', 'cloud-node', 'new-key', 'keep-command'],
  changesHost: true,
  async run(values, deps) {
    const { namespace, node } = values;
    const [logMegabytes, cloudNode] = [values['service-log-size'], values['cloud-node'] === 'true'];
    const command = controllerCommand({
      namespace,
      node,
      certificateLifetime: values['cert-duration'],
      cloudNode,
      ...(logMegabytes !== '' && { logMegabytes: Number(logMegabytes) }),
    });
    const identities = [agentIdentity(node), ...(cloudNode ? [cloudNodeIdentity(node)] : [])];
    const [newKeys, keepCommand] = [values['new-key'] === 'true', values['keep-command'] === 'true'];
    await rejectWhileSwapping(deps.host().files);
    const options = { command, keepCommand, identities, newKeys };
    const outcome = await installAgent(options, deps.host(), waitingIn(deps));
    const { keyHashes, ...service } = outcome;
    const [keyHash, cloudKeyHash] = keyHashes;
    const data = { ...service, keyHash, ...(cloudKeyHash !== undefined && { cloudKeyHash }) };
    return { text: textOf(outcome), data };
  },
};

function textOf({ created, changed, started, keyHashes }: InstallOutcome): string {
  const done = [...(created ? ['created'] : []), ...(changed ? ['changed'] : []), ...(started ? ['started'] : [])];
  return [
    done.length === 0 ? `Service ${agentName} is up to date.` : `Service ${agentName}: ${done.join(', ')}.`,
    ...keyHashes.map((hash, index) => `Key of ${index === 0 ? 'the agent' : 'cloud-node-manager'}: SHA-256 ${hash}`),
  ].join('\n');
}
