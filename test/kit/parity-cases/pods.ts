import { asTable, core, type ParityCase, type Step, status, strategicPatch } from './case.ts';

const pods = `${core}/pods`;

/** Older servers reject pods until the default ServiceAccount has a token. */
export function pod(name: string, spec: Record<string, unknown> = {}, labels: Record<string, string> = {}): Step {
  return {
    send: `POST ${pods}`,
    body: { metadata: { name, labels }, spec: { containers: [{ name: 'c', image: 'example.com/i:1' }], ...spec } },
    code: 201,
    eventually: true,
  };
}

export const scheduled = { nodeName: 'n-{id}' };

export const podCases: readonly ParityCase[] = [
  {
    name: 'sets defaults of a pod',
    steps: [
      {
        ...pod('p'),
        gives: {
          spec: {
            restartPolicy: 'Always',
            terminationGracePeriodSeconds: 30,
            dnsPolicy: 'ClusterFirst',
            schedulerName: 'default-scheduler',
            containers: [
              {
                name: 'c',
                resources: {},
                terminationMessagePath: '/dev/termination-log',
                terminationMessagePolicy: 'File',
                imagePullPolicy: 'IfNotPresent',
              },
            ],
            tolerations: [
              { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
              {
                key: 'node.kubernetes.io/unreachable',
                operator: 'Exists',
                effect: 'NoExecute',
                tolerationSeconds: 300,
              },
            ],
            priority: 0,
            enableServiceLinks: true,
            preemptionPolicy: 'PreemptLowerPriority',
          },
          status: { phase: 'Pending', qosClass: 'BestEffort' },
        },
      },
      { send: `DELETE ${pods}/p`, code: 200 },
    ],
  },
  {
    name: 'requires containers in a pod',
    steps: [
      {
        send: `POST ${pods}`,
        body: { metadata: { name: 'p' }, spec: { containers: [] } },
        code: 422,
        gives: status('Invalid', 'Pod "p" is invalid: spec.containers: Required value'),
      },
    ],
  },
  {
    name: 'the node of a pod is immutable',
    steps: [
      pod('p', scheduled),
      {
        send: `PATCH ${pods}/p`,
        body: { spec: { nodeName: 'other' } },
        code: 422,
        gives: status('Invalid', /^Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than/),
      },
      {
        send: `PATCH ${pods}/p`,
        type: strategicPatch,
        body: { spec: { containers: [{ name: 'c', image: 'example.com/i:2' }] } },
        code: 200,
        gives: { spec: { containers: [{ name: 'c', image: 'example.com/i:2' }] } },
      },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
  {
    name: 'separates status and spec of a pod',
    steps: [
      pod('p', scheduled),
      {
        send: `PATCH ${pods}/p/status`,
        body: {
          metadata: { labels: { l: 'm' } },
          spec: { nodeName: 'other' },
          status: { phase: 'Running', podIP: '10.1.2.3' },
        },
        code: 200,
        gives: {
          metadata: { labels: { l: 'm' } },
          spec: { nodeName: 'n-{id}' },
          status: { phase: 'Running', podIP: '10.1.2.3' },
        },
      },
      {
        send: `PATCH ${pods}/p`,
        body: { status: { phase: 'Failed' } },
        code: 200,
        gives: { status: { phase: 'Running' } },
      },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
  {
    name: 'selects pods by node and phase',
    steps: [
      pod('p', scheduled),
      pod('q'),
      {
        send: `GET ${pods}?fieldSelector=spec.nodeName%3Dn-{id}`,
        code: 200,
        gives: { items: [{ metadata: { name: 'p' } }] },
      },
      {
        send: `GET ${pods}?fieldSelector=spec.nodeName%3D,status.phase%3DPending`,
        code: 200,
        gives: { items: [{ metadata: { name: 'q' } }] },
      },
      {
        send: `GET ${pods}?fieldSelector=status.phase!%3DPending`,
        code: 200,
        gives: { items: [] },
      },
    ],
  },
  {
    name: 'deletes an unscheduled pod at once',
    steps: [
      pod('p'),
      {
        send: `DELETE ${pods}/p`,
        code: 200,
        gives: { kind: 'Pod', metadata: { deletionTimestamp: /./, deletionGracePeriodSeconds: 0 } },
      },
      { send: `GET ${pods}/p`, code: 404 },
    ],
  },
  {
    name: 'respects the grace period of a pod on a node',
    steps: [
      pod('p', { ...scheduled, terminationGracePeriodSeconds: 7 }),
      {
        send: `DELETE ${pods}/p`,
        code: 200,
        gives: { metadata: { deletionGracePeriodSeconds: 7, deletionTimestamp: /./ } },
        keep: { version: 'metadata.resourceVersion' },
      },
      { send: `DELETE ${pods}/p`, code: 200, gives: { metadata: { resourceVersion: '{version}' } } },
      {
        send: `DELETE ${pods}/p`,
        body: { gracePeriodSeconds: 60 },
        code: 200,
        gives: { metadata: { deletionGracePeriodSeconds: 7 } },
      },
      {
        send: `DELETE ${pods}/p`,
        body: { gracePeriodSeconds: 3 },
        code: 200,
        gives: { metadata: { deletionGracePeriodSeconds: 3 } },
      },
      { send: `GET ${pods}/p`, code: 200 },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
      { send: `GET ${pods}/p`, code: 404 },
    ],
  },
  {
    name: 'deletes a finished pod at once',
    steps: [
      pod('p', scheduled),
      { send: `PATCH ${pods}/p/status`, body: { status: { phase: 'Succeeded' } }, code: 200 },
      { send: `DELETE ${pods}/p`, code: 200, gives: { metadata: { deletionGracePeriodSeconds: 0 } } },
      { send: `GET ${pods}/p`, code: 404 },
    ],
  },
  {
    name: 'keeps a pod with a finalizer after its grace period',
    steps: [
      {
        ...pod('p'),
        body: {
          metadata: { name: 'p', finalizers: ['example.com/hold'] },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        },
      },
      { send: `DELETE ${pods}/p`, code: 200, gives: { metadata: { deletionGracePeriodSeconds: 0 } } },
      { send: `PATCH ${pods}/p`, body: { metadata: { finalizers: null } }, code: 200 },
      { send: `GET ${pods}/p`, code: 404 },
    ],
  },
  {
    name: 'prints pods as a table',
    steps: [
      pod('p', scheduled),
      {
        send: `PATCH ${pods}/p/status`,
        body: {
          status: {
            phase: 'Running',
            podIP: '10.1.2.3',
            containerStatuses: [
              {
                name: 'c',
                ready: true,
                restartCount: 0,
                image: 'i',
                imageID: 'i',
                state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
              },
            ],
          },
        },
        code: 200,
      },
      {
        send: `GET ${pods}/p`,
        accept: asTable,
        code: 200,
        gives: {
          columnDefinitions: [
            { name: 'Name' },
            { name: 'Ready' },
            { name: 'Status' },
            { name: 'Restarts' },
            { name: 'Age' },
            { name: 'IP', priority: 1 },
            { name: 'Node', priority: 1 },
            { name: 'Nominated Node', priority: 1 },
            { name: 'Readiness Gates', priority: 1 },
          ],
        },
      },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
];
