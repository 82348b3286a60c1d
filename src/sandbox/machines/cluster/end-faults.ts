import { timestamp } from '#base/clock.ts';
import { type AppError, attempt } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import type { EventText } from '#contract/events.ts';
import { instanceAnnotation } from '#contract/names.ts';
import {
  windowsInstanceGroup,
  windowsInstanceKind,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';
import { referenceTo } from '#kube/events/events.ts';
import { events, ofNamespace } from '#kube/resources.ts';
import { createController } from '../../apiserver/controllers/worker.ts';
import { textAt } from '../../apiserver/object.ts';
import type { Controller, LocalApi, StoredObject } from '../../apiserver/ports.ts';
import { type FaultName, parseFaultName } from '../faults.ts';
import type { Fleet } from '../fleet.ts';

/** On a WindowsInstance; the value is the name of a fault of its host, or `all`. */
export const endFaultAnnotation = 'sandbox.wmco/end-fault';

const instances = ofNamespace(
  `${windowsInstanceGroup}/${windowsInstanceVersion}`,
  windowsInstanceKind,
  'windowsinstances',
);

export type EndingFleet = Pick<Fleet, 'find' | 'faultsOf' | 'endFault'>;

/** Ends faults of hosts on request, and has the operator retry at once. */
export function createEndFaults(fleet: EndingFleet, log?: Log): Controller {
  return createController(
    {
      name: 'end-faults',
      resource: instances,
      reconcile: (key, api) => {
        const instance = api.get(instances, key);
        const wanted = instance?.metadata.annotations?.[endFaultAnnotation];
        if (instance === undefined || wanted === undefined) return;
        const ended = attempt(() => endFaults(textAt(instance, 'spec.address'), wanted, fleet));
        requestRetry(instance, api);
        recordEvent(instance, ended.ok ? endedEvent(ended.value) : refusalEvent(ended.error), api);
      },
    },
    log,
  );
}

function endFaults(address: string, wanted: string, fleet: EndingFleet): readonly FaultName[] {
  const name = fleet.find(address)?.spec.name ?? address;
  const ended = wanted === 'all' ? fleet.faultsOf(name) : [parseFaultName(wanted)];
  for (const fault of ended) fleet.endFault(name, fault);
  return ended;
}

/** Removes the request in the same write, so that it takes effect once. */
function requestRetry(instance: StoredObject, api: LocalApi): void {
  const { [endFaultAnnotation]: _wanted, ...others } = instance.metadata.annotations ?? {};
  const annotations = { ...others, [instanceAnnotation.retry]: timestamp(api.clock.now()) };
  api.replace(instances, { ...instance, metadata: { ...instance.metadata, annotations } });
}

function endedEvent(ended: readonly FaultName[]): EventText {
  return { type: 'Normal', reason: 'FaultEnded', message: `sandbox: ended: ${ended.join(', ') || 'none'}` };
}

function refusalEvent({ message, remedy }: AppError): EventText {
  return { type: 'Warning', reason: 'FaultNotEnded', message: `sandbox: ${message}. ${remedy}` };
}

function recordEvent(instance: StoredObject, text: EventText, api: LocalApi): void {
  const { name = '', namespace = '' } = instance.metadata;
  const time = timestamp(api.clock.now());
  const event = {
    metadata: { generateName: `${name}-`, namespace },
    involvedObject: referenceTo(instances, instance),
    ...text,
    source: { component: 'sandbox' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  api.create(events, event);
}
