import { expect, test } from 'vitest';
import { instanceAnnotation } from '#contract/names.ts';
import type { WindowsInstanceSpec } from '#contract/windows-instance/resource.ts';
import type { ObjectReference } from '#kube/resources.ts';
import { eventObjects, recordEvent } from './instance-events.ts';
import type { WindowsInstance } from './windows-instance-resource.ts';

const instance = (source?: WindowsInstanceSpec['source'], uid?: string): WindowsInstance => ({
  metadata: {
    name: 'wi',
    namespace: 'wmco',
    uid: 'own',
    ...(uid !== undefined && { annotations: { [instanceAnnotation.sourceUid]: uid } }),
  },
  spec: { address: '10.0.0.1', username: 'Administrator', ...(source && { source }) },
});

/** Everything by which `kubectl describe` finds events. */
const own = {
  apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1',
  kind: 'WindowsInstance',
  namespace: 'wmco',
  name: 'wi',
  uid: 'own',
};
const machine = {
  apiVersion: 'machine.openshift.io/v1beta1',
  kind: 'Machine',
  namespace: 'openshift-machine-api',
  name: 'm1',
};
const map = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'wmco', name: 'windows-instances' };

const objects: [about: string, object: WindowsInstance, want: ObjectReference[]][] = [
  ['of a Machine', instance({ kind: 'Machine', name: 'm1' }, 'u1'), [{ ...machine, uid: 'u1' }, own]],
  ['of a Machine with an unknown UID', instance({ kind: 'Machine', name: 'm1' }), [machine, own]],
  ['of an entry', instance({ kind: 'ConfigMap', name: '10.0.0.1' }, 'u2'), [{ ...map, uid: 'u2' }, own]],
  ['that a user created', instance({ kind: 'Direct' }), [own]],
  ['without a source', instance(), [own]],
];
for (const [about, object, want] of objects) {
  test(`events about an instance ${about} are on ${want.map(({ kind }) => kind).join(' and ')}`, () => {
    expect(eventObjects(object)).toEqual(want);
    const recorded: (string | undefined)[] = [];
    const recorder = { record: ({ kind }: ObjectReference) => void recorded.push(kind) };
    recordEvent(recorder, object, { type: 'Normal', reason: 'InstanceSetup', message: 'm' });
    expect(recorded).toEqual(want.map(({ kind }) => kind));
  });
}
