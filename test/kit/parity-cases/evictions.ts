import { core, type ParityCase, type Step, status } from './case.ts';
import { pod, scheduled } from './pods.ts';

const pods = `${core}/pods`;
const budgets = '/apis/policy/{policy}/namespaces/{ns}/poddisruptionbudgets';

const running: Step = {
  send: `PATCH ${pods}/p/status`,
  body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
  code: 200,
};
const evict: Step = {
  send: `POST ${pods}/p/eviction`,
  body: { apiVersion: 'policy/{policy}', kind: 'Eviction', metadata: { name: 'p', namespace: '{ns}' } },
  code: 201,
  gives: { kind: 'Status', status: 'Success' },
};

const budget = (spec: Record<string, unknown>): Step => ({
  send: `POST ${budgets}`,
  body: { metadata: { name: 'b' }, spec: { selector: { matchLabels: { app: 'x' } }, ...spec } },
  code: 201,
  gives: { metadata: { generation: 1 }, status: { disruptionsAllowed: 0 } },
});

/** As the disruption controller computes it. */
const counted = (status: Record<string, unknown>): Step => ({
  send: `PATCH ${budgets}/b/status`,
  body: { status: { observedGeneration: 1, currentHealthy: 1, expectedPods: 1, ...status } },
  code: 200,
});

export const evictionCases: readonly ParityCase[] = [
  {
    name: 'evicts a pod without a budget',
    steps: [
      pod('p', scheduled),
      running,
      evict,
      { send: `GET ${pods}/p`, code: 200, gives: { metadata: { deletionTimestamp: /./ } } },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
  {
    name: 'evicts with the given options',
    steps: [
      pod('p', scheduled),
      running,
      {
        ...evict,
        body: {
          apiVersion: 'policy/{policy}',
          kind: 'Eviction',
          metadata: { name: 'p', namespace: '{ns}' },
          deleteOptions: { gracePeriodSeconds: 11 },
        },
      },
      { send: `GET ${pods}/p`, code: 200, gives: { metadata: { deletionGracePeriodSeconds: 11 } } },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
  {
    name: 'respects a budget',
    steps: [
      pod('p', scheduled, { app: 'x' }),
      running,
      budget({ minAvailable: 1 }),
      counted({ disruptionsAllowed: 0, desiredHealthy: 1 }),
      {
        ...evict,
        code: 429,
        gives: status('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
          causes: [{ reason: 'DisruptionBudget', message: /^The disruption budget b needs 1 healthy pods and has 1 / }],
        }),
        eventually: true,
      },
      { send: `GET ${pods}/p`, code: 200, lacks: ['metadata.deletionTimestamp'] },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
  {
    name: 'an eviction uses up the budget',
    steps: [
      pod('p', scheduled, { app: 'x' }),
      running,
      budget({ minAvailable: 0 }),
      counted({ disruptionsAllowed: 1, desiredHealthy: 0 }),
      evict,
      { send: `GET ${pods}/p`, code: 200, gives: { metadata: { deletionTimestamp: /./ } } },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
  {
    name: 'evicts a pod that does not run despite the budget',
    steps: [
      pod('p', scheduled, { app: 'x' }),
      budget({ maxUnavailable: 0 }),
      evict,
      { send: `GET ${pods}/p`, code: 200, gives: { metadata: { deletionTimestamp: /./ } } },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
  {
    name: 'rejects an eviction with two budgets',
    steps: [
      pod('p', scheduled, { app: 'x' }),
      running,
      budget({ minAvailable: 0 }),
      {
        ...budget({ minAvailable: 0 }),
        body: { metadata: { name: 'c' }, spec: { minAvailable: 0, selector: { matchLabels: { app: 'x' } } } },
      },
      { ...evict, code: 500, gives: { message: /^This pod has more than one PodDisruptionBudget/ } },
      { send: `DELETE ${pods}/p?gracePeriodSeconds=0`, code: 200 },
    ],
  },
  {
    name: 'rejects an eviction of a missing or another pod',
    steps: [
      { ...evict, code: 404, gives: status('NotFound', 'pods "p" not found') },
      pod('p'),
      {
        ...evict,
        body: { apiVersion: 'policy/{policy}', kind: 'Eviction', metadata: { name: 'other', namespace: '{ns}' } },
        code: 400,
        gives: status('BadRequest', 'name in URL does not match name in Eviction object'),
      },
    ],
  },
  {
    name: 'validates a budget and increases its generation',
    steps: [
      {
        ...budget({ minAvailable: 1, maxUnavailable: 1 }),
        code: 422,
        gives: status('Invalid', /minAvailable and maxUnavailable cannot be both set/),
      },
      { ...budget({ minAvailable: 'abc' }), code: 422, gives: status('Invalid', /a valid percent string must be/) },
      budget({ minAvailable: 1 }),
      {
        send: `PUT ${budgets}/b`,
        body: { metadata: { name: 'b' }, spec: {} },
        code: 422,
        gives: status('Invalid', /metadata.resourceVersion: Invalid value: \w+: must be specified for an update/),
      },
      {
        send: `PATCH ${budgets}/b`,
        body: { spec: { minAvailable: 2 } },
        code: 200,
        gives: { metadata: { generation: 2 }, spec: { minAvailable: 2 } },
      },
      {
        send: `PATCH ${budgets}/b`,
        body: { metadata: { labels: { l: 'm' } } },
        code: 200,
        gives: { metadata: { generation: 2 } },
      },
    ],
  },
];
