import { asTable, type ParityCase, type Step, status, strategicPatch } from './case.ts';

const nodes = '/api/v1/nodes';
const node = `${nodes}/n-{id}`;
const makeNode: Step = { send: `POST ${nodes}`, body: { metadata: { name: 'n-{id}' } }, code: 201 };
const dropNode: Step = { send: `DELETE ${node}`, code: 200 };

export const nodeCases: readonly ParityCase[] = [
  {
    name: 'a new node is not ready',
    steps: [
      {
        ...makeNode,
        body: { metadata: { name: 'n-{id}', labels: { a: 'b' } }, spec: { unknown: 1 } },
        gives: {
          kind: 'Node',
          spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
          status: { nodeInfo: { kubeletVersion: '' }, daemonEndpoints: { kubeletEndpoint: { Port: 0 } } },
        },
        lacks: ['spec.unknown', 'metadata.namespace'],
      },
      dropNode,
    ],
  },
  {
    name: 'separates status and spec of a node',
    steps: [
      { ...makeNode, body: { metadata: { name: 'n-{id}' }, status: { phase: 'x' } } },
      {
        send: `PUT ${node}`,
        body: { metadata: { name: 'n-{id}' }, spec: { unschedulable: true }, status: { phase: 'y' } },
        code: 200,
        gives: { spec: { unschedulable: true }, status: { phase: 'x' } },
        lacks: ['spec.taints'],
      },
      {
        send: `PUT ${node}/status`,
        body: {
          metadata: { name: 'n-{id}', labels: { l: 'm' }, annotations: { q: 'r' } },
          spec: { unschedulable: false },
          status: { phase: 'z', conditions: [{ type: 'Ready', status: 'False' }] },
        },
        code: 200,
        gives: {
          metadata: { labels: { l: 'm' }, annotations: { q: 'r' } },
          spec: { unschedulable: true },
          status: { phase: 'z', conditions: [{ type: 'Ready', status: 'False' }] },
        },
      },
      { send: `GET ${node}/status`, code: 200, gives: { kind: 'Node', status: { phase: 'z' } } },
      dropNode,
    ],
  },
  {
    name: 'selects unschedulable nodes',
    steps: [
      { ...makeNode, body: { metadata: { name: 'n-{id}', labels: { own: '{id}' } } } },
      {
        send: `GET ${nodes}?labelSelector=own%3D{id}&fieldSelector=spec.unschedulable%3Dtrue`,
        code: 200,
        gives: { items: [] },
      },
      { send: `PATCH ${node}`, body: { spec: { unschedulable: true } }, code: 200 },
      {
        send: `GET ${nodes}?labelSelector=own%3D{id}&fieldSelector=spec.unschedulable%3Dtrue`,
        code: 200,
        gives: { items: [{ metadata: { name: 'n-{id}' } }] },
      },
      {
        send: `PATCH ${node}`,
        body: { spec: { unschedulable: false } },
        code: 200,
        lacks: ['spec.unschedulable'],
      },
      dropNode,
    ],
  },
  {
    name: 'validates taints',
    steps: [
      makeNode,
      {
        send: `PATCH ${node}`,
        body: { spec: { taints: [{ key: 'os', value: 'Windows' }] } },
        code: 422,
        gives: status('Invalid', /taints\[0\].effect: Required value/),
      },
      {
        send: `PATCH ${node}`,
        body: {
          spec: {
            taints: [
              { key: 'os', effect: 'NoSchedule' },
              { key: 'os', effect: 'NoSchedule' },
            ],
          },
        },
        code: 422,
        gives: status('Invalid', /taints must be unique by key and effect pair/),
      },
      {
        send: `PATCH ${node}`,
        type: strategicPatch,
        body: { spec: { taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] } },
        code: 200,
        gives: { spec: { taints: [{ key: 'os', value: 'Windows', effect: 'NoSchedule' }] } },
      },
      dropNode,
    ],
  },
  {
    name: 'the provider ID of a node is immutable',
    steps: [
      makeNode,
      { send: `PATCH ${node}`, body: { spec: { providerID: 'a://b' } }, code: 200 },
      {
        send: `PATCH ${node}`,
        body: { spec: { providerID: 'a://c' } },
        code: 422,
        gives: status(
          'Invalid',
          /spec.providerID: Forbidden: node updates may not change providerID except from "" to/,
        ),
      },
      dropNode,
    ],
  },
  {
    name: 'prints nodes as a table',
    steps: [
      {
        ...makeNode,
        body: {
          metadata: { name: 'n-{id}', labels: { 'node-role.kubernetes.io/worker': '' } },
          spec: { unschedulable: true },
          status: {
            conditions: [{ type: 'Ready', status: 'True' }],
            nodeInfo: { kubeletVersion: 'v1.2.3', osImage: 'Windows Server 2022' },
            addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
          },
        },
      },
      {
        send: `GET ${node}`,
        accept: asTable,
        code: 200,
        gives: {
          columnDefinitions: [
            { name: 'Name' },
            { name: 'Status' },
            { name: 'Roles' },
            { name: 'Age' },
            { name: 'Version' },
            { name: 'Internal-IP', priority: 1 },
            { name: 'External-IP', priority: 1 },
            { name: 'OS-Image', priority: 1 },
            { name: 'Kernel-Version', priority: 1 },
            { name: 'Container-Runtime', priority: 1 },
          ],
          rows: [
            {
              cells: [
                'n-{id}',
                'Ready,SchedulingDisabled',
                'worker',
                /./,
                'v1.2.3',
                '10.0.0.1',
                '<none>',
                'Windows Server 2022',
                '<unknown>',
                '<unknown>',
              ],
            },
          ],
        },
      },
      dropNode,
    ],
  },
];
