import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind, statusSubresource } from '../kind.ts';
import { memberAt, numberAt, recordAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, countColumn, nameColumn, textColumn } from './columns.ts';

const emptyStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

export const podDisruptionBudget: Kind = defineKind({
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
  shortNames: ['pdb'],
  subresources: [statusSubresource],
  countsGenerations: true,
  updatesUnconditionally: false,
  content: {
    spec: {
      minAvailable: 'intOrString',
      maxUnavailable: 'intOrString',
      selector: 'object',
      unhealthyPodEvictionPolicy: 'string',
    },
    status: {
      observedGeneration: 'integer',
      disruptedPods: 'strings',
      disruptionsAllowed: 'integer',
      currentHealthy: 'integer',
      desiredHealthy: 'integer',
      expectedPods: 'integer',
      conditions: ['object'],
    },
  },
  columns: [
    nameColumn,
    textColumn('Min Available', object => memberAt(object, 'spec.minAvailable') ?? 'N/A'),
    textColumn('Max Unavailable', object => memberAt(object, 'spec.maxUnavailable') ?? 'N/A'),
    countColumn('Allowed Disruptions', object => numberAt(object, 'status.disruptionsAllowed')),
    ageColumn,
  ],
  prepareCreate: object => ({ ...object, status: emptyStatus }),
  prepareUpdate: (next, old, subresource) =>
    subresource === ''
      ? { ...next, status: old['status'] }
      : { ...next, spec: old['spec'], status: { ...emptyStatus, ...recordAt(next, 'status') } },
  check: object => [
    ...(memberAt(object, 'spec.minAvailable') !== undefined && memberAt(object, 'spec.maxUnavailable') !== undefined
      ? [cause.invalid('spec', object['spec'], 'minAvailable and maxUnavailable cannot be both set')]
      : []),
    ...amountCauses(object, 'spec.minAvailable'),
    ...amountCauses(object, 'spec.maxUnavailable'),
  ],
});

function amountCauses(object: StoredObject, field: string): StatusCause[] {
  const amount = memberAt(object, field);
  if (typeof amount === 'number')
    return amount < 0 ? [cause.invalid(field, amount, 'must be greater than or equal to 0')] : [];
  if (amount === undefined || (typeof amount === 'string' && /^[0-9]+%$/.test(amount))) return [];
  const why =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [cause.invalid(field, amount, why)];
}
