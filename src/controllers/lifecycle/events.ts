import { normalHostName } from '#base/dns-name.ts';
import type { AppError } from '#base/errors.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import type { NodeView } from '#contract/node.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#base/condition.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { ObjectReference } from '#kube/resources.ts';
import { subjectOf } from '#cluster/instance-source.ts';

/** Something to say, and about which object. */
export interface InstanceEvent {
  object: ObjectReference;
  text: EventText;
}

/** A host that was set up, told once. */
export function setupEvents(instance: WindowsInstance): InstanceEvent[] {
  const { spec } = instance;
  const isMachine = spec.source?.kind === 'Machine';
  const text = isMachine ? eventText.machineSetup(spec.source?.name ?? '') : eventText.instanceSetup(spec.address);
  return [{ object: subjectOf(instance), text }];
}

/** A host that another version or operator has set up. */
export function adoptedEvents(instance: WindowsInstance): InstanceEvent[] {
  return [{ object: subjectOf(instance), text: eventText.instanceAdopted(instance.spec.address) }];
}

export function reconnectedEvents(instance: WindowsInstance): InstanceEvent[] {
  return [{ object: subjectOf(instance), text: eventText.agentReconnected(instance.spec.address) }];
}

/** Nodes that report an address of the host although it is another Node. Addresses never bind, so only the report is needed. */
export function addressConflicts(
  { spec, status }: WindowsInstance,
  own: string,
  nodes: readonly NodeView[],
): EventText[] {
  const addresses = new Set([spec.address, ...(status?.host?.addresses ?? [])].map(normalHostName));
  return nodes
    .filter(({ name }) => name !== own)
    .flatMap(node => {
      const [shared] = node.addresses.filter(({ address }) => addresses.has(normalHostName(address)));
      return shared === undefined ? [] : [eventText.nodeAddressConflict(node.name, shared.address, own)];
    });
}

/** A failure, told when it is another one than the instance shows already. */
export function failureEvents(instance: WindowsInstance, error: AppError): InstanceEvent[] {
  const known = findCondition(instance.status?.conditions, instanceCondition.configured);
  if (known?.status === 'False' && known.reason === error.code) return [];
  const { spec } = instance;
  const object = subjectOf(instance);
  const words = eventText.instanceSetupFailure(`${error.code}: ${error.message}. ${error.remedy}`);
  const told: InstanceEvent[] =
    spec.source?.kind === 'Machine'
      ? [
          { object, text: machineFailure(spec.source.name ?? '', error) },
          // The words for Machines are fixed and say nothing; the details are beside.
          { object: referenceTo(windowsInstances, instance), text: words },
        ]
      : [{ object, text: words }];
  const isKeyChange = error.code === 'HOST_KEY_CHANGED';
  return [...told, ...(isKeyChange ? [{ object, text: eventText.hostKeyChanged(spec.address, error.remedy) }] : [])];
}

const machineGraceMs = 5 * 60_000;
const rebootGraceMs = 30 * 60_000;

/**
 * Whether a host that does not answer may simply need more time: a new Machine has yet to install its SSH server and our
 * key, and a host that was told to reboot is on its way.
 */
export function mayStillCome(instance: WindowsInstance, error: AppError, nowMs: number): boolean {
  if (!/^HOST_(UNREACHABLE|NOT_SSH|HANDSHAKE_FAILED|REFUSED_KEY|WANTS_PASSWORD|CONNECTION_LOST)$/.test(error.code)) {
    return false;
  }
  const since = (step: string) =>
    nowMs - Date.parse(instance.status?.timeline?.find(({ name }) => name === step)?.started ?? '');
  if (instance.status?.reboot !== undefined && since('reboot') < rebootGraceMs) return true;
  if (instance.status?.reboot !== undefined && since('reboot for settings') < rebootGraceMs) return true;
  // Without a timeline this is the first attempt.
  const sinceConnect = since('connect');
  return instance.spec.source?.kind === 'Machine' && !(sinceConnect >= machineGraceMs);
}

function machineFailure(machine: string, { code }: AppError): EventText {
  return code === 'HOST_REFUSED_KEY' || code === 'HOST_WANTS_PASSWORD'
    ? eventText.machineAuthenticationFailure(machine)
    : eventText.machineConfigurationFailure(machine);
}
