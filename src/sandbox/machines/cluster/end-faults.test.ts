import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { events, namespaces, ofNamespace } from '#kube/resources.ts';
import { startOpenshiftApi } from '../../../../test/kit/openshift-api.ts';
import type { FaultName } from '../faults.ts';
import type { SimulatedHost } from '../host/host.ts';
import { endFaultAnnotation, endFaults, type EndingFleet } from './end-faults.ts';
import { createHostRequests } from './host-requests.ts';

const instances = ofNamespace('windowsmachineconfig.openshift.io/v1alpha1', 'WindowsInstance', 'windowsinstances');
const key = { namespace: 'wmco', name: 'one' };

/** A fleet of one host, win-1, with two faults. */
async function scene(value: string, address = '10.0.1.12') {
  const left: FaultName[] = ['german', 'wrong-key'];
  const fleet: EndingFleet = {
    find: wanted => (wanted === '10.0.1.12' ? ({ spec: { name: 'win-1' } } as SimulatedHost) : undefined),
    faultsOf: () => [...left],
    endFault: (host, fault) => {
      if (host !== 'win-1') throw new AppError('USAGE', `no host ${host}`, { remedy: 'Choose another.' });
      left.splice(left.indexOf(fault), 1);
    },
  };
  const api = await startOpenshiftApi([createHostRequests([endFaults(fleet)])]);
  api.create(namespaces, { metadata: { name: 'wmco' } });
  const annotations = { [endFaultAnnotation]: value, other: 'stays' };
  const type = { apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1', kind: 'WindowsInstance' };
  const instance = { ...type, metadata: { ...key, annotations }, spec: { address, username: 'x' } };
  api.create(instances, instance);
  const annotationsNow = () => api.get(instances, key)?.metadata.annotations ?? {};
  await expect.poll(() => annotationsNow()[endFaultAnnotation], { interval: 10 }).toBeUndefined();
  return { ...api, left, annotationsNow };
}

const cases: [value: string, address: string, left: FaultName[], event: string, message: RegExp][] = [
  ['wrong-key', '10.0.1.12', ['german'], 'Normal FaultEnded', /^sandbox: ended: wrong-key$/],
  ['all', '10.0.1.12', [], 'Normal FaultEnded', /^sandbox: ended: german, wrong-key$/],
  ['meteor', '10.0.1.12', ['german', 'wrong-key'], 'Warning FaultNotEnded', /unknown fault "meteor".*--faults/],
  ['wrong-key', '10.9.9.9', ['german', 'wrong-key'], 'Warning FaultNotEnded', /no host 10\.9\.9\.9/],
];
for (const [value, address, left, event, message] of cases) {
  test(`${value} at ${address} leaves ${left.join(' and ') || 'no fault'} and is removed`, async () => {
    await using made = await scene(value, address);
    expect(made.left).toEqual(left);
    expect(made.annotationsNow()).toEqual({
      other: 'stays',
      [instanceAnnotation.retry]: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const [recorded] = made.list(events) as unknown as { type: string; reason: string; message: string }[];
    expect(`${recorded?.type} ${recorded?.reason}`).toBe(event);
    expect(recorded?.message).toMatch(message);
  });
}
