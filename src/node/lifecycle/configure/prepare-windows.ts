import { AppError } from '#base/errors.ts';
import type { Inventory } from '#contract/inventory.ts';
import { askAgent } from '../agent-call.ts';
import type { HostJourney } from '../host-journey.ts';
import type { StepTimeout, Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { rebootOnce, wasRebooted } from './reboot.ts';
import { checkCommand, checkReboot } from './remedies.ts';

const [renameMs, featureMs] = [120_000, 30 * 60_000];

export const rebootTimeout: StepTimeout<HostJourney> = {
  code: 'HOST_REBOOT_TIMEOUT',
  message: ({ address, nodeName, record }) =>
    record.reboot === undefined
      ? `${address}: Node ${nodeName} was not drained for the reboot`
      : `${address} did not come back after the reboot`,
};

export const rename: Step<ConfigureJourney> = {
  name: 'rename',
  description: 'renames the host to spec.hostname, if set',
  usualMs: 15_000,
  limitMs: 5 * 60_000,
  remedy: checkCommand,
  isDone: journey => hasName(journey),
  async run(journey, { signal, note }) {
    const { host, address, instance, commands } = journey;
    const command = commands.rename(instance.spec.hostname ?? '');
    await askAgent({ host, address, command, signal, note, timeoutMs: renameMs });
  },
};

export const enableContainers: Step<ConfigureJourney> = {
  name: 'containers feature',
  description: 'enables the Windows feature Containers',
  usualMs: 3 * 60_000,
  limitMs: 40 * 60_000,
  remedy: checkCommand,
  isDone: ({ inventory }) => ['enabled', 'enable-pending'].includes(inventory.containersFeature),
  async run(journey, { signal, note }) {
    const { host, address, inventory, commands } = journey;
    const command = commands.enableContainers;
    const outcome = await askAgent({ host, address, command, signal, note, timeoutMs: featureMs });
    const containersFeature = outcome.boolean('rebootNeeded') === false ? 'enabled' : 'enable-pending';
    journey.inventory = { ...inventory, containersFeature };
  },
};

export const reboot: Step<ConfigureJourney> = {
  name: 'reboot',
  description: 'reboots the host once for its name and the feature Containers',
  usualMs: 3 * 60_000,
  limitMs: 30 * 60_000,
  remedy: checkReboot,
  timeout: rebootTimeout,
  isDone: journey => rebootReason(journey) === undefined,
  async run(journey, turn) {
    const reason = rebootReason(journey) ?? '';
    if (wasRebooted(journey, reason)) throw futileReboot(journey);
    // A host that does not come back keeps no other from being configured.
    journey.releaseSlot();
    await rebootOnce(journey, reason, turn);
    if (rebootReason(journey) !== undefined) throw futileReboot(journey);
    await journey.record.saveReboot(undefined);
  },
};

function rebootReason(journey: ConfigureJourney): string | undefined {
  const reasons = [
    ...(hasName(journey) ? [] : [`the name ${journey.instance.spec.hostname}`]),
    ...(isEnabled(journey.inventory) ? [] : ['the feature Containers']),
  ];
  return reasons.length === 0 ? undefined : reasons.join(' and ');
}

function hasName({ instance, inventory }: ConfigureJourney): boolean {
  const { hostname } = instance.spec;
  return hostname === undefined || hostname.toLowerCase() === inventory.hostName.toLowerCase();
}

function isEnabled({ containersFeature }: Pick<Inventory, 'containersFeature'>): boolean {
  return containersFeature === 'enabled';
}

/** Another reboot would not help. */
function futileReboot(journey: ConfigureJourney): AppError {
  const { address, inventory, instance } = journey;
  if (!isEnabled(inventory)) {
    const state = inventory.containersFeature;
    return new AppError('CONTAINERS_FEATURE_MISSING', `${address}: after a reboot the feature Containers is ${state}`, {
      remedy: 'Run `Install-WindowsFeature Containers -Restart` on the host and check its output.',
    });
  }
  const { hostname } = instance.spec;
  return new AppError('HOST_NAME_UNCHANGEABLE', `${address}: after a reboot the host name is still not ${hostname}`, {
    remedy: 'Rename the host manually and reboot it, or find the policy that renames it.',
  });
}
