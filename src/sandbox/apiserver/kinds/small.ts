import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind } from '../kind.ts';
import { memberAt, textAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, nameColumn, textColumn } from './columns.ts';

export const lease: Kind = defineKind({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
  createsOnUpdate: true,
  updatesUnconditionally: false,
  content: {
    spec: {
      holderIdentity: 'string',
      leaseDurationSeconds: 'integer',
      acquireTime: 'time',
      renewTime: 'time',
      leaseTransitions: 'integer',
      strategy: 'string',
      preferredHolder: 'string',
    },
  },
  columns: [nameColumn, textColumn('Holder', object => textAt(object, 'spec.holderIdentity')), ageColumn],
  check: leaseCauses,
});

function leaseCauses(object: StoredObject): StatusCause[] {
  const duration = memberAt(object, 'spec.leaseDurationSeconds');
  const transitions = memberAt(object, 'spec.leaseTransitions');
  return [
    ...(duration !== undefined && Number(duration) <= 0
      ? [cause.invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
      : []),
    ...(transitions !== undefined && Number(transitions) < 0
      ? [cause.invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
      : []),
  ];
}
