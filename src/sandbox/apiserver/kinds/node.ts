import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind, statusSubresource } from '../kind.ts';
import { listAt, memberAt, recordAt, textAt, textsAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, nameColumn, none, textColumn, wide } from './columns.ts';

const emptyInfo = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  containerRuntimeVersion: '',
  kubeletVersion: '',
  kubeProxyVersion: '',
  operatingSystem: '',
  architecture: '',
};
const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export const node: Kind = defineKind({
  group: '',
  version: 'v1',
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
  shortNames: ['no'],
  subresources: [statusSubresource],
  content: {
    spec: {
      podCIDR: 'string',
      podCIDRs: ['string'],
      providerID: 'string',
      unschedulable: 'boolean',
      taints: [{ key: 'string', value: 'string', effect: 'string', timeAdded: 'time' }],
      externalID: 'string',
    },
    status: {
      capacity: 'object',
      allocatable: 'object',
      phase: 'string',
      conditions: ['object'],
      addresses: [{ type: 'string', address: 'string' }],
      daemonEndpoints: 'object',
      nodeInfo: 'object',
      images: ['object'],
      volumesInUse: ['string'],
      volumesAttached: ['object'],
      config: 'object',
    },
  },
  fields: { 'spec.unschedulable': object => String(memberAt(object, 'spec.unschedulable') === true) },
  columns: [
    nameColumn,
    textColumn('Status', statusText),
    textColumn('Roles', rolesText),
    ageColumn,
    textColumn('Version', object => textAt(object, 'status.nodeInfo.kubeletVersion')),
    wide(textColumn('Internal-IP', object => addressOf(object, 'InternalIP'))),
    wide(textColumn('External-IP', object => addressOf(object, 'ExternalIP'))),
    wide(textColumn('OS-Image', object => infoOf(object, 'osImage'))),
    wide(textColumn('Kernel-Version', object => infoOf(object, 'kernelVersion'))),
    wide(textColumn('Container-Runtime', object => infoOf(object, 'containerRuntimeVersion'))),
  ],
  prepareCreate: object => withStatusDefaults({ ...object, spec: withNotReadyTaint(recordAt(object, 'spec')) }),
  prepareUpdate: (next, old, subresource) =>
    subresource === 'status'
      ? withStatusDefaults({ ...next, spec: old['spec'] })
      : { ...next, spec: withoutFalse(recordAt(next, 'spec')), status: old['status'] },
  check: (object, old) => [...taintCauses(object), ...(old === undefined ? [] : changeCauses(object, old))],
});

/** A new Node is tainted until it is ready. */
function withNotReadyTaint(spec: Record<string, unknown>): Record<string, unknown> {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const taints = listAt(spec, 'taints');
  const present = taints.some(item => textAt(item, 'key') === taint.key && textAt(item, 'effect') === taint.effect);
  return withoutFalse(present ? spec : { ...spec, taints: [...taints, taint] });
}

function withoutFalse(spec: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== false && value !== ''));
}

function withStatusDefaults(object: StoredObject): StoredObject {
  const status = recordAt(object, 'status');
  return {
    ...object,
    status: {
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      ...status,
      nodeInfo: { ...emptyInfo, ...recordAt(status, 'nodeInfo') },
    },
  };
}

function taintCauses(object: StoredObject): StatusCause[] {
  const seen = new Set<string>();
  return listAt(object, 'spec.taints').flatMap((taint, index) => {
    const field = `metadata.taints[${index}]`;
    const [key, effect] = [textAt(taint, 'key'), textAt(taint, 'effect')];
    if (effect === '') return [cause.required(`${field}.effect`)];
    if (!taintEffects.includes(effect)) return [cause.unsupported(`${field}.effect`, effect, taintEffects)];
    const pair = `${key}:${effect}`;
    const known = seen.has(pair);
    seen.add(pair);
    return known ? [cause.duplicate(field, taint, 'taints must be unique by key and effect pair')] : [];
  });
}

function changeCauses(object: StoredObject, old: StoredObject): StatusCause[] {
  const [next, before] = [textAt(object, 'spec.providerID'), textAt(old, 'spec.providerID')];
  if (before === '' || next === before) return [];
  return [
    cause.forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'),
    cause.forbidden(
      '[]',
      'node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)',
    ),
  ];
}

function statusText(object: StoredObject): string {
  const ready = listAt(object, 'status.conditions').find(condition => textAt(condition, 'type') === 'Ready');
  const known = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return memberAt(object, 'spec.unschedulable') === true ? `${known},SchedulingDisabled` : known;
}

function rolesText(object: StoredObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.entries(textsAt(object, 'metadata.labels')).flatMap(([key, value]) => {
    if (key.startsWith(prefix) && key.length > prefix.length) return [key.slice(prefix.length)];
    return key === 'kubernetes.io/role' && value !== '' ? [value] : [];
  });
  return roles.length === 0 ? none : [...new Set(roles)].sort().join(',');
}

function addressOf(object: StoredObject, type: string): string {
  const found = listAt(object, 'status.addresses').find(address => textAt(address, 'type') === type);
  return found === undefined ? none : textAt(found, 'address');
}

function infoOf(object: StoredObject, member: string): string {
  return textAt(object, `status.nodeInfo.${member}`) || '<unknown>';
}
