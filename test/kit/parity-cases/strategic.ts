import { core, given, type ParityCase, type Step, status, strategicPatch } from './case.ts';

const deployments = '/apis/apps/v1/namespaces/{ns}/deployments';

function deployment(pod: Record<string, unknown>): Step {
  const labels = { app: 'x' };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
  return { send: `POST ${deployments}`, body: { metadata: { name: 'd' }, spec }, code: 201 };
}

/** A patch of the pod template, and the expected spec. */
function patchPods(pod: Record<string, unknown>, gives: Record<string, unknown>): Step {
  return {
    send: `PATCH ${deployments}/d`,
    type: strategicPatch,
    body: { spec: { template: { spec: pod } } },
    code: 200,
    gives: { spec: { template: { spec: gives } } },
  };
}

const a = `PATCH ${core}/configmaps/a`;

function patchMetadata(metadata: Record<string, unknown>): Pick<Step, 'send' | 'type' | 'body' | 'code'> {
  return { send: a, type: strategicPatch, body: { metadata }, code: 200 };
}

const one = {
  name: 'one',
  image: 'i',
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
};
const two = { name: 'two', image: 'j' };

export const strategicCases: readonly ParityCase[] = [
  {
    name: 'changes one variable of one container by its name',
    steps: [
      deployment({ containers: [one, two] }),
      patchPods(
        { containers: [{ name: 'one', env: [{ name: 'B', value: '3' }] }] },
        {
          containers: [
            {
              name: 'one',
              image: 'i',
              env: [
                { name: 'A', value: '1' },
                { name: 'B', value: '3' },
              ],
            },
            { name: 'two', image: 'j' },
          ],
        },
      ),
      patchPods(
        { containers: [{ name: 'one', env: [{ name: 'A', $patch: 'delete' }] }] },
        { containers: [{ name: 'one', env: [{ name: 'B', value: '3' }] }, { name: 'two' }] },
      ),
      patchPods({ containers: [{ name: 'two', image: 'k' }] }, { containers: [{ image: 'i' }, { image: 'k' }] }),
    ],
  },
  {
    name: 'prepends new containers, and orders them by directive',
    steps: [
      deployment({ containers: [one, two] }),
      patchPods(
        { containers: [{ name: 'three', image: 'i' }] },
        { containers: [{ name: 'three' }, { name: 'one' }, { name: 'two' }] },
      ),
      patchPods(
        { '$setElementOrder/containers': [{ name: 'two' }, { name: 'three' }, { name: 'one' }] },
        { containers: [{ name: 'two' }, { name: 'three' }, { name: 'one' }] },
      ),
      patchPods(
        {
          '$setElementOrder/containers': [{ name: 'four' }, { name: 'two' }],
          containers: [
            { name: 'four', image: 'i' },
            { name: 'two', image: 'z' },
          ],
        },
        { containers: [{ name: 'four' }, { name: 'two', image: 'z' }, { name: 'three' }, { name: 'one' }] },
      ),
    ],
  },
  {
    name: 'deletes and replaces containers by directives',
    steps: [
      deployment({ containers: [one, two] }),
      patchPods({ containers: [{ name: 'one', $patch: 'delete' }] }, { containers: [{ name: 'two' }] }),
      patchPods(
        { containers: [{ $patch: 'replace' }, { name: 'three', image: 'i' }] },
        { containers: [{ name: 'three' }] },
      ),
    ],
  },
  {
    name: 'replaces lists without keys, and removes lists by null',
    steps: [
      deployment({
        containers: [one],
        tolerations: [{ key: 'a', operator: 'Exists' }],
        hostAliases: [{ ip: '1.1.1.1' }],
      }),
      patchPods(
        { tolerations: [{ key: 'b', operator: 'Exists' }], hostAliases: [{ ip: '2.2.2.2' }] },
        { tolerations: [{ key: 'b' }], hostAliases: [{ ip: '2.2.2.2' }, { ip: '1.1.1.1' }] },
      ),
      {
        ...patchPods({ tolerations: null, hostAliases: null }, {}),
        lacks: ['spec.template.spec.tolerations', 'spec.template.spec.hostAliases'],
      },
    ],
  },
  {
    name: 'changes the source of a volume by retaining keys',
    steps: [
      deployment({ containers: [one], volumes: [{ name: 'v', emptyDir: {} }] }),
      {
        ...patchPods(
          { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] },
          { volumes: [{ name: 'v', hostPath: { path: '/x' } }] },
        ),
        lacks: ['spec.template.spec.volumes.0.emptyDir'],
      },
      {
        send: `PATCH ${deployments}/d`,
        type: strategicPatch,
        body: { spec: { template: { spec: { volumes: [{ name: 'v', $retainKeys: ['name'], emptyDir: {} }] } } } },
        code: 400,
        gives: status('BadRequest'),
      },
    ],
  },
  {
    name: 'merges ports of a service by their numbers',
    steps: [
      {
        send: `POST ${core}/services`,
        body: {
          metadata: { name: 's' },
          spec: {
            ports: [
              { name: 'x', port: 80 },
              { name: 'y', port: 81 },
            ],
          },
        },
        code: 201,
      },
      {
        send: `PATCH ${core}/services/s`,
        type: strategicPatch,
        body: { spec: { ports: [{ port: 81, name: 'z' }] } },
        code: 200,
        gives: {
          spec: {
            ports: [
              { name: 'x', port: 80 },
              { name: 'z', port: 81 },
            ],
          },
        },
      },
    ],
  },
  {
    name: 'adds to and removes from lists of strings',
    steps: [
      given('a', {}, { finalizers: ['x.y/1', 'x.y/2'] }),
      patchMetadata({ finalizers: ['x.y/3', 'x.y/2'] }),
      {
        ...patchMetadata({ '$deleteFromPrimitiveList/finalizers': ['x.y/3', 'x.y/9'] }),
        gives: { metadata: { finalizers: ['x.y/1', 'x.y/2'] } },
      },
      {
        ...patchMetadata({ '$setElementOrder/finalizers': ['x.y/2', 'x.y/1'] }),
        gives: { metadata: { finalizers: ['x.y/2', 'x.y/1'] } },
      },
      { ...patchMetadata({ finalizers: null }), lacks: ['metadata.finalizers'] },
    ],
  },
  {
    name: 'replaces and empties maps by directives',
    steps: [
      given('a', { data: { k: 'v' } }, { labels: { a: '1', b: '2' } }),
      {
        ...patchMetadata({ labels: { $patch: 'replace', c: '3' } }),
        gives: { metadata: { labels: { c: '3' } } },
        lacks: ['metadata.labels.a', 'metadata.labels.$patch'],
      },
      { ...patchMetadata({ labels: { $patch: 'delete' } }), lacks: ['metadata.labels'] },
    ],
  },
  {
    name: 'replaces the taints and merges the addresses of a node',
    steps: [
      {
        send: 'POST /api/v1/nodes',
        body: { metadata: { name: 's-{id}' }, spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } },
        code: 201,
      },
      {
        send: 'PATCH /api/v1/nodes/s-{id}',
        type: strategicPatch,
        body: { spec: { taints: [{ key: 'b', effect: 'NoSchedule' }] } },
        code: 200,
        gives: { spec: { taints: [{ key: 'b', effect: 'NoSchedule' }] } },
      },
      {
        send: 'PATCH /api/v1/nodes/s-{id}/status',
        type: strategicPatch,
        body: { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } },
        code: 200,
      },
      {
        send: 'PATCH /api/v1/nodes/s-{id}/status',
        type: strategicPatch,
        body: { status: { addresses: [{ type: 'Hostname', address: 'h' }] } },
        code: 200,
        gives: {
          status: {
            addresses: [
              { type: 'Hostname', address: 'h' },
              { type: 'InternalIP', address: '10.0.0.1' },
            ],
          },
        },
      },
      { send: 'DELETE /api/v1/nodes/s-{id}', code: 200 },
    ],
  },
  {
    name: 'rejects an invalid strategic merge patch',
    steps: [
      given('a'),
      { send: a, type: strategicPatch, body: [], code: 400, gives: status('BadRequest') },
      { send: a, type: strategicPatch, body: '5', code: 400, gives: status('BadRequest') },
      { send: a, type: strategicPatch, body: '{bad', code: 400, gives: status('BadRequest') },
    ],
  },
];
