import { sameData } from '#base/compare.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { type Column, defineKind, type Kind, scaleSubresource, statusSubresource } from '../kind.ts';
import { matchesLabels, type SpecSelector, selectorOfSpec } from '../label-selector.ts';
import { memberAt, numberAt, recordAt, textsAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, countColumn, labelsText, nameColumn, textColumn, workloadColumns } from './columns.ts';
import { withPodDefaults } from './pod.ts';

const count = (name: string, path: string): Column => countColumn(name, object => numberAt(object, path));

const workload = {
  group: 'apps',
  version: 'v1',
  namespaced: true,
  categories: ['all'],
  subresources: [statusSubresource],
  countsGenerations: true,
  content: { spec: 'object', status: 'object' },
  prepareUpdate: (next: StoredObject, old: StoredObject, subresource: string): StoredObject =>
    subresource === '' ? { ...withTemplate(next), status: old['status'] } : { ...next, spec: old['spec'] },
  check: workloadCauses,
} as const;

const scalable = {
  subresources: [statusSubresource, scaleSubresource],
  scale: { specReplicas: 'spec.replicas', statusReplicas: 'status.replicas', selector: '' },
};

export const daemonSet: Kind = defineKind({
  ...workload,
  plural: 'daemonsets',
  kind: 'DaemonSet',
  shortNames: ['ds'],
  columns: [
    nameColumn,
    count('Desired', 'status.desiredNumberScheduled'),
    count('Current', 'status.currentNumberScheduled'),
    count('Ready', 'status.numberReady'),
    count('Up-to-date', 'status.updatedNumberScheduled'),
    count('Available', 'status.numberAvailable'),
    textColumn('Node Selector', object => labelsText(textsAt(object, 'spec.template.spec.nodeSelector'))),
    ageColumn,
    ...workloadColumns,
  ],
  prepareCreate: object => ({
    ...withTemplate(object, {
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    }),
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  }),
});

export const deployment: Kind = defineKind({
  ...workload,
  ...scalable,
  plural: 'deployments',
  kind: 'Deployment',
  shortNames: ['deploy'],
  columns: [
    nameColumn,
    textColumn('Ready', object => `${numberAt(object, 'status.readyReplicas')}/${numberAt(object, 'spec.replicas')}`),
    textColumn('Up-to-date', object => numberAt(object, 'status.updatedReplicas')),
    textColumn('Available', object => numberAt(object, 'status.availableReplicas')),
    ageColumn,
    ...workloadColumns,
  ],
  prepareCreate: object => ({
    ...withTemplate(object, {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    }),
    status: {},
  }),
});

export const replicaSet: Kind = defineKind({
  ...workload,
  ...scalable,
  plural: 'replicasets',
  kind: 'ReplicaSet',
  shortNames: ['rs'],
  columns: [
    nameColumn,
    count('Desired', 'spec.replicas'),
    count('Current', 'status.replicas'),
    count('Ready', 'status.readyReplicas'),
    ageColumn,
    ...workloadColumns,
  ],
  prepareCreate: object => ({ ...withTemplate(object, { replicas: 1 }), status: { replicas: 0 } }),
});

function withTemplate(object: StoredObject, defaults: Record<string, unknown> = {}): StoredObject {
  const spec = recordAt(object, 'spec');
  const template = recordAt(spec, 'template');
  const podSpec = withPodDefaults(recordAt(template, 'spec'));
  return { ...object, spec: { ...defaults, ...spec, template: { ...template, spec: podSpec } } };
}

function workloadCauses(object: StoredObject, old: StoredObject | undefined): StatusCause[] {
  const selector = memberAt(object, 'spec.selector');
  const labels = textsAt(object, 'spec.template.metadata.labels');
  if (selector === undefined) return [cause.required('spec.selector')];
  if (old !== undefined && !sameData(selector, memberAt(old, 'spec.selector')))
    return [cause.invalid('spec.selector', selector, 'field is immutable')];
  if (matchesLabels(selectorOfSpec(selector as SpecSelector), labels)) return [];
  const why = '`selector` does not match template `labels`';
  return [cause.invalid('spec.template.metadata.labels', labels, why)];
}
