import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind, statusSubresource } from '../kind.ts';
import { listAt, recordAt, textAt, withMember } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, ageOf, nameColumn, none, textColumn, wide } from './columns.ts';

const core = { group: '', version: 'v1' } as const;

/** Removed by the controller that empties the namespace. */
const namespaceFinalizers = ['kubernetes'];

export const namespace: Kind = defineKind({
  ...core,
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
  shortNames: ['ns'],
  subresources: [{ name: 'finalize', verbs: ['update'] }, statusSubresource],
  nameRule: 'label',
  returnsDeleted: true,
  content: { spec: { finalizers: ['string'] }, status: { phase: 'string', conditions: 'any' } },
  fields: { 'status.phase': object => textAt(object, 'status.phase') },
  columns: [nameColumn, textColumn('Status', object => textAt(object, 'status.phase')), ageColumn],
  prepareCreate: object => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name ?? '' },
    },
    spec: { finalizers: namespaceFinalizers },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (next, old, subresource) => {
    if (subresource === 'finalize') return { ...next, status: old['status'] };
    if (subresource === 'status') return { ...next, spec: old['spec'] };
    return { ...next, spec: old['spec'], status: old['status'] };
  },
  markDeleted: object => ({ ...object, status: { ...recordAt(object, 'status'), phase: 'Terminating' } }),
  deletionBlockers: object => [...(object.metadata.finalizers ?? []), ...listAt(object, 'spec.finalizers')],
  setsGracePeriod: false,
});

export const serviceAccount: Kind = defineKind({
  ...core,
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
  shortNames: ['sa'],
  returnsDeleted: true,
  subresources: [
    { name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
  ],
  content: { secrets: ['object'], imagePullSecrets: ['object'], automountServiceAccountToken: 'boolean' },
  columns: [nameColumn, textColumn('Secrets', object => listAt(object, 'secrets').length), ageColumn],
});

export const endpoints: Kind = defineKind({
  ...core,
  plural: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
  shortNames: ['ep'],
  createsOnUpdate: true,
  content: { subsets: [{ addresses: ['object'], notReadyAddresses: ['object'], ports: ['object'] }] },
  columns: [nameColumn, textColumn('Endpoints', endpointsText), ageColumn],
  prepareCreate: withPortProtocols,
  prepareUpdate: withPortProtocols,
});

function withPortProtocols(object: StoredObject): StoredObject {
  const subsets = listAt(object, 'subsets').map(subset => {
    const ports = listAt(subset, 'ports').map(port => ({ protocol: 'TCP', ...(port as object) }));
    return ports.length === 0 ? subset : { ...(subset as object), ports };
  });
  return withMember(object, 'subsets', subsets.length === 0 ? undefined : subsets);
}

function endpointsText(object: StoredObject): string {
  const all = listAt(object, 'subsets').flatMap(subset =>
    listAt(subset, 'addresses').flatMap(address => {
      const ip = textAt(address, 'ip');
      const ports = listAt(subset, 'ports');
      return ports.length === 0 ? [ip] : ports.map(port => `${ip}:${textAt(port, 'port')}`);
    }),
  );
  if (all.length === 0) return none;
  return all.length > 3 ? `${all.slice(0, 3).join(',')} + ${all.length - 3} more...` : all.join(',');
}

const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
const eventFields = ['reason', 'reportingComponent', 'type', ...involved.map(member => `involvedObject.${member}`)];

export const event: Kind = defineKind({
  ...core,
  plural: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
  createsOnUpdate: true,
  content: {
    involvedObject: Object.fromEntries(involved.map(member => [member, 'string'])),
    related: 'object',
    reason: 'string',
    message: 'string',
    source: { component: 'string', host: 'string' },
    firstTimestamp: 'time',
    lastTimestamp: 'time',
    count: 'integer',
    type: 'string',
    eventTime: 'time',
    series: 'object',
    action: 'string',
    reportingComponent: 'string',
    reportingInstance: 'string',
  },
  fields: {
    source: object => textAt(object, 'source.component'),
    ...Object.fromEntries(eventFields.map(field => [field, (object: StoredObject) => textAt(object, field)])),
  },
  columns: [
    textColumn('Last Seen', (object, now) =>
      ageOf(textAt(object, 'lastTimestamp') || textAt(object, 'eventTime') || textAt(object, 'firstTimestamp'), now),
    ),
    textColumn('Type', object => textAt(object, 'type')),
    textColumn('Reason', object => textAt(object, 'reason')),
    textColumn(
      'Object',
      object => `${textAt(object, 'involvedObject.kind').toLowerCase()}/${textAt(object, 'involvedObject.name')}`,
    ),
    wide(textColumn('Subobject', object => textAt(object, 'involvedObject.fieldPath'))),
    wide(
      textColumn('Source', object =>
        [textAt(object, 'source.component'), textAt(object, 'source.host')].filter(text => text !== '').join(', '),
      ),
    ),
    textColumn('Message', object => textAt(object, 'message').trim()),
    wide(
      textColumn('First Seen', (object, now) =>
        ageOf(textAt(object, 'firstTimestamp') || textAt(object, 'eventTime'), now),
      ),
    ),
    wide(textColumn('Count', object => object['count'] ?? 1)),
    wide({ ...nameColumn }),
  ],
  prepareCreate: withEventDefaults,
  prepareUpdate: withEventDefaults,
  check: eventCauses,
});

function withEventDefaults(object: StoredObject): StoredObject {
  return { source: {}, reportingComponent: '', reportingInstance: '', ...object };
}

function eventCauses(object: StoredObject): StatusCause[] {
  const named = textAt(object, 'involvedObject.namespace');
  const { namespace: own = '' } = object.metadata;
  // Events about cluster-scoped objects are in "default".
  if (named === own || (named === '' && own === 'default')) return [];
  return [cause.invalid('involvedObject.namespace', named, 'does not match event.namespace')];
}
