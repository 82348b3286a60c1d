import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ErrorCode } from '#base/error-codes.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { noReservations } from '#contract/reserved.ts';
import { checkName, type NameFacts } from './name-check.ts';

const windows = { 'kubernetes.io/os': 'windows' };
const node = (
  annotations: Record<string, string> = { [nodeAnnotation.pubKeyHash]: 'h' },
  labels: Record<string, string> = windows,
): NodeView => ({
  name: 'win-5',
  uid: 'u',
  labels,
  annotations,
  addresses: [{ type: 'InternalIP', address: '10.0.0.5' }],
  ready: true,
  unschedulable: false,
});
const facts = (over: Partial<NameFacts> = {}): NameFacts => ({
  address: '10.0.0.5',
  name: 'win-5',
  problems: [],
  reserved: noReservations,
  holder: undefined,
  addressOf: undefined,
  wantedLabel: undefined,
  dialed: '10.0.0.5',
  machineNames: undefined,
  recorded: undefined,
  node: undefined,
  hostKey: 'AAAA',
  ...over,
});
const own = { name: 'win-5', hasNode: true, isCertified: false };
const gone = { name: 'old', hasNode: false, isCertified: false };
const { pubKeyHash, desiredVersion, version, sshHostKey } = nodeAnnotation;

const fine: [string, Partial<NameFacts>][] = [
  ['a free name', {}],
  ['a full name', { name: 'win-5.corp.example.com' }],
  ['the recorded name', { recorded: own, node: node() }],
  ['the recorded name, whatever is on the Node', { recorded: own, node: node({ [sshHostKey]: 'BBBB' }, {}) }],
  ['the recorded name, though others have been given it since', { recorded: own, addressOf: 'WindowsInstance b' }],
  ['the recorded name without its Node', { recorded: { ...own, hasNode: false } }],
  ['another name when the former Node is gone', { recorded: gone }],
  ['a Node of ours with the same host key', { node: node({ [version]: 'v1', [sshHostKey]: 'AAAA' }) }],
  [
    'a Node of ours with the same host key that reports another address, which no other instance has',
    { node: node({ [version]: 'v1', [sshHostKey]: 'AAAA' }), dialed: '10.0.0.9' },
  ],
  [
    'a Node of ours that reports the address of another instance, too',
    { node: node({ [version]: 'v1', [sshHostKey]: 'AAAA' }), nodeOf: 'win-6' },
  ],
  [
    'a host that is taken over from another instance with another address',
    { node: node({ [version]: 'v1', [sshHostKey]: 'AAAA' }), dialed: '10.0.0.9', nodeOf: 'b', isTakenOver: true },
  ],
  ['a Node of ours without a host key', { node: node({ [desiredVersion]: 'v1' }) }],
  ['a Node of ours with an empty host key', { node: node({ [pubKeyHash]: '', [sshHostKey]: '' }) }],
  ['a Node that registered again after a forced removal', { node: { ...node({}), isRemoved: true } }],
  ['a name that the cloud has given to the Machine', { machineNames: ['10-0-0-5.internal', 'WIN-5'] }],
];
for (const [name, over] of fine) test(`lets pass ${name}`, () => expect(checkName(facts(over))).toBeUndefined());

