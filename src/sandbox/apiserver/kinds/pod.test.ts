import { expect, test } from 'vitest';
import { created, objectOf, problems, row } from '../../../../test/kit/kind-checks.ts';
import { pod, withPodDefaults } from './pod.ts';

const container = (more: Record<string, unknown> = {}) => ({ name: 'c', image: 'i:1', ...more });
const spec = (more: Record<string, unknown> = {}) => ({ containers: [container()], ...more });
const specOf = (content: Record<string, unknown>) => created(pod, { spec: content })['spec'] as Record<string, unknown>;

test('fills in the spec of a pod and begins its status', () => {
  expect(created(pod, { spec: spec(), status: { phase: 'Running' } })).toMatchObject({
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
});

test('keeps explicit values of a pod', () => {
  const said = {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    dnsPolicy: 'Default',
    priority: 5,
    enableServiceLinks: false,
    initContainers: [{ name: 'i', image: 'j', imagePullPolicy: 'Never' }],
  };
  expect(specOf(spec(said))).toMatchObject({ ...said, initContainers: [{ imagePullPolicy: 'Never', resources: {} }] });
});

const images: [string, string][] = [
  ['busybox', 'Always'],
  ['busybox:latest', 'Always'],
  ['busybox:1', 'IfNotPresent'],
  ['example.com:5000/busybox', 'Always'],
  ['example.com:5000/busybox:1', 'IfNotPresent'],
  ['busybox@sha256:abc', 'IfNotPresent'],
];
test.each(images)('pulls %s %s', (image, policy) => {
  expect(specOf({ containers: [{ name: 'c', image }] })['containers']).toMatchObject([{ imagePullPolicy: policy }]);
});

test('accepts both names of the service account field', () => {
  expect(withPodDefaults({ serviceAccountName: 's' })).toMatchObject({ serviceAccount: 's', serviceAccountName: 's' });
  expect(withPodDefaults({ serviceAccount: 's' })).toMatchObject({ serviceAccount: 's', serviceAccountName: 's' });
  expect(withPodDefaults({})).not.toHaveProperty('serviceAccountName');
});

const seconds = 300;
const standing = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds },
];
const tolerations: [string, unknown[], unknown[]][] = [
  ['none', [], standing],
  ['another', [{ key: 'os' }], [{ key: 'os' }, ...standing]],
  [
    'one of its own',
    [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }],
    [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }, standing[1]],
  ],
  ['all', [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
  [
    'all that do not drive it away',
    [{ operator: 'Exists', effect: 'NoSchedule' }],
    [{ operator: 'Exists', effect: 'NoSchedule' }, ...standing],
  ],
];
test.each(tolerations)('lets a pod that tolerates %s stay for a while', (_, given, wanted) => {
  expect(specOf(spec({ tolerations: given }))['tolerations']).toEqual(wanted);
});

const one = (cpu: string, memory: string) => ({ cpu, memory });
const classes: [string, unknown[], string][] = [
  ['nothing', [{}], 'BestEffort'],
  ['a request', [{ requests: { cpu: '1' } }], 'Burstable'],
  ['a limit of one', [{ limits: { cpu: '1' } }], 'Burstable'],
  ['limits of both', [{ limits: one('1', '1Gi') }], 'Guaranteed'],
  ['equal requests and limits', [{ limits: one('1', '1Gi'), requests: one('1', '1Gi') }], 'Guaranteed'],
  ['lower requests', [{ limits: one('1', '1Gi'), requests: one('1', '1Mi') }], 'Burstable'],
  ['one container of two', [{ limits: one('1', '1Gi') }, {}], 'Burstable'],
  ['something else', [{ limits: { 'example.com/gpu': '1' } }], 'BestEffort'],
];
test.each(classes)('a pod that asks for %j is %s', (_, resources, qosClass) => {
  const containers = resources.map((item, index) => container({ name: `c${index}`, resources: item }));
  expect(created(pod, { spec: { containers } })['status']).toMatchObject({ qosClass });
});

const broken: [string, Record<string, unknown>, string[]][] = [
  ['no containers', {}, ['spec.containers: Required value']],
  ['an empty list', { containers: [] }, ['spec.containers: Required value']],
  ['a container without a name', { containers: [{ image: 'i' }] }, ['spec.containers[0].name: Required value']],
  [
    'a container without an image',
    { containers: [container(), { name: 'd' }] },
    ['spec.containers[1].image: Required value'],
  ],
];
test.each(broken)('rejects a pod with %s', (_, content, wanted) =>
  expect(problems(pod, { spec: content })).toEqual(wanted),
);

const before = specOf(spec({ nodeName: 'n' }));
const changes: [string, Record<string, unknown>, boolean][] = [
  ['nothing', {}, true],
  ['an image', { containers: [{ ...(before['containers'] as object[])[0], image: 'i:2' }] }, true],
  ['its deadline', { activeDeadlineSeconds: 5 }, true],
  ['one toleration more', { tolerations: [...(before['tolerations'] as unknown[]), { key: 'x' }] }, true],
  ['one toleration less', { tolerations: [] }, false],
  ['its node', { nodeName: 'm' }, false],
  ['its containers', { containers: [container({ name: 'other' })] }, false],
  ['a volume', { volumes: [{ name: 'v' }] }, false],
];
test.each(changes)('a pod may change %s: %j', (_, change, allowed) => {
  const found = problems(pod, { spec: { ...before, ...change } }, { spec: before });
  expect(found).toEqual(
    allowed ? [] : [expect.stringMatching(/^spec: Forbidden: pod updates may not change fields other/)],
  );
});

test('keeps status and spec apart', () => {
  const old = objectOf(pod, { spec: before, status: { phase: 'Pending', qosClass: 'BestEffort' } });
  const next = objectOf(pod, {
    spec: { ...before, nodeName: 'm' },
    status: { phase: 'Running', podIP: '10.0.0.1', qosClass: 'x' },
  });
  expect(pod.prepareUpdate(next, old, '')).toMatchObject({ spec: { nodeName: 'm' }, status: { phase: 'Pending' } });
  expect(pod.prepareUpdate(next, old, 'status')).toMatchObject({
    spec: { nodeName: 'n' },
    status: { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], qosClass: 'BestEffort' },
  });
});

