import { expect, test } from 'vitest';
import { created, objectOf, problems, row } from '../../../../test/kit/kind-checks.ts';
import { node } from './node.ts';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

const taints: [string, Record<string, unknown>, unknown[]][] = [
  ['none', {}, [notReady]],
  ['others', { taints: [{ key: 'os', effect: 'NoSchedule' }] }, [{ key: 'os', effect: 'NoSchedule' }, notReady]],
  ['the same', { taints: [notReady] }, [notReady]],
  [
    'the same with another effect',
    { taints: [{ ...notReady, effect: 'NoExecute' }] },
    [{ ...notReady, effect: 'NoExecute' }, notReady],
  ],
];
test.each(taints)('taints a new node that has %s', (_, spec, wanted) => {
  expect(created(node, { spec })['spec']).toEqual({ taints: wanted });
});

test('fills in the status of a node', () => {
  expect(created(node, { status: { nodeInfo: { osImage: 'Windows' } } })['status']).toEqual({
    daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
    nodeInfo: expect.objectContaining({ osImage: 'Windows', kubeletVersion: '', machineID: '' }),
  });
  expect(created(node, { status: { daemonEndpoints: { kubeletEndpoint: { Port: 10250 } } } })['status']).toMatchObject({
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
  });
});

const old = objectOf(node, { spec: { unschedulable: true }, status: { phase: 'old' } });
test('keeps the status when the node is changed, and the spec when the status is', () => {
  const next = objectOf(node, { spec: { unschedulable: false, providerID: '' }, status: { phase: 'new' } });
  expect(node.prepareUpdate(next, old, '')).toEqual(objectOf(node, { spec: {}, status: { phase: 'old' } }));
  expect(node.prepareUpdate(next, old, 'status')).toMatchObject({
    spec: { unschedulable: true },
    status: { phase: 'new' },
  });
});

const taint = (effect: string, key = 'k') => ({ key, effect });
const judged: [string, Record<string, unknown>, Record<string, unknown> | undefined, string[]][] = [
  ['nothing', {}, undefined, []],
  ['taints', { taints: [taint('NoSchedule'), taint('NoExecute'), taint('PreferNoSchedule', 'x')] }, undefined, []],
  ['a taint without effect', { taints: [{ key: 'k' }] }, undefined, ['metadata.taints[0].effect: Required value']],
  [
    'a taint of no effect',
    { taints: [taint('Never')] },
    undefined,
    [
      'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    'a taint twice',
    { taints: [taint('NoSchedule'), { ...taint('NoSchedule'), value: 'v' }] },
    undefined,
    [
      'metadata.taints[1]: Duplicate value: {"key":"k","effect":"NoSchedule","value":"v"}: taints must be unique by key and effect pair',
    ],
  ],
  ['a new provider', { providerID: 'a' }, {}, []],
  ['the same provider', { providerID: 'a' }, { providerID: 'a' }, []],
  [
    'another provider',
    { providerID: 'b' },
    { providerID: 'a' },
    [
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
      '[]: Forbidden: node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)',
    ],
  ],
];
test.each(judged)('judges a node with %s', (_, spec, before, wanted) => {
  expect(problems(node, { spec }, before === undefined ? undefined : { spec: before })).toEqual(wanted);
});

const ready = (status: string) => ({
  conditions: [
    { type: 'Other', status: 'True' },
    { type: 'Ready', status },
  ],
});
const rows: [string, Record<string, unknown>, object, Record<string, unknown>][] = [
  [
    'nothing known',
    {},
    {},
    { Status: 'Unknown', Roles: '<none>', Version: '', 'Internal-IP': '<none>', 'OS-Image': '<unknown>' },
  ],
  ['a ready node', { status: ready('True') }, {}, { Status: 'Ready' }],
  ['an unready node', { status: ready('False') }, {}, { Status: 'NotReady' }],
  ['a lost node', { status: ready('Unknown') }, {}, { Status: 'NotReady' }],
  [
    'a cordoned node',
    { status: ready('True'), spec: { unschedulable: true } },
    {},
    { Status: 'Ready,SchedulingDisabled' },
  ],
  [
    'roles',
    {},
    {
      labels: {
        'node-role.kubernetes.io/worker': '',
        'node-role.kubernetes.io/': '',
        'kubernetes.io/role': 'infra',
        other: 'x',
      },
    },
    { Roles: 'infra,worker' },
  ],
  [
    'addresses',
    {
      status: {
        addresses: [
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'ExternalIP', address: '1.2.3.4' },
        ],
      },
    },
    {},
    { 'Internal-IP': '10.0.0.1', 'External-IP': '1.2.3.4' },
  ],
  [
    'what runs there',
    { status: { nodeInfo: { kubeletVersion: 'v1', osImage: 'W', kernelVersion: 'k', containerRuntimeVersion: 'c' } } },
    {},
    { Version: 'v1', 'OS-Image': 'W', 'Kernel-Version': 'k', 'Container-Runtime': 'c' },
  ],
];
test.each(rows)('shows %s', (_, content, metadata, wanted) =>
  expect(row(node, content, metadata)).toMatchObject(wanted),
);

test('is selected by whether it takes pods', () => {
  const unschedulable = node.fields['spec.unschedulable'];
  expect(unschedulable?.(objectOf(node))).toBe('false');
  expect(unschedulable?.(old)).toBe('true');
});
