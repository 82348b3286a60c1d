import { normalHostName } from '#base/dns-name.ts';
import type { AppError } from '#base/errors.ts';
import { sentence } from '#base/trim-end.ts';
import { hostAddresses, type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#base/condition.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { ObjectReference } from '#kube/resources.ts';
import { eventObjects, sourceReference } from '#cluster/instance-events.ts';
import { fingerprint } from '#host/keys/public-key.ts';
import type { ConfigureJourney } from '#node/lifecycle/configure/journey.ts';
import type { ClusterNodes } from '#node/lifecycle/deps.ts';

export interface InstanceEvent {
  object: ObjectReference;
  text: EventText;
}

/** A host was configured. */
export function setupEvent({ spec }: WindowsInstance): EventText {
  return spec.source?.kind === 'Machine'
    ? eventText.machineSetup(spec.source.name ?? '')
    : eventText.instanceSetup(spec.address);
}

/** The Node of a host was recorded. */
export function adoptionEvent(
  { spec }: WindowsInstance,
  { adoption, hostKey, nodeName = '' }: Pick<ConfigureJourney, 'adoption' | 'hostKey' | 'nodeName'>,
): EventText {
  const { version = '', isNewKey = false, predecessors = [] } = adoption ?? {};
  const pinned = isNewKey && hostKey !== undefined ? `; pinned its SSH host key ${fingerprint(hostKey)}` : '';
  const former = predecessors.length > 0 ? `; it was WindowsInstance ${predecessors.join(', ')}` : '';
  return eventText.instanceAdopted(spec.address, nodeName, version, `${pinned}${former}`);
}

export function rejectionEvent({ spec }: WindowsInstance, { code, message, remedy }: AppError): EventText {
  const text = `${code}: ${message}. ${remedy}`;
  return spec.source?.kind === 'Machine'
    ? eventText.machineConfigurationFailure(spec.source.name ?? '', text)
    : eventText.instanceSetupFailure(text);
}

/** Other Nodes that report an address of the host. Addresses never decide which Node a host is, so an event is enough. */
export function addressConflicts(
  instance: WindowsInstance,
  own: string,
  nodes: Pick<ClusterNodes, 'withAddress'>,
): EventText[] {
  const addresses = new Set(hostAddresses(instance));
  return nodes
    .withAddress(addresses)
    .filter(({ name }) => name !== own)
    .flatMap(node => {
      const [shared] = node.addresses.filter(({ address }) => addresses.has(normalHostName(address)));
      return shared === undefined ? [] : [eventText.nodeAddressConflict(node.name, shared.address, own)];
    });
}

/** Events of a failure; none while the condition has the same reason. */
export function failureEvents(instance: WindowsInstance, error: AppError): InstanceEvent[] {
  const known = findCondition(instance.status?.conditions, instanceCondition.configured);
  if (known?.status === 'False' && known.reason === error.code) return [];
  const { spec } = instance;
  const details = eventText.instanceSetupFailure(failureText(error, instance));
  // The text of Machine events is fixed; the details are on the instance.
  const isOfMachine = spec.source?.kind === 'Machine';
  const sourceText = isOfMachine ? machineFailure(spec.source?.name ?? '', error) : details;
  const isKeyChange = error.code === 'HOST_KEY_CHANGED';
  const keyChange = isKeyChange ? [eventText.hostKeyChanged(spec.address, error.remedy)] : [];
  const on = (objects: readonly ObjectReference[], texts: readonly EventText[]) =>
    texts.flatMap(text => objects.map(object => ({ object, text })));
  return [
    ...on(sourceReference(instance), [sourceText]),
    ...on([referenceTo(windowsInstances, instance)], [details]),
    ...on(eventObjects(instance), keyChange),
  ];
}

export const removalFailureEvents = failuresAs(eventText.instanceTeardownFailure);
export const settingsFailureEvents = failuresAs(eventText.settingsFailure, instanceCondition.settingsApplied);
export const keyFailureEvents = failuresAs(eventText.keyOutdated, instanceCondition.keyCurrent);
export const rebootFailureEvents = failuresAs(eventText.instanceRebootFailure);

/** Events of a failed journey other than a join; none while the condition has the same reason. */
function failuresAs(textOf: (message: string) => EventText, condition: string = instanceCondition.configured) {
  return (instance: WindowsInstance, error: AppError): InstanceEvent[] => {
    const known = findCondition(instance.status?.conditions, condition);
    if (known?.status === 'False' && known.reason === error.code) return [];
    const text = textOf(failureText(error, instance));
    return eventObjects(instance).map(object => ({ object, text }));
  };
}

/** Events of a failed upgrade or rollback; none while the condition has the same reason from an earlier attempt. */
export function changeFailureEvents(
  instance: WindowsInstance,
  error: AppError,
  name: 'upgrade' | 'rollback',
): InstanceEvent[] {
  const { conditions, journey } = instance.status ?? {};
  const known = findCondition(conditions, instanceCondition.configured);
  if (journey?.name === name && known?.status === 'False' && known.reason === error.code) return [];
  const textOf = name === 'upgrade' ? eventText.instanceUpgradeFailure : eventText.instanceRollbackFailure;
  const text = textOf(failureText(error, instance));
  return eventObjects(instance).map(object => ({ object, text }));
}

/** Longer events would be cut, perhaps in the middle of a command that users paste. */
const maxEventLength = 1000;

export function failureText({ code, message, remedy }: AppError, { metadata }: WindowsInstance): string {
  const text = `${code}: ${sentence(message)} ${remedy}`;
  if (text.length <= maxEventLength) return text;
  const { name, namespace } = metadata;
  return `${code}: ${sentence(message)} For the remedy run \`kubectl describe wi ${name} -n ${namespace}\`.`;
}

const machineGraceMs = 5 * 60_000;
const rebootGraceMs = 30 * 60_000;

/**
 * Whether a host that does not answer needs more time: a new Machine still installs its SSH server and the key, or a reboot was
 * requested.
 */
export function isTransientFailure(instance: WindowsInstance, error: AppError, nowMs: number): boolean {
  if (!/^HOST_(UNREACHABLE|NOT_SSH|HANDSHAKE_FAILED|REFUSED_KEY|WANTS_PASSWORD|CONNECTION_LOST)$/.test(error.code)) {
    return false;
  }
  const since = (step: string) => {
    const { started = '', firstStarted = started } = instance.status?.timeline?.find(({ name }) => name === step) ?? {};
    return nowMs - Date.parse(firstStarted);
  };
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
