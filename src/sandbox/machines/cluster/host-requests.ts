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

/** What a user of the sandbox cannot do on a host, for lack of a login: an annotation of its WindowsInstance. */
export interface HostRequest {
  annotation: string;
  /** Reasons of the events. */
  done: string;
  refused: string;
  /** Does it and says what was done. */
  run(this: void, address: string, value: string): string;
}

const instances = ofNamespace(
  `${windowsInstanceGroup}/${windowsInstanceVersion}`,
  windowsInstanceKind,
  'windowsinstances',
);

/** Carries out requests, and has the operator retry at once. */
export function createHostRequests(requests: readonly HostRequest[], log?: Log): Controller {
  return createController(
    {
      name: 'host-requests',
      resource: instances,
      reconcile: (key, api) => {
        const instance = api.get(instances, key);
        const annotations = instance?.metadata.annotations ?? {};
        const asked = requests.filter(({ annotation }) => annotations[annotation] !== undefined);
        if (instance === undefined || asked.length === 0) return;
        const address = textAt(instance, 'spec.address');
        const texts = asked.map(request => answer(request, address, annotations[request.annotation] ?? ''));
        requestRetry(instance, asked, api);
        for (const text of texts) recordEvent(instance, text, api);
      },
    },
    log,
  );
}

function answer({ done, refused, run }: HostRequest, address: string, value: string): EventText {
  const ran = attempt(() => run(address, value));
  if (ran.ok) return { type: 'Normal', reason: done, message: `sandbox: ${ran.value}` };
  return { type: 'Warning', reason: refused, message: refusal(ran.error) };
}

function refusal({ message, remedy }: AppError): string {
  return `sandbox: ${message}. ${remedy}`;
}

/** Removes the requests in the same write, so that they take effect once. */
function requestRetry(instance: StoredObject, asked: readonly HostRequest[], api: LocalApi): void {
  const others = Object.entries(instance.metadata.annotations ?? {}).filter(
    ([name]) => !asked.some(({ annotation }) => annotation === name),
  );
  const annotations = {
    ...Object.fromEntries(others),
    [instanceAnnotation.retry]: timestamp(api.clock.now()),
  };
  api.replace(instances, { ...instance, metadata: { ...instance.metadata, annotations } });
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
