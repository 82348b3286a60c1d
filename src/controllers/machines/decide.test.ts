import { expect, test } from 'vitest';
import { machineLabel, nodeAnnotation } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { configured, fresh, labels, machine, node, ready, version } from '../../../test/kit/machine-views.ts';
import {
  decideMachine,
  decideReplacement,
  machineAccepted,
  type MachineDecision,
  type MachineView,
  type MachineFacts,
  newHostnameFor,
  readMachine,
  sshUserFor,
} from './decide.ts';

const otherKey = { ...configured, [nodeAnnotation.pubKeyHash]: 'other' };

const facts: MachineFacts = {
  machines: [machine(1), machine(2), machine(3)],
  nodes: [node(1), node(2), node(3)],
  replicas: 3,
  unfinished: new Set(),
  platform: 'AWS',
  version,
  pubKeyHash: 'hash',
  userDataIsCurrent: true,
};
const withNode1 = (annotations: Record<string, string>) => ({ nodes: [node(1, annotations), node(2), node(3)] });

const decisions: [string, Partial<MachineView>, Partial<MachineFacts>, MachineDecision['do'], RegExp?][] = [
  ['configures a provisioned machine', fresh, {}, 'configure'],
  ['finishes a node that was never configured', {}, withNode1({}), 'configure'],
  ['upgrades a node of another version', {}, withNode1({ ...configured, [nodeAnnotation.version]: 'v0' }), 'configure'],
  ['leaves a node that is up to date', {}, {}, 'skip', /up to date/],
  ['replaces a machine with another key', {}, withNode1(otherKey), 'replace', /another key/],
  [
    'replaces a machine whose key was cleared',
    {},
    withNode1({ ...configured, [nodeAnnotation.pubKeyHash]: '' }),
    'replace',
  ],
  ['replaces a machine without a key hash', {}, withNode1({ [nodeAnnotation.version]: version }), 'replace'],
  ['replaces by key before it upgrades', {}, withNode1({ ...otherKey, [nodeAnnotation.version]: 'v0' }), 'replace'],
  [
    'waits while another machine is unhealthy',
    {},
    { ...withNode1(otherKey), unfinished: new Set(['m3']) },
    'wait',
    /1 of 3/,
  ],
  [
    'replaces a machine although another takes the version off its own Node',
    {},
    { nodes: [node(1, otherKey), node(2), node(3, {})] },
    'replace',
  ],
  ['leaves a deleting machine, whatever its key', { deleting: true }, withNode1(otherKey), 'skip', /being deleted/],
  ['skips a machine without a MachineSet', { machineSet: undefined }, withNode1(otherKey), 'skip', /no MachineSet/],
  ['waits for the node reference', { nodeRef: undefined }, {}, 'wait', /names no Node/],
  ['leaves a machine whose node is gone', {}, { nodes: [] }, 'skip', /Node n1 does not exist/],
  ['skips a machine whose node was recreated', {}, { nodes: [{ ...node(1), uid: 'new' }] }, 'skip', /does not exist/],
  ['leaves a machine that is being provisioned', { phase: 'Provisioning' }, {}, 'skip', /phase is Provisioning/],
  ['leaves a failed machine', { phase: 'Failed' }, {}, 'skip', /phase is Failed/],
  ['leaves a phase in other case', { phase: 'running' }, {}, 'skip', /phase is running/],
  ['leaves a machine without a phase', { phase: undefined }, {}, 'skip', /no phase/],
  ['leaves a machine to be ignored', { labels: { ...labels, [machineLabel.ignore]: 'true' } }, {}, 'skip', /ignore/],
  ['leaves a Linux machine', { labels: {} }, {}, 'skip', /os-id/],
  ['leaves a machine without address', { addresses: [] }, {}, 'skip', /no internal IPv4/],
  ['waits for the user data', fresh, { userDataIsCurrent: false }, 'wait', /windows-user-data/],
  ['waits for the provider ID', { ...fresh, providerId: undefined }, {}, 'wait', /no provider ID/],
  ['waits for a provider ID that is not empty', { ...fresh, providerId: '' }, {}, 'wait', /no provider ID/],
  ['needs no user data for a node that is up to date', {}, { userDataIsCurrent: false }, 'skip', /up to date/],
];
for (const [title, change, more, want, why] of decisions) {
  test(title, () => {
    const decision = decideMachine({ ...ready, ...change }, { ...facts, ...more });
    expect(decision.do).toBe(want);
    if (why !== undefined) expect((decision as { why: string }).why).toMatch(why);
  });
}

