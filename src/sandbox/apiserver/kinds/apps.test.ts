import { expect, test } from 'vitest';
import { created, objectOf, problems, row } from '../../../../test/kit/kind-checks.ts';
import { daemonSet, deployment, replicaSet } from './apps.ts';

const template = { metadata: { labels: { a: 'b', c: 'd' } }, spec: { containers: [{ name: 'x', image: 'i:1' }] } };
const selector = { matchLabels: { a: 'b' } };
const spec = { selector, template };

const made: [string, typeof daemonSet, Record<string, unknown>, Record<string, unknown>][] = [
  [
    'DaemonSet',
    daemonSet,
    { revisionHistoryLimit: 10, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } },
    { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  ],
  ['Deployment', deployment, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }, {}],
  ['ReplicaSet', replicaSet, { replicas: 1 }, { replicas: 0 }],
];
test.each(made)('fills in a %s', (_, kind, wanted, status) => {
  const object = created(kind, { spec, status: { x: 1 } });
  expect(object).toMatchObject({ spec: { ...wanted, template: { spec: { restartPolicy: 'Always' } } } });
  expect(object['status']).toEqual(status);
});

test.each(made)('keeps explicit values of a %s', (_, kind) => {
  expect(created(kind, { spec: { ...spec, replicas: 5, revisionHistoryLimit: 2 } })).toMatchObject({
    spec: { replicas: 5, revisionHistoryLimit: 2 },
  });
});

test.each(made)('keeps status and spec of a %s apart', (_, kind) => {
  const old = objectOf(kind, { spec, status: { x: 1 } });
  const next = objectOf(kind, { spec: { ...spec, paused: true }, status: { x: 2 } });
  expect(kind.prepareUpdate(next, old, '')).toMatchObject({ spec: { paused: true }, status: { x: 1 } });
  expect(kind.prepareUpdate(next, old, 'status')).toEqual(objectOf(kind, { spec, status: { x: 2 } }));
});

const judged: [string, Record<string, unknown>, Record<string, unknown> | undefined, string[]][] = [
  ['all it needs', spec, undefined, []],
  ['no selector', { template }, undefined, ['spec.selector: Required value']],
  [
    'a selector of others',
    { selector: { matchLabels: { a: 'x' } }, template },
    undefined,
    ['spec.template.metadata.labels: Invalid value: {"a":"b","c":"d"}: `selector` does not match template `labels`'],
  ],
  ['an expression', { selector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] }, template }, undefined, []],
  ['the same selector', spec, spec, []],
  [
    'another selector',
    { ...spec, selector: { matchLabels: { c: 'd' } } },
    spec,
    ['spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable'],
  ],
];
test.each(judged)('judges a workload with %s', (_, content, old, wanted) => {
  for (const kind of [daemonSet, deployment, replicaSet])
    expect(problems(kind, { spec: content }, old && { spec: old })).toEqual(wanted);
});

const wide = { Containers: 'x', Images: 'i:1', Selector: 'a=b' };
test('shows workloads', () => {
  const status = {
    desiredNumberScheduled: 3,
    currentNumberScheduled: 2,
    numberReady: 1,
    updatedNumberScheduled: 2,
    numberAvailable: 1,
  };
  const nodeSelector = { 'kubernetes.io/os': 'windows' };
  const content = { spec: { ...spec, template: { ...template, spec: { ...template.spec, nodeSelector } } }, status };
  expect(row(daemonSet, content)).toEqual({
    Name: 'a',
    Desired: 3,
    Current: 2,
    Ready: 1,
    'Up-to-date': 2,
    Available: 1,
    'Node Selector': 'kubernetes.io/os=windows',
    Age: '60s',
    ...wide,
  });
  expect(row(deployment, { spec: { ...spec, replicas: 3 }, status: { readyReplicas: 2, updatedReplicas: 1 } })).toEqual(
    {
      Name: 'a',
      Ready: '2/3',
      'Up-to-date': 1,
      Available: 0,
      Age: '60s',
      ...wide,
    },
  );
  expect(row(replicaSet, { spec: { ...spec, replicas: 3 }, status: { replicas: 2, readyReplicas: 1 } })).toEqual({
    Name: 'a',
    Desired: 3,
    Current: 2,
    Ready: 1,
    Age: '60s',
    ...wide,
  });
});
