import { expect, test } from 'vitest';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import {
  type InstanceIdentity,
  type JourneyName,
  journeyNames,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { type Decision, decide, credentialsMs, type LifecycleFacts } from './decide.ts';

const node = (annotations: Record<string, string> = {}): NodeView => ({
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations,
  addresses: [],
  ready: true,
  unschedulable: false,
});
const nowMs = Date.parse('2026-03-01T12:00:00Z');
const [minute, hour] = [60_000, 3_600_000];
const at = (ms: number) => new Date(nowMs + ms).toISOString();
const certified: InstanceIdentity = { keyHash: 'a', installed: at(-hour), certificateEnds: at(hour) };

const host = { name: 'win-5', addresses: ['10.0.0.5'] };
const instance = (
  over: Partial<WindowsInstance['spec']> = {},
  metadata: WindowsInstance['metadata'] = {},
  agent: InstanceIdentity | undefined = certified,
): WindowsInstance => ({
  metadata: { name: 'win-5', ...metadata },
  spec: { address: '10.0.0.5', username: 'Administrator', ...over },
  status: { host, ...(agent && { agent }) },
});
const deleted = { deletionTimestamp: '2026-03-01T12:00:00Z' };
const { version, desiredVersion, cordoned } = nodeAnnotation;
const journeys = new Set(['adopt', 'configure', 'reconnect'] as const);

const cases: [string, WindowsInstance, NodeView | undefined, Decision['do']][] = [
  ['configures a host without a Node', instance(), undefined, 'configure'],
  ['configures a Node that nobody has finished', instance(), node({ [desiredVersion]: 'v2' }), 'configure'],
  [
    'configures a Node of which only an older version is desired',
    instance(),
    node({ [desiredVersion]: 'v1' }),
    'configure',
  ],
  ['reports a Node of this version', instance(), node({ [version]: 'v2' }), 'report'],
  ['reports a Node of another version, and leaves it as it is', instance(), node({ [version]: 'v1' }), 'report'],
  ['reports a Node with an empty version like any other', instance(), node({ [version]: '' }), 'report'],
  [
    'releases a Node that was finished and is still held back',
    instance(),
    node({ [version]: 'v2', [cordoned]: '' }),
    'release',
  ],
  [
    'releases a Node of another version, as after a canceled removal',
    instance(),
    node({ [version]: 'v1', [cordoned]: '' }),
    'release',
  ],
  ['goes on with a Node that is held back and not finished', instance(), node({ [cordoned]: '' }), 'configure'],
  ['leaves a host alone that is about to go', instance({}, deleted), undefined, 'leave'],
  ['leaves a Node alone whose instance is about to go', instance({}, deleted), node({ [version]: 'v2' }), 'leave'],
  ['does nothing to a paused host', instance({ paused: true }), undefined, 'pause'],
  ['does nothing to a paused Node', instance({ paused: true }), node({ [version]: 'v2', [cordoned]: '' }), 'pause'],
  ['leaves a paused host that is about to go', instance({ paused: true }, deleted), undefined, 'leave'],
  ['configures a host that is said not to be paused', instance({ paused: false }), undefined, 'configure'],
];
for (const [name, object, seen, want] of cases) {
  test(name, () =>
    expect(decide({ instance: object, node: seen, version: 'v2', problem: undefined, nowMs, journeys }).do).toBe(want),
  );
}

test('reports why it leaves a host alone', () => {
  const decision = decide({
    instance: instance({}, deleted),
    node: undefined,
    version: 'v2',
    problem: undefined,
    nowMs,
    journeys,
  });
  expect(decision).toEqual({ do: 'leave', why: 'it is being deleted' });
});

const configured = node({ [version]: 'v2' });
const withAgent = (over: Partial<InstanceIdentity>, spec: Partial<WindowsInstance['spec']> = {}) => {
  const { certificateEnds, ...agent } = { ...certified, ...over };
  return instance(spec, {}, { ...agent, ...(certificateEnds && { certificateEnds }) });
};
const withStatus = (status: WindowsInstanceStatus): WindowsInstance => ({ ...instance(), status });
const unrecorded = withStatus({ node: 'win-5', host });

const ended: WindowsInstanceStatus = { agent: { ...certified, certificateEnds: at(-1) } };
const recordedAs = (recorded: string, more: WindowsInstanceStatus) =>
  withStatus({ node: 'win-5', nodeUID: 'u', host, version: recorded, ...more });

const identities: [string, WindowsInstance, NodeView, Decision['do']][] = [
  ['reconnects an agent whose key is not recorded', unrecorded, configured, 'reconnect'],
  ['reconnects an agent whose certificate has ended', withAgent({ certificateEnds: at(-1) }), configured, 'reconnect'],
  ['reconnects it in the very moment of the end', withAgent({ certificateEnds: at(0) }), configured, 'reconnect'],
  ['leaves an agent whose certificate still lives', withAgent({ certificateEnds: at(1) }), configured, 'report'],
  [
    'waits half an hour for the first certificate',
    withAgent({ certificateEnds: '', installed: at(-30 * minute + 1) }),
    configured,
    'report',
  ],
  [
    'reconnects an agent that got no certificate within half an hour',
    withAgent({ certificateEnds: '', installed: at(-30 * minute) }),
    configured,
    'reconnect',
  ],
  [
    'reconnects an agent of which nobody can say when it was installed',
    withAgent({ certificateEnds: '', installed: '?' }),
    configured,
    'reconnect',
  ],
  [
    'reconnects a Node that is not ready, too',
    withAgent({ certificateEnds: at(-1) }),
    { ...configured, ready: false },
    'reconnect',
  ],
  [
    'does not reconnect a Node of another version, whose agent is not ours',
    unrecorded,
    node({ [version]: 'v1' }),
    'report',
  ],
  [
    'adopts a Node of another version whose host is not recorded',
    withStatus({ node: 'win-5' }),
    node({ [version]: 'v1' }),
    'adopt',
  ],
  ['adopts a Node of this version whose host is not recorded', withStatus({ node: 'win-5' }), configured, 'adopt'],
  ['configures an unfinished Node whose host is not recorded', withStatus({ node: 'win-5' }), node(), 'configure'],
  ['does not reconnect a paused host', withAgent({ certificateEnds: at(-1) }, { paused: true }), configured, 'pause'],
  [
    'reconnects an agent whose Node is still held back',
    withAgent({ certificateEnds: at(-1) }),
    node({ [version]: 'v2', [cordoned]: '' }),
    'reconnect',
  ],
  ...['v1', '', 'what the Node likes'].map((said): [string, WindowsInstance, NodeView, Decision['do']] => [
    `reconnects an agent of ours whose Node says that its version is '${said}'`,
    withAgent({ certificateEnds: at(-1) }),
    node({ [version]: said }),
    'reconnect',
  ]),
  ['reconnects an agent whose Node has lost its version', recordedAs('v2', ended), node(), 'reconnect'],
  ['reconnects an agent of another version whose Node has lost it', recordedAs('v1', ended), node(), 'reconnect'],
  ['first sets up a Node that was made again', recordedAs('v2', { ...ended, nodeUID: 'former' }), node(), 'configure'],
  ['goes on with a Node that was never finished', withStatus({ host, ...ended }), node(), 'configure'],
  [
    'does not reconnect an agent of another operator because its Node calls itself ours',
    recordedAs('v1', {}),
    configured,
    'report',
  ],
  [
    'reconnects an agent of ours whose key is not recorded, whatever its Node says',
    recordedAs('v2', {}),
    node({ [version]: 'v1' }),
    'reconnect',
  ],
];
for (const [name, object, seen, want] of identities) {
  test(name, () =>
    expect(decide({ instance: object, node: seen, version: 'v2', problem: undefined, nowMs, journeys }).do).toBe(want),
  );
}

test('lets pods come before it reconnects, where a finished Node is held back', () => {
  const object = withAgent({ certificateEnds: at(-1) });
  const decided = (said: string) =>
    decide({
      instance: object,
      node: node({ [version]: said, [cordoned]: '' }),
      version: 'v2',
      problem: undefined,
      nowMs,
      journeys,
    });
  expect(decided('v2')).toMatchObject({ do: 'reconnect', held: { name: 'win-5' } });
  expect(decided('v1')).toMatchObject({ do: 'reconnect', held: { name: 'win-5' } });
  expect(decided('')).toMatchObject({ do: 'reconnect' });
});

const problem = (code: ErrorCode) => new AppError(code, 'x', { remedy: 'y' });
const rejected: [name: string, code: ErrorCode, of: NodeView | undefined, want: Decision['do']][] = [
  ['leaves a rejected host', 'INSTANCE_ENTRY_MALFORMED', undefined, 'leave'],
  ['leaves a rejected host whose Node is not finished', 'PRIVATE_KEY_MISSING', node({}), 'leave'],
  ['reports the Node of a host whose entry broke later', 'INSTANCE_ENTRY_MALFORMED', configured, 'report'],
  ['leaves a Node that another instance reports', 'INSTANCE_DUPLICATE', configured, 'leave'],
];
for (const [name, code, of, want] of rejected) {
  test(name, () => {
    const object = withAgent({ certificateEnds: at(5000) });
    const decision = decide({ instance: object, node: of, version: 'v2', problem: problem(code), nowMs, journeys });
    expect(decision.do).toBe(want);
    if (decision.do === 'leave') expect(decision.why).toContain(code);
  });
}

const out = node({ [cordoned]: '', [nodeAnnotation.rebootRequired]: '' });
const begun: [what: string, status: WindowsInstanceStatus, of: NodeView][] = [
  ['upgrade', { upgrade: { from: 'v1', to: 'v2', activated: at(-1) } }, out],
  [
    'rollback',
    { upgrade: { from: 'v1', to: 'v2', activated: at(-1), failed: { code: 'X', message: '', at: at(0) } } },
    out,
  ],
  ['reboot', {}, node({ ...out.annotations, [version]: 'v2' })],
];
for (const [what, status, of] of begun) {
  test(`finishes the ${what} of a host that is rejected meanwhile, unless another instance has the host`, () => {
    const journey = { name: what as JourneyName, cause: '', started: '' };
    const object = recordedAs(what === 'reboot' ? 'v2' : 'v1', { agent: certified, ...status, journey });
    const decided = (code: ErrorCode) => {
      const problem = new AppError(code, 'x', { remedy: 'y' });
      return decide({ instance: object, node: of, version: 'v2', problem, nowMs, journeys: new Set(journeyNames) }).do;
    };
    expect([decided('INSTANCE_ENTRY_MALFORMED'), decided('INSTANCE_DUPLICATE')]).toEqual([what, 'leave']);
  });
}

test('does not reconnect a rejected host', () => {
  const seen = { instance: withAgent({ certificateEnds: at(-1) }), node: configured, version: 'v2', nowMs, journeys };
  expect(decide({ ...seen, problem: undefined }).do).toBe('reconnect');
  expect(decide({ ...seen, problem: problem('PRIVATE_KEY_MISSING') }).do).toBe('leave');
});

const quiet: [string, WindowsInstance, number | undefined][] = [
  ['until the end of the certificate', withAgent({ certificateEnds: at(5000) }), 5000],
  ['until the first certificate is overdue', withAgent({ certificateEnds: '', installed: at(0) }), 30 * minute],
  ['for good without an agent of ours', unrecorded, undefined],
  ['not at all once it has ended', withAgent({ certificateEnds: at(-1) }), undefined],
];
for (const [name, object, want] of quiet) {
  test(`nothing can run out ${name}`, () => expect(credentialsMs({ instance: object, nowMs })).toBe(want));
}

const step = { name: 'connect', started: at(-hour), attempts: 1 };
const running = (name: JourneyName) => ({ journey: { name, cause: 'x', started: at(-hour) } });
const orphanCases: [string, WindowsInstanceStatus, hasOrphans: boolean, Decision['do']][] = [
  ['adopts a new host where orphan Nodes are', {}, true, 'adopt'],
  ['configures a new host where no orphan Nodes are', {}, false, 'configure'],
  ['adopts a host whose adoption failed', { phase: 'Failed', ...running('adopt') }, true, 'adopt'],
  ['goes on with a host whose configuration failed', { phase: 'Failed', ...running('configure') }, true, 'configure'],
  ['goes on with one that an earlier version began', { phase: 'Configuring', timeline: [step] }, true, 'configure'],
  ['goes on with one that failed in an earlier version', { phase: 'Failed', timeline: [step] }, true, 'configure'],
  ['adopts a host that was rejected before', { phase: 'Failed' }, true, 'adopt'],
  ['configures a recorded host whose Node is gone', { host }, true, 'configure'],
  ['configures a host with a certificate whose Node is gone', { certifiedName: 'win-5' }, true, 'configure'],
];
for (const [name, status, hasOrphans, want] of orphanCases) {
  test(name, () => {
    const facts = { instance: withStatus(status), node: undefined, version: 'v2', problem: undefined, nowMs, journeys };
    expect(decide({ ...facts, hasOrphans }).do).toBe(want);
  });
}

const all = new Set(journeyNames);
const paused = instance({ paused: true });
const nexts: [string, Partial<LifecycleFacts>, string][] = [
  ['a journey', { node: undefined }, 'configure, because it has no Node'],
  ['nothing', {}, 'nothing is due'],
  ['a removal', { removal: 'its entry is gone' }, 'remove, because its entry is gone'],
  [
    'a removal that waits',
    { removal: 'its entry is gone', gates: { remove: 'win-7 is out of service' } },
    'remove, because its entry is gone; it waits: win-7 is out of service',
  ],
  [
    'a rejected host',
    { node: undefined, problem: problem('PRIVATE_KEY_MISSING') },
    'nothing, because it is not accepted: PRIVATE_KEY_MISSING',
  ],
];
for (const [about, over, next] of nexts) {
  test(`a paused host says what would be done: ${about}`, () => {
    const facts = { instance: paused, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
    expect(decide({ ...facts, ...over })).toEqual({ do: 'pause', next });
  });
}

const named = { ...configured, annotations: { ...configured.annotations, [nodeAnnotation.pubKeyHash]: 'a' } };
const contents: [string, LifecycleFacts['desired'], LifecycleFacts['given'], Decision['do']][] = [
  ['a new key', { keyHash: 'b' }, { keyHash: 'a' }, 'rekey'],
  ['other services', { servicesHash: 'b' }, { servicesHash: 'a' }, 'restart'],
  ['services that were never recorded', { servicesHash: 'b' }, {}, 'restart'],
  ['other files', { fileHash: 'b' }, { fileHash: 'a' }, 'refresh'],
  ['other files before other services', { fileHash: 'b', servicesHash: 'b' }, {}, 'refresh'],
  ['a new key before other files', { keyHash: 'b', fileHash: 'b' }, { keyHash: 'a', fileHash: 'a' }, 'rekey'],
  ['nothing new', { keyHash: 'a', fileHash: 'a' }, { keyHash: 'a', fileHash: 'a' }, 'report'],
  ['a key that its Node names, and that was never recorded', { keyHash: 'a' }, {}, 'report'],
  ['files that were never recorded', { fileHash: 'a' }, {}, 'refresh'],
];
for (const [about, desired = {}, given = {}, want] of contents) {
  test(`a host is given ${about}: ${want}`, () => {
    const known = { ...instance(), status: { ...instance().status, version: 'v2' } };
    const facts = { instance: known, node: named, version: 'v2', problem: undefined, nowMs, journeys: all };
    expect(decide({ ...facts, desired, given }).do).toBe(want);
  });
}

const soaking = { from: 'v1', to: 'v2', staged: 'x', activated: 'x', ready: 'x' };
const unsettled: [string, WindowsInstanceStatus, NodeView | undefined, Decision['do']][] = [
  [
    'a host that waits for its upgrade gets files, but keeps its services',
    { version: 'v1' },
    node({ [version]: 'v1' }),
    'refresh',
  ],
  ['a node that soaks gets files', { version: 'v2', upgrade: soaking }, configured, 'refresh'],
  [
    'a host in the middle of a failed upgrade gets nothing',
    { version: 'v1', upgrade: { ...soaking, failed: { code: 'X', message: '', at: '' }, fromAgent: 'a' } },
    node({ [version]: 'v1' }),
    'wait',
  ],
];
test.each(unsettled)('%s', (_, status, seen, want) => {
  const known = { ...instance(), status: { ...instance().status, ...status } };
  const gates = { upgrade: 'budget', rollback: 'budget' };
  const facts = { instance: known, node: seen, version: 'v2', problem: undefined, nowMs, journeys: all, gates };
  const decision = decide({ ...facts, desired: { fileHash: 'b', servicesHash: 'b' }, given: {} });
  expect(decision.do === 'report' ? 'wait' : decision.do).toBe(want);
});

test('services are not restarted while a node soaks, nor with the services of another version', () => {
  for (const status of [{ version: 'v2', upgrade: soaking }, { version: 'v1' }]) {
    const known = { ...instance(), status: { ...instance().status, ...status } };
    const facts = { instance: known, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
    const gates = { upgrade: 'budget' };
    expect(decide({ ...facts, gates, desired: { servicesHash: 'b' }, given: {} }).do).toBe('report');
  }
});

const failed = { code: 'X', message: '', at: '' };
test.each([
  ['was staged for another version', { from: 'v2', to: 'v3', staged: 'x' }],
  ['went back from another version', { ...soaking, from: 'v2', to: 'v3', failed, rolledBack: 'x' }],
])('a host of this version that %s has its services restarted', (_, upgrade) => {
  const known = { ...instance(), status: { ...instance().status, version: 'v2', upgrade } };
  const facts = { instance: known, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
  expect(decide({ ...facts, desired: { servicesHash: 'b' }, given: { servicesHash: 'a' } }).do).toBe('restart');
});

test('a host whose services use a proxy that is gone keeps its files until they do not', () => {
  const known = { ...instance(), status: { ...instance().status, version: 'v2', upgrade: soaking } };
  const facts = { instance: known, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
  const desired = { fileHash: 'b', servicesHash: 'b', hasProxy: false };
  expect(decide({ ...facts, desired, given: { fileHash: 'a', servicesHash: 'a', hasProxy: true } }).do).toBe('report');
  expect(decide({ ...facts, desired, given: { fileHash: 'a', servicesHash: 'b', hasProxy: true } }).do).toBe('refresh');
});

test('an agent of the Go operator is replaced before it gets anything', () => {
  const known = { ...instance(), status: { host, version: 'v1' } };
  const facts = {
    instance: known,
    node: node({ [version]: 'v1' }),
    version: 'v2',
    problem: undefined,
    nowMs,
    journeys: all,
  };
  expect(decide({ ...facts, gates: { upgrade: 'budget' }, desired: { fileHash: 'b' }, given: {} }).do).toBe('report');
});