test('reports how to reach the machine it configures', () => {
  const addresses = [
    { type: 'ExternalIP', address: '1.2.3.4' },
    { type: 'InternalIP', address: 'fd00::1' },
    { type: 'InternalIP', address: '10.0.0.7' },
    { type: 'InternalIP', address: '10.0.0.8' },
  ];
  const reach = { do: 'configure', address: '10.0.0.7' };
  expect(decideMachine({ ...fresh, addresses }, { ...facts, platform: 'VSphere' })).toEqual({
    ...reach,
    username: 'Administrator',
    newHostname: 'm1',
    node: undefined,
  });
  expect(decideMachine({ ...ready, addresses }, { ...facts, ...withNode1({}), platform: 'Azure' })).toEqual({
    ...reach,
    username: 'capi',
    newHostname: undefined,
    node: node(1, {}),
  });
});

const platforms: [string, string, string | undefined][] = [
  ['AWS', 'Administrator', undefined],
  ['Azure', 'capi', undefined],
  ['GCP', 'Administrator', undefined],
  ['VSphere', 'Administrator', 'm1'],
  ['Nutanix', 'Administrator', 'm1'],
  ['None', 'Administrator', undefined],
  ['Unheard', 'Administrator', undefined],
];
for (const [platform, user, hostname] of platforms) {
  test(`knows user and host name on ${platform}`, () => {
    expect([sshUserFor(platform), newHostnameFor(platform, 'm1')]).toEqual([user, hostname]);
  });
}

const acceptance: [string, Partial<MachineView>, boolean][] = [
  ['a provisioned Windows machine', fresh, true],
  ['any phase', { phase: 'Deleting' }, true],
  ['a label that asks not to ignore it', { labels: { ...labels, [machineLabel.ignore]: 'false' } }, true],
  ['an IPv4 address behind others', { addresses: [{ type: 'InternalIP', address: '::1' }, ...ready.addresses] }, true],
  ['no other kind', { kind: 'Node' }, false],
  ['no machine without the label', { labels: {} }, false],
  ['no Linux machine', { labels: { [machineLabel.osId]: 'Linux' } }, false],
  ['no machine to be ignored', { labels: { ...labels, [machineLabel.ignore]: 'true' } }, false],
  ['no machine without phase', { phase: undefined }, false],
  ['no empty phase', { phase: '' }, false],
  ['no machine without addresses', { addresses: [] }, false],
  ['no external address', { addresses: [{ type: 'ExternalIP', address: '1.2.3.4' }] }, false],
  ['no IPv6 address', { addresses: [{ type: 'InternalIP', address: 'fd00::1' }] }, false],
  ['no name', { addresses: [{ type: 'InternalDNS', address: 'm1' }] }, false],
  ['no name instead of an address', { addresses: [{ type: 'InternalIP', address: 'm1' }] }, false],
];
for (const [title, change, want] of acceptance) {
  test(`accepts ${title}`, () => expect(machineAccepted({ ...ready, ...change })).toBe(want));
}

test('waits for its turn with the event administrators know', () => {
  const decision = decideReplacement(machine(1), { ...facts, nodes: [node(1), node(2)] }, 'it refuses our key');
  expect(decision).toMatchObject({
    do: 'wait',
    why: expect.stringMatching(/^it refuses our key; 1 of 3 Machines of MachineSet set/),
  });
  expect(decision).toMatchObject({
    event: {
      type: 'Warning',
      reason: 'MachineDeletionRestricted',
      message: 'Machine m1 deletion restricted as the maximum unhealthy machines can`t exceed 1 count',
    },
  });
});

