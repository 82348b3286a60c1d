import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { journeyNames } from '#contract/windows-instance/resource.ts';
import { type Decision, decide, type LifecycleFacts } from './decide.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const all = new Set(journeyNames);
const agent = { keyHash: 'a', installed: '2026-03-01T11:00:00Z', certificateEnds: '2026-03-01T13:00:00Z' };
const instance = (): WindowsInstance => ({
  metadata: { name: 'win-5' },
  spec: { address: '10.0.0.5', username: 'Administrator' },
  status: { host: { name: 'win-5', addresses: ['10.0.0.5'] }, agent },
});
const configured: NodeView = {
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations: { [nodeAnnotation.version]: 'v2' },
  addresses: [],
  ready: true,
  unschedulable: false,
};

/** The Node names the key with this hash. */
function marked(hash: string): NodeView {
  return { ...configured, annotations: { ...configured.annotations, [nodeAnnotation.pubKeyHash]: hash } };
}

const [isOther, isFormer, isUnmarked] = [
  'its SSH key is not the current one',
  'a former SSH key is still authorized on the host',
  'its Node has the hash of another SSH key',
];
const keyRows: [string, LifecycleFacts['given'], Partial<LifecycleFacts>, string | undefined][] = [
  ['the record names another key, whatever the Node says', { keyHash: 'a' }, { node: marked('b') }, isOther],
  ['the Node names another key, and none is recorded', {}, { node: marked('a') }, isOther],
  ['nothing names a key', {}, {}, isOther],
  ['the Node names none', { keyHash: 'b' }, {}, isUnmarked],
  ['the Node names another one', { keyHash: 'b' }, { node: marked('a') }, isUnmarked],
  ['a former key has to go', { keyHash: 'b', hasFormerKeys: true }, { node: marked('b') }, isFormer],
  ['all is as it should be', { keyHash: 'b' }, { node: marked('b') }, undefined],
  ['the current key is unknown', { keyHash: 'a' }, { desired: {} }, undefined],
  ['it has no Node', { keyHash: 'a' }, { node: undefined }, undefined],
];
for (const [about, given = {}, over, want] of keyRows) {
  test(`a host is asked for the current key: ${about}: ${want ?? 'no'}`, () => {
    const known = { ...instance(), status: { ...instance().status, version: 'v2' } };
    const facts = { instance: known, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
    const decision = decide({ ...facts, desired: { keyHash: 'b' }, given, ...over });
    const cause = 'cause' in decision && decision.do === 'rekey' ? decision.cause : undefined;
    expect(cause).toBe(want);
  });
}

const rekeyless: [string, (known: WindowsInstance) => Partial<LifecycleFacts>, Decision['do']][] = [
  [
    'of a Machine',
    known => ({ instance: { ...known, spec: { ...known.spec, source: { kind: 'Machine', name: 'm' } } } }),
    'report',
  ],
  ['that is paused', known => ({ instance: { ...known, spec: { ...known.spec, paused: true } } }), 'pause'],
  [
    'that is being deleted',
    known => ({ instance: { ...known, metadata: { ...known.metadata, deletionTimestamp: 'x' } } }),
    'leave',
  ],
  ['that is being removed', () => ({ removal: 'its entry is gone' }), 'remove'],
  [
    'that is not configured completely',
    () => ({ node: { ...configured, annotations: {} }, version: 'v2' }),
    'configure',
  ],
  ['that has rejected the key a moment ago', () => ({ gates: { rekey: 'later' } }), 'report'],
  ['of an operator that does not know the journey', () => ({ journeys: new Set(['configure'] as const) }), 'report'],
];
for (const [about, over, want] of rekeyless) {
  test(`a host ${about} is not asked for another key: ${want}`, () => {
    const known = { ...instance(), status: { ...instance().status, version: 'v2' } };
    const facts = { instance: known, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
    expect(decide({ ...facts, desired: { keyHash: 'b' }, given: { keyHash: 'a' }, ...over(known) }).do).toBe(want);
  });
}

test('a host that waits for an administrator gets changed files meanwhile', () => {
  const known = { ...instance(), status: { ...instance().status, version: 'v2' } };
  const facts = { instance: known, node: marked('a'), version: 'v2', problem: undefined, nowMs, journeys: all };
  const desired = { keyHash: 'b', fileHash: 'b' };
  const decision = decide({ ...facts, desired, given: { keyHash: 'a', fileHash: 'a' }, gates: { rekey: 'later' } });
  expect(decision).toMatchObject({ do: 'refresh', waits: [{ journey: 'rekey', why: 'later' }] });
});