const reserved = {
  networks: ['172.30.0.0/16'],
  addresses: ['10.0.0.1'],
  names: ['api.east.example.com'],
  domains: ['apps.east.example.com'],
};
const refused: [string, ErrorCode, message: string, Partial<NameFacts>][] = [
  [
    'a name that is an address of another machine',
    'NODE_NAME_TAKEN',
    'belongs to Node cp-1',
    { name: 'cp-1.corp.example', addressOf: 'Node cp-1' },
  ],
  ['another name than spec.hostname', 'NODE_NAME_CHANGED', 'spec.hostname is m-1', { wantedLabel: 'm-1' }],
  [
    'a Node of ours without a host key that reports another address',
    'HOST_NAME_TAKEN',
    'does not report the address',
    { node: node({ [version]: 'v1' }), dialed: '10.0.0.9' },
  ],
  [
    'a name that the host does not know',
    'HOST_VALUE_UNKNOWN',
    'unknown: node name: timeout',
    { name: '', problems: ['node name: timeout'] },
  ],
  ['a name with an underscore', 'HOST_NAME_INVALID', '"win_5"', { name: 'win_5' }],
  ['a name in capitals', 'HOST_NAME_INVALID', '"WIN-5"', { name: 'WIN-5' }],
  ['a name in other letters', 'HOST_NAME_INVALID', '"wín"', { name: 'wín' }],
  ['a wildcard', 'HOST_NAME_INVALID', '*', { name: '*.example.com' }],
  ['the address of another host', 'NODE_NAME_FORBIDDEN', '10.0.0.2 is an address', { name: '10.0.0.2' }],
  ['the name of the API server in every cluster', 'NODE_NAME_FORBIDDEN', 'kubernetes', { name: 'kubernetes' }],
  [
    'the service of the API server',
    'NODE_NAME_FORBIDDEN',
    'kubernetes.default.svc is a name of the API server',
    { name: 'kubernetes.default.svc' },
  ],
  ['a service', 'NODE_NAME_FORBIDDEN', 'a service', { name: 'db.prod.svc' }],
  ['a name of the cluster domain', 'NODE_NAME_FORBIDDEN', 'a service', { name: 'x.cluster.local' }],
  ['localhost', 'NODE_NAME_FORBIDDEN', 'localhost', { name: 'localhost' }],
  [
    'the public name of the API server',
    'NODE_NAME_FORBIDDEN',
    'API server',
    { name: 'api.east.example.com', reserved },
  ],
  ['a name of the ingress', 'NODE_NAME_FORBIDDEN', 'domain', { name: 'console.apps.east.example.com', reserved }],
  ['an address of the service network', 'NODE_NAME_FORBIDDEN', '172.30.0.0/16', { name: '172.30.0.1', reserved }],
  ['the address of the API server', 'NODE_NAME_FORBIDDEN', 'an address', { name: '10.0.0.1', reserved }],
  ['the name of another instance', 'NODE_NAME_TAKEN', 'win-5 is already the Node of other', { holder: 'other' }],
  [
    'the name of another instance, although its Node looks like the own one',
    'NODE_NAME_TAKEN',
    'other',
    { holder: 'other', node: node({ [version]: 'v1', [sshHostKey]: 'AAAA' }) },
  ],
  [
    'a name that is not one of the Machine',
    'NODE_NAME_CHANGED',
    'its Machine is win-6 or win-6.internal',
    { machineNames: ['win-6', 'win-6.internal'] },
  ],
  [
    'another name than the one under which the host has joined',
    'NODE_NAME_CHANGED',
    'joined as old',
    { recorded: { ...gone, hasNode: true } },
  ],
  [
    'another name than the one for which it has got a certificate, also without its Node',
    'NODE_NAME_CHANGED',
    'joined as old',
    { recorded: { ...gone, isCertified: true } },
  ],
  ['the name of a Linux node', 'HOST_NAME_TAKEN', 'not a Windows node', { node: node({ [version]: 'v1' }, {}) }],
  [
    'a Node that registered again after a forced removal and reports another address',
    'HOST_NAME_TAKEN',
    'does not report the address',
    { node: { ...node({}), isRemoved: true }, dialed: '10.0.0.9' },
  ],
  [
    'a Node with the host key of this host at the address of another instance',
    'HOST_NAME_TAKEN',
    'at that of WindowsInstance win-6',
    { node: node({ [version]: 'v1', [sshHostKey]: 'AAAA' }), dialed: '10.0.0.9', nodeOf: 'win-6' },
  ],
  ['the name of a Node of another tool', 'HOST_NAME_TAKEN', 'not configured by this operator', { node: node({}) }],
  [
    'the name of a Node with another host key',
    'HOST_NAME_TAKEN',
    'another SSH host key',
    { node: node({ [version]: 'v1', [sshHostKey]: 'BBBB' }) },
  ],
  [
    'the name of such a Node when another one is recorded that is gone',
    'HOST_NAME_TAKEN',
    'another SSH host key',
    { node: node({ [version]: 'v1', [sshHostKey]: 'BBBB' }), recorded: gone },
  ],
];
for (const [name, code, message, over] of refused) {
  test(`refuses ${name}`, () => {
    const error = checkName(facts(over));
    expect(error?.code).toBe(code);
    expect(error?.message).toContain('10.0.0.5: ');
    expect(error?.message).toContain(message);
    expect(error?.remedy).toMatch(/^[A-Z].*\.$/);
  });
}

test('a host that another instance holds, or that lacks the name of the cluster, never passes', () => {
  const text = fc.oneof(fc.string(), fc.domain(), fc.constantFrom('win-5', 'kubernetes', 'db.prod.svc'));
  fc.assert(
    fc.property(text, fc.option(fc.constant('other'), { nil: undefined }), (name, holder) => {
      const problem = checkName(facts({ name, holder }));
      if (holder !== undefined) expect(problem).toBeDefined();
      if (problem === undefined) expect(name).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
      if (problem === undefined) expect(name.split('.').slice(1)).not.toContain('svc');
    }),
    { numRuns: 1000 },
  );
});