test('reports a machine that it may not replace, with what to do', () => {
  const decision = decideReplacement(machine(1, { machineSet: undefined }), facts, 'it refuses our key');
  expect(decision).toMatchObject({
    do: 'skip',
    error: { code: 'MACHINE_OWNER_MISSING', message: 'Machine m1: it refuses our key, but no MachineSet owns it' },
  });
  expect((decision as { error: { remedy: string } }).error.remedy).toMatch(
    /oc delete machine m1 -n openshift-machine-api/,
  );
});

test('replaces a machine that refuses the key before it became a node, however the others are', () => {
  const unborn = machine(1, { phase: 'Provisioned', nodeRef: undefined });
  expect(decideReplacement(unborn, { ...facts, nodes: [] }, 'x')).toEqual({ do: 'replace', why: 'x' });
  expect(decideReplacement({ ...unborn, deleting: true }, facts, 'x')).toMatchObject({ do: 'skip' });
});

function machineObject(more: { metadata?: object; spec?: object; status?: object }): ReturnType<typeof readObject> {
  const metadata = { name: 'm1', namespace: 'openshift-machine-api', labels, ...more.metadata };
  return readObject({ apiVersion: 'machine.openshift.io/v1beta1', kind: 'Machine', ...more, metadata });
}

test('reads a Machine', () => {
  const owner = (kind: string, name: string) => ({ apiVersion: 'v1', kind, name, uid: 'x' });
  const object = machineObject({
    metadata: {
      ownerReferences: [owner('Other', 'o'), owner('MachineSet', 'set')],
      deletionTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { providerID: 'aws:///a/i-1' },
    status: { phase: 'Running', addresses: ready.addresses, nodeRef: { kind: 'Node', name: 'n1', uid: 'u1' } },
  });
  expect(readMachine(object)).toEqual({ ...ready, deleting: true });
});

test('reads a Machine that holds nothing yet', () => {
  expect(readMachine(machineObject({ status: { nodeRef: null, addresses: [{}] } }))).toEqual({
    ...ready,
    phase: undefined,
    addresses: [{ type: '', address: '' }],
    nodeRef: undefined,
    providerId: undefined,
    machineSet: undefined,
  });
});

const unreadable: [string, object][] = [
  ['status.phase', { status: { phase: 5 } }],
  ['status.addresses', { status: { addresses: 'x' } }],
  ['status.nodeRef', { status: { nodeRef: 'n1' } }],
  ['spec.providerID', { spec: { providerID: {} } }],
  ['metadata.ownerReferences', { metadata: { ownerReferences: 'set' } }],
];
for (const [field, more] of unreadable) {
  test(`reports a wrong ${field}`, () => {
    const wanted = {
      code: 'FIELD_INVALID',
      message: expect.stringContaining(`Machine openshift-machine-api/m1: ${field}`),
    };
    expect(() => readMachine(machineObject(more))).toThrow(expect.objectContaining(wanted));
  });
}

const host = { address: '10.0.0.1', username: 'Administrator', newHostname: undefined };

test('names the host of a machine that is up to date, so that it stays looked after', () => {
  expect(decideMachine(ready, facts)).toMatchObject({ do: 'skip', host });
  expect(decideMachine(ready, { ...facts, platform: 'VSphere' })).toMatchObject({ host: { newHostname: 'm1' } });
});

test('reports a machine that has lost its Node from one that has nothing to do', () => {
  expect(decideMachine(ready, { ...facts, nodes: [] })).toMatchObject({ do: 'skip', isLost: true });
  for (const decision of [
    decideMachine(ready, facts),
    decideMachine({ ...ready, phase: 'Failed' }, facts),
    decideMachine({ ...ready, deleting: true }, { ...facts, nodes: [] }),
  ]) {
    expect(decision).not.toHaveProperty('isLost');
  }
});

test('names no host of a machine that is not a node', () => {
  expect(decideMachine({ ...ready, phase: 'Failed' }, facts)).not.toHaveProperty('host');
  expect(decideMachine(ready, { ...facts, nodes: [] })).not.toHaveProperty('host');
});
