import { expect, test } from 'vitest';
import type { Condition } from '#base/condition.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { eventObjects } from '#cluster/instance-events.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { Adoption, ConfigureJourney } from '#node/lifecycle/configure/journey.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { EventText } from '#contract/events.ts';
import type { NodeView } from '#contract/node.ts';
import type { TimelineStep } from '#contract/windows-instance/resource.ts';
import { anyKey } from '../../../test/kit/lifecycle/lab-host.ts';
import { nodeList } from '../../../test/kit/node-list.ts';
import { reconnectKind } from './act/run-journey.ts';
import {
  addressConflicts,
  adoptionEvent,
  failureEvents,
  isTransientFailure,
  type InstanceEvent,
  setupEvent,
} from './events.ts';

const nowMs = Date.UTC(2026, 2, 1, 12);
const ago = (minutes: number) => new Date(nowMs - minutes * 60_000).toISOString();

interface Over {
  kind?: 'Machine' | 'ConfigMap' | 'Direct';
  condition?: Partial<Condition>;
  timeline?: TimelineStep[];
  reboot?: boolean;
  sourceUid?: string;
}
function instance({ kind = 'ConfigMap', condition, timeline, reboot, sourceUid }: Over = {}): WindowsInstance {
  const known = { type: 'Configured', status: 'False', reason: 'X', message: '', lastTransitionTime: 't' } as const;
  const annotations = sourceUid === undefined ? {} : { [instanceAnnotation.sourceUid]: sourceUid };
  return {
    metadata: { name: 'win-5', namespace: 'wmco', uid: 'own', annotations },
    spec: {
      address: '10.0.0.5',
      username: 'Administrator',
      source: { kind, name: kind === 'Machine' ? 'm-1' : '10.0.0.5' },
    },
    status: {
      ...(condition && { conditions: [{ ...known, ...condition }] }),
      ...(timeline && { timeline }),
      ...(reboot && { reboot: { bootId: 'b', because: 'x' } }),
    },
  };
}
const error = (code: ErrorCode) => new AppError(code, '10.0.0.5: it is so', { remedy: 'Do this.' });
const lines = (events: readonly InstanceEvent[]) =>
  events.map(
    ({ object, text }) =>
      `${object.kind} ${object.namespace}/${object.name} ${text.type} ${text.reason}: ${text.message}`,
  );

const kinds: [kind: 'Machine' | 'ConfigMap' | 'Direct', objects: string[], text: string][] = [
  [
    'ConfigMap',
    ['ConfigMap wmco/windows-instances', 'WindowsInstance wmco/win-5'],
    'InstanceSetup: Configured instance with address 10.0.0.5 as a worker node',
  ],
  [
    'Direct',
    ['WindowsInstance wmco/win-5'],
    'InstanceSetup: Configured instance with address 10.0.0.5 as a worker node',
  ],
  [
    'Machine',
    ['Machine openshift-machine-api/m-1', 'WindowsInstance wmco/win-5'],
    'MachineSetup: Machine m-1 configured successfully',
  ],
];
const onAll = (made: WindowsInstance, text: EventText) => lines(eventObjects(made).map(object => ({ object, text })));
for (const [kind, objects, text] of kinds) {
  test(`records the setup of a host of source ${kind} on ${objects.join(' and ')}`, () => {
    const made = instance({ kind });
    expect(onAll(made, setupEvent(made))).toEqual(objects.map(object => `${object} Normal ${text}`));
  });
}

test('records the reconnection of an instance', () => {
  const reconnection = reconnectKind.event(instance({ kind: 'Machine' }), {} as ConfigureJourney);
  expect(reconnection).toMatchObject({ reason: 'AgentReconnected', message: expect.stringContaining('10.0.0.5') });
});

const hostKey = anyKey();
const adopted = { version: 'v1', isNewKey: false, predecessors: [] };
const adoptions: [string, Adoption, RegExp][] = [
  ['its Node and version', adopted, /^Adopted Node win-5 of version v1 as .* 10\.0\.0\.5; its host is unchanged$/],
  ['a key that is pinned', { ...adopted, isNewKey: true }, /unchanged; pinned its SSH host key SHA256:\S+$/],
  ['former instances', { ...adopted, predecessors: ['a', 'b'] }, /unchanged; it was WindowsInstance a, b$/],
];
for (const [about, adoption, message] of adoptions) {
  test(`the event of an adoption has ${about}`, () => {
    const text = adoptionEvent(instance(), { adoption, hostKey, nodeName: 'win-5' });
    expect(text).toMatchObject({ type: 'Normal', reason: 'InstanceAdopted', message: expect.stringMatching(message) });
  });
}

const nodeAt = (name: string, ...addresses: string[]): NodeView => ({
  name,
  uid: name,
  labels: {},
  annotations: {},
  addresses: addresses.map(address => ({ type: 'InternalIP', address })),
  ready: true,
  unschedulable: false,
});
const recorded: WindowsInstance = {
  ...instance(),
  spec: { address: 'Win.example.com', username: 'Administrator' },
  status: { host: { name: 'win-5', addresses: ['10.0.0.5', '192.168.0.5'] } },
};
const shared: [string, NodeView[], string[]][] = [
  ['no other Node', [nodeAt('win-5', '10.0.0.5')], []],
  ['Nodes with other addresses', [nodeAt('a', '10.0.0.50'), nodeAt('b')], []],
  ['a Node with the address that is dialed', [nodeAt('win-5', '10.0.0.5'), nodeAt('a', '10.0.0.5')], ['a 10.0.0.5']],
  ['a Node with another address of the host', [nodeAt('a', '10.9.9.9', '192.168.0.5')], ['a 192.168.0.5']],
  ['a Node with the name that is listed', [nodeAt('a', 'win.EXAMPLE.com')], ['a win.EXAMPLE.com']],
  ['a Node with two of them, once', [nodeAt('a', '10.0.0.5', '192.168.0.5')], ['a 10.0.0.5']],
  ['two Nodes', [nodeAt('a', '10.0.0.5'), nodeAt('b', '10.0.0.5')], ['a 10.0.0.5', 'b 10.0.0.5']],
];
for (const [name, nodes, want] of shared) {
  test(`address conflicts with ${name}`, () => {
    const told = addressConflicts(recorded, 'win-5', nodeList(...nodes)).map(({ message }) => message);
    expect(told).toEqual(
      want.map(each => {
        const [node, address] = each.split(' ');
        return `Node ${node} reports the address ${address}, which belongs to Node win-5. Find out which of the two hosts has it`;
      }),
    );
  });
}