const graces: [string, Record<string, unknown>, number | undefined, number][] = [
  ['nowhere', { spec: { terminationGracePeriodSeconds: 30 } }, undefined, 0],
  ['nowhere and asked to wait', { spec: {} }, 30, 0],
  ['on a node', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } }, undefined, 30],
  ['on a node and asked to hurry', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } }, 5, 5],
  ['on a node with a grace period of 0', { spec: { nodeName: 'n' } }, 0, 0],
  ['done', { spec: { nodeName: 'n' }, status: { phase: 'Succeeded' } }, 30, 0],
  ['failed', { spec: { nodeName: 'n' }, status: { phase: 'Failed' } }, undefined, 0],
];
test.each(graces)('gives a pod that is %s its time', (_, content, asked, wanted) => {
  expect(pod.graceSeconds(objectOf(pod, content), asked)).toBe(wanted);
});

const running = { ready: true, restartCount: 2, state: { running: {} } };
const rows: [string, Record<string, unknown>, object, Record<string, unknown>][] = [
  [
    'a new pod',
    { spec: spec(), status: { phase: 'Pending' } },
    {},
    { Ready: '0/1', Status: 'Pending', Restarts: 0, IP: '<none>', Node: '<none>' },
  ],
  [
    'a running pod',
    { spec: spec({ nodeName: 'n' }), status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [running] } },
    {},
    { Ready: '1/1', Status: 'Running', Restarts: 2, IP: '10.0.0.1', Node: 'n' },
  ],
  [
    'a waiting container',
    {
      spec: spec(),
      status: { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff' } } }] },
    },
    {},
    { Ready: '0/1', Status: 'ImagePullBackOff' },
  ],
  [
    'an ended container',
    { spec: spec(), status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { reason: 'Error' } } }] } },
    {},
    { Status: 'Error' },
  ],
  ['an evicted pod', { spec: spec(), status: { phase: 'Failed', reason: 'Evicted' } }, {}, { Status: 'Evicted' }],
  [
    'a going pod',
    { spec: spec(), status: { phase: 'Running' } },
    { deletionTimestamp: 't' },
    { Status: 'Terminating' },
  ],
  [
    'a lost pod',
    { spec: spec(), status: { phase: 'Running', reason: 'NodeLost' } },
    { deletionTimestamp: 't' },
    { Status: 'Unknown' },
  ],
  ['no gates', { spec: spec() }, {}, { 'Readiness Gates': '<none>', 'Nominated Node': '<none>' }],
  [
    'gates',
    {
      spec: spec({ readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] }),
      status: {
        conditions: [
          { type: 'a', status: 'True' },
          { type: 'b', status: 'False' },
        ],
      },
    },
    {},
    { 'Readiness Gates': '1/2' },
  ],
];
test.each(rows)('shows %s', (_, content, metadata, wanted) =>
  expect(row(pod, content, metadata)).toMatchObject(wanted),
);

const selected: [string, string][] = [
  ['spec.nodeName', 'n'],
  ['status.phase', 'Running'],
  ['status.podIP', ''],
];
test.each(selected)('is selected by %s', (field, value) => {
  expect(pod.fields[field]?.(objectOf(pod, { spec: { nodeName: 'n' }, status: { phase: 'Running' } }))).toBe(value);
});
