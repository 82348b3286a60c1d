import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind, statusSubresource } from '../kind.ts';
import { listAt, recordAt, textAt, textsAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import type { Store } from '../store.ts';
import { ageColumn, labelsText, nameColumn, none, textColumn, wide } from './columns.ts';

/** Cluster IPs come from 172.30.0.0/16, the service network of OpenShift. */
const networkPrefix = '172.30.';
const networkSize = 65_534;

export const service: Kind = defineKind({
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
  shortNames: ['svc'],
  categories: ['all'],
  subresources: [statusSubresource],
  nameRule: 'dns1035',
  createsOnUpdate: true,
  content: { spec: 'object', status: 'object' },
  columns: [
    nameColumn,
    textColumn('Type', object => textAt(object, 'spec.type')),
    textColumn('Cluster-IP', object => textAt(object, 'spec.clusterIP') || none),
    textColumn('External-IP', externalText),
    textColumn('Port(s)', portsText),
    ageColumn,
    wide(textColumn('Selector', object => labelsText(textsAt(object, 'spec.selector')))),
  ],
  prepareCreate: (object, { store }) => {
    const spec = withDefaults(recordAt(object, 'spec'));
    const asked = textAt(spec, 'clusterIP');
    const address = textAt(spec, 'type') === 'ExternalName' ? '' : asked || freeAddress(store);
    const addresses = address === '' ? {} : { clusterIP: address, clusterIPs: [address] };
    return { ...object, spec: { ...spec, ...addresses }, status: { loadBalancer: {} } };
  },
  prepareUpdate: (next, old, subresource) => {
    if (subresource === 'status') return { ...next, spec: old['spec'] };
    const address = textAt(next, 'spec.clusterIP') || textAt(old, 'spec.clusterIP');
    const spec = withDefaults(recordAt(next, 'spec'));
    const addresses = address === '' ? {} : { clusterIP: address, clusterIPs: [address] };
    return { ...next, spec: { ...spec, ...addresses }, status: old['status'] };
  },
  check: (object, old) => [...contentCauses(object), ...(old === undefined ? [] : changeCauses(object, old))],
});

function withDefaults(spec: Record<string, unknown>): Record<string, unknown> {
  const ports = listAt(spec, 'ports').map(port => ({
    protocol: 'TCP',
    targetPort: recordAt({ port }, 'port')['port'],
    ...(port as object),
  }));
  const outside = ['NodePort', 'LoadBalancer'].includes(textAt(spec, 'type'));
  return {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    ...(outside ? { externalTrafficPolicy: 'Cluster' } : {}),
    ...spec,
    ...(ports.length === 0 ? {} : { ports }),
  };
}

function freeAddress(store: Store): string {
  const taken = new Set(store.list('services').map(object => textAt(object, 'spec.clusterIP')));
  for (let number = 1; number <= networkSize; number += 1) {
    const address = `${networkPrefix}${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
  return '';
}

function contentCauses(object: StoredObject): StatusCause[] {
  const ports = listAt(object, 'spec.ports');
  const needsPorts = textAt(object, 'spec.type') !== 'ExternalName' && textAt(object, 'spec.clusterIP') !== 'None';
  if (ports.length === 0) return needsPorts ? [cause.required('spec.ports')] : [];
  return ports.flatMap((port, index) => {
    const number = Number(textAt(port, 'port'));
    const fits = Number.isInteger(number) && number > 0 && number < 65_536;
    return fits ? [] : [cause.invalid(`spec.ports[${index}].port`, number, 'must be between 1 and 65535, inclusive')];
  });
}

function changeCauses(object: StoredObject, old: StoredObject): StatusCause[] {
  const [next, before] = [textAt(object, 'spec.clusterIP'), textAt(old, 'spec.clusterIP')];
  return before === '' || next === before
    ? []
    : [cause.invalid('spec.clusterIPs[0]', [next], 'may not change once set')];
}

function externalText(object: StoredObject): string {
  if (textAt(object, 'spec.type') === 'ExternalName') return textAt(object, 'spec.externalName');
  const external = [
    ...listAt(object, 'status.loadBalancer.ingress').map(item => textAt(item, 'ip') || textAt(item, 'hostname')),
    ...listAt(object, 'spec.externalIPs').map(String),
  ];
  if (external.length > 0) return external.join(',');
  return textAt(object, 'spec.type') === 'LoadBalancer' ? '<pending>' : none;
}

function portsText(object: StoredObject): string {
  const texts = listAt(object, 'spec.ports').map(port => {
    const node = textAt(port, 'nodePort');
    return `${textAt(port, 'port')}${node === '' ? '' : `:${node}`}/${textAt(port, 'protocol')}`;
  });
  return texts.length === 0 ? none : texts.join(',');
}
