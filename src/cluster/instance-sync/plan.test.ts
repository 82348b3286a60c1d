import { expect, test } from 'vitest';
import type { WindowsInstance } from '../windows-instance-resource.ts';
import { instanceAnnotation, managedByLabel } from '#contract/names.ts';
import type { WindowsInstanceSpec } from '#contract/windows-instance/resource.ts';
import { type Plan, planInstance, type WantedInstance } from './plan.ts';
import { instanceNames } from '../instance-source.ts';

const source = { kind: 'ConfigMap', name: 'win1.example.com' } as const;
const wanted: WantedInstance = { source, sourceUid: 'cm-uid', address: 'win1.example.com', username: 'core' };
const [plain, distinct] = instanceNames(source);
const spec: WindowsInstanceSpec = { address: 'win1.example.com', username: 'core', source };
const annotations = { [instanceAnnotation.sourceUid]: 'cm-uid' };

const object = (name: string, more: Partial<WindowsInstanceSpec> = {}, metadata = {}): WindowsInstance => ({
  metadata: { name, namespace: 'wmco', uid: `uid-${name}`, annotations, ...metadata },
  spec: { ...spec, ...more },
});
const plan = (own: WindowsInstance[], others: WindowsInstance[] = [], change: Partial<WantedInstance> = {}): Plan =>
  planInstance(
    { ...wanted, ...change },
    { namespace: 'wmco', own, named: name => [...own, ...others].find(one => one.metadata.name === name) },
  );
const direct: WindowsInstance = {
  metadata: { name: plain, namespace: 'wmco' },
  spec: { address: '10.0.0.9', username: 'Administrator' },
};

test('makes an instance that says whose it is', () => {
  expect(plan([])).toEqual({
    do: 'create',
    instance: {
      apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1',
      kind: 'WindowsInstance',
      metadata: {
        name: plain,
        namespace: 'wmco',
        labels: { [managedByLabel.key]: managedByLabel.value },
        annotations,
      },
      spec,
    },
  });
});

test('gives the host the name its source wants', () => {
  expect(plan([], [], { hostname: 'win1' })).toMatchObject({ instance: { spec: { hostname: 'win1' } } });
});

test('takes the other name when the first is taken', () => {
  expect(plan([], [direct])).toMatchObject({ do: 'create', instance: { metadata: { name: distinct } } });
  const machine = object(plain, { source: { kind: 'Machine', name: plain } });
  expect(plan([], [machine])).toMatchObject({ do: 'create', instance: { metadata: { name: distinct } } });
});

const changes: [
  about: string,
  own: WindowsInstance,
  change: Partial<WantedInstance>,
  want: Partial<WindowsInstanceSpec>,
][] = [
  ['follows a change of the user name', object(plain), { username: 'admin' }, { username: 'admin' }],
  ['follows a change of the address', object(plain), { address: 'WIN1.example.com' }, { address: 'WIN1.example.com' }],
  [
    'puts back an address that somebody has changed',
    object(plain, { address: '10.9.9.9' }),
    {},
    { address: 'win1.example.com' },
  ],
  ['puts back a user name that somebody has removed', object(plain, { username: '' }), {}, { username: 'core' }],
  [
    'takes over the way in which the source is written now',
    object(plain, { source: { ...source, name: 'WIN1.example.com' } }),
    {},
    { source },
  ],
  ['gives a name to the host later on', object(plain), { hostname: 'win1' }, { hostname: 'win1' }],
];
for (const [about, own, change, want] of changes) {
  test(about, () => expect(plan([own], [], change)).toMatchObject({ do: 'update', after: { spec: want } }));
}

test('leaves alone what is not its own', () => {
  const kept: Partial<WindowsInstanceSpec> = {
    paused: true,
    port: 2222,
    hostKey: 'ssh-ed25519 AAAA',
    hostname: 'mine',
    labels: { zone: 'a' },
    taints: [{ key: 'x', effect: 'NoExecute' }],
    keySecret: { name: 'other' },
  };
  expect(plan([object(plain, kept)])).toEqual({ do: 'keep' });
  const result = plan([object(plain, kept, { annotations: { ...annotations, note: 'x' } })], [], { username: 'new' });
  expect(result).toMatchObject({ do: 'update', after: { spec: { ...kept, username: 'new' } } });
  if (result.do === 'update') expect(result.after.metadata.annotations).toEqual({ ...annotations, note: 'x' });
});

test('follows a source that was created again', () => {
  expect(plan([object(plain)], [], { sourceUid: 'other' })).toMatchObject({
    do: 'update',
    after: { metadata: { annotations: { [instanceAnnotation.sourceUid]: 'other' } } },
  });
});

test('does nothing when all is as it should be', () => {
  expect(plan([object(plain)])).toEqual({ do: 'keep' });
  expect(plan([object(distinct)], [direct])).toEqual({ do: 'keep' });
  // Also when the first name has become free again.
  expect(plan([object(distinct)])).toEqual({ do: 'keep' });
});

test('waits while its instance is being deleted', () => {
  expect(plan([object(plain, {}, { deletionTimestamp: '2026-03-01T12:00:00Z' })])).toEqual({ do: 'wait' });
});

test('of several that claim to be its own it keeps the one with the name it gives', () => {
  const copies = [object('a-copy'), object(distinct), object(plain, { username: 'old' })];
  expect(plan(copies)).toMatchObject({ do: 'update', before: { metadata: { name: plain } } });
  expect(plan([object('z-copy', { username: 'old' }), object('a-copy', { username: 'old' })])).toMatchObject({
    before: { metadata: { name: 'a-copy' } },
  });
});

test('changes nothing in the object it was given', () => {
  const own = object(plain, { username: 'old' });
  const before = structuredClone(own);
  plan([own]);
  expect(own).toEqual(before);
});