const failing = 'HOST_DISK_FULL: 10.0.0.5: it is so. Do this.';
const onBoth = [
  `ConfigMap wmco/windows-instances Warning InstanceSetupFailure: ${failing}`,
  `WindowsInstance wmco/win-5 Warning InstanceSetupFailure: ${failing}`,
];
const failures: [string, Over, ErrorCode, string[]][] = [
  ['of a listed host', {}, 'HOST_DISK_FULL', onBoth],
  [
    'of an instance of its own',
    { kind: 'Direct' },
    'HOST_DISK_FULL',
    [`WindowsInstance wmco/win-5 Warning InstanceSetupFailure: ${failing}`],
  ],
  [
    'of a Machine',
    { kind: 'Machine' },
    'HOST_DISK_FULL',
    [
      'Machine openshift-machine-api/m-1 Warning MachineSetupFailure: Machine m-1 configuration failure',
      `WindowsInstance wmco/win-5 Warning InstanceSetupFailure: ${failing}`,
    ],
  ],
  [
    'of a Machine that refuses our key',
    { kind: 'Machine' },
    'HOST_REFUSED_KEY',
    [
      'Machine openshift-machine-api/m-1 Warning MachineSetupFailure: Machine m-1 authentication failure',
      'WindowsInstance wmco/win-5 Warning InstanceSetupFailure: HOST_REFUSED_KEY: 10.0.0.5: it is so. Do this.',
    ],
  ],
  [
    'with another host key',
    {},
    'HOST_KEY_CHANGED',
    [
      'ConfigMap wmco/windows-instances Warning InstanceSetupFailure: HOST_KEY_CHANGED: 10.0.0.5: it is so. Do this.',
      'WindowsInstance wmco/win-5 Warning InstanceSetupFailure: HOST_KEY_CHANGED: 10.0.0.5: it is so. Do this.',
      'ConfigMap wmco/windows-instances Warning SSHHostKeyChanged: Host 10.0.0.5 shows another SSH host key than the pinned one. Do this.',
      'WindowsInstance wmco/win-5 Warning SSHHostKeyChanged: Host 10.0.0.5 shows another SSH host key than the pinned one. Do this.',
    ],
  ],
  ['that is known already', { condition: { reason: 'HOST_DISK_FULL' } }, 'HOST_DISK_FULL', []],
  ['that is another than before', { condition: { reason: 'HOST_UNREACHABLE' } }, 'HOST_DISK_FULL', onBoth],
  [
    'that was only feared before',
    { condition: { reason: 'HOST_DISK_FULL', status: 'Unknown' } },
    'HOST_DISK_FULL',
    onBoth,
  ],
];
for (const [name, over, code, want] of failures) {
  test(`a failure ${name}`, () => expect(lines(failureEvents(instance(over), error(code)))).toEqual(want));
}

const step = (name: string, minutes: number): TimelineStep => ({ name, started: ago(minutes), attempts: 1 });
const patience: [string, Over, ErrorCode, boolean][] = [
  ['a new Machine, at the first attempt', { kind: 'Machine' }, 'HOST_UNREACHABLE', true],
  [
    'a new Machine, within five minutes',
    { kind: 'Machine', timeline: [step('connect', 4.9)] },
    'HOST_REFUSED_KEY',
    true,
  ],
  ['a Machine after five minutes', { kind: 'Machine', timeline: [step('connect', 5)] }, 'HOST_REFUSED_KEY', false],
  ['a new Machine with another host key', { kind: 'Machine' }, 'HOST_KEY_CHANGED', false],
  ['a new Machine that fails later', { kind: 'Machine' }, 'HOST_DISK_FULL', false],
  ['a listed host', {}, 'HOST_UNREACHABLE', false],
  ['a host that was told to reboot', { reboot: true, timeline: [step('reboot', 2)] }, 'HOST_UNREACHABLE', true],
  [
    'a host that was told to reboot for its settings',
    { reboot: true, timeline: [step('reboot for settings', 29)] },
    'HOST_HANDSHAKE_FAILED',
    true,
  ],
  [
    'a host that was told to reboot long ago',
    { reboot: true, timeline: [step('reboot', 31)] },
    'HOST_UNREACHABLE',
    false,
  ],
  ['a host that was rebooted and is done with it', { timeline: [step('reboot', 2)] }, 'HOST_UNREACHABLE', false],
  [
    'a host that was told to reboot and does something else wrong',
    { reboot: true, timeline: [step('reboot', 2)] },
    'CONTAINERS_FEATURE_MISSING',
    false,
  ],
];
for (const [name, over, code, want] of patience) {
  test(`${want ? 'has' : 'has no'} patience with ${name}`, () => {
    expect(isTransientFailure(instance(over), error(code), nowMs)).toBe(want);
  });
}
