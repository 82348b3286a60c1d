import { serviceName } from '#contract/names.ts';
import { callAgent } from '../agent-call.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { checkCommand } from './remedies.ts';

const bootstrapMs = 15 * 60_000;

export const bootstrap: Step<ConfigureJourney> = {
  name: 'bootstrap',
  description: 'has the agent start containerd and the kubelet, which then registers its Node',
  usualMs: 30_000,
  limitMs: 20 * 60_000,
  remedy: checkCommand,
  isDone: ({ node, inventory }) =>
    node !== undefined &&
    [serviceName.containerd, serviceName.kubelet].every(name =>
      inventory.services.some(service => service.name === name && service.isManaged && service.state === 'running'),
    ),
  async run({ host, address, prepared, inventory, commands, record }, { signal, note }) {
    await record.saveTimeline();
    const { version, namespace } = prepared.inputs;
    const command = commands.bootstrap({ version, namespace, node: inventory.nodeName });
    await callAgent({ host, address, command, signal, note, timeoutMs: bootstrapMs });
  },
};
