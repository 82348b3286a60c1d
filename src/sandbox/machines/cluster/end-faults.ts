import { timestamp } from '#base/clock.ts';
import { attempt } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
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
        if (ended.ok) record(instance, 'Normal', 'FaultEnded', `ended: ${ended.value.join(', ') || 'none'}`, api);
        else record(instance, 'Warning', 'FaultNotEnded', `${ended.error.message}. ${ended.error.remedy}`, api);
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

function record(
  instance: StoredObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  api: LocalApi,
): void {
  const { name = '', namespace = '' } = instance.metadata;
  const time = timestamp(api.clock.now());
  api.create(events, {
    metadata: { generateName: `${name}-`, namespace },
    involvedObject: referenceTo(instances, instance),
    type,
    reason,
    message: `sandbox: ${message}`,
    source: { component: 'sandbox' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  } as Parameters<LocalApi['create']>[1]);
}
