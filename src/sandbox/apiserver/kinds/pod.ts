import { sameData } from '#base/compare.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind, statusSubresource } from '../kind.ts';
import { hasCondition, listAt, memberAt, numberAt, recordAt, textAt } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, countColumn, nameColumn, none, textColumn, wide } from './columns.ts';

const fields = [
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'status.phase',
  'status.podIP',
  'status.nominatedNodeName',
];

export const pod: Kind = defineKind({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  shortNames: ['po'],
  categories: ['all'],
  subresources: [
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
    statusSubresource,
  ],
  returnsDeleted: true,
  content: { spec: 'object', status: 'object' },
  fields: Object.fromEntries(fields.map(field => [field, (object: StoredObject) => textAt(object, field)])),
  columns: [
    nameColumn,
    textColumn('Ready', readyText),
    textColumn('Status', statusText),
    countColumn('Restarts', object =>
      containerStatuses(object).reduce<number>((sum, item) => sum + numberAt(item, 'restartCount'), 0),
    ),
    ageColumn,
    wide(textColumn('IP', object => textAt(object, 'status.podIP') || none)),
    wide(textColumn('Node', object => textAt(object, 'spec.nodeName') || none)),
    wide(textColumn('Nominated Node', object => textAt(object, 'status.nominatedNodeName') || none)),
    wide(textColumn('Readiness Gates', object => gatesText(object))),
  ],
  prepareCreate: object => {
    const spec = withPodDefaults(recordAt(object, 'spec'));
    return {
      ...object,
      spec: {
        priority: 0,
        enableServiceLinks: true,
        preemptionPolicy: 'PreemptLowerPriority',
        ...spec,
        tolerations: withDefaultTolerations(listAt(spec, 'tolerations')),
      },
      status: { phase: 'Pending', qosClass: qosClassOf(spec) },
    };
  },
  prepareUpdate: (next, old, subresource) =>
    subresource === ''
      ? { ...next, spec: withPodDefaults(recordAt(next, 'spec')), status: old['status'] }
      : {
          ...next,
          spec: old['spec'],
          status: { ...withAllAddresses(recordAt(next, 'status')), qosClass: memberAt(old, 'status.qosClass') },
        },
  check: (object, old) => [...contentCauses(object), ...(old === undefined ? [] : changeCauses(object, old))],
  graceSeconds: (object, asked) => {
    if (textAt(object, 'spec.nodeName') === '') return 0;
    if (['Failed', 'Succeeded'].includes(textAt(object, 'status.phase'))) return 0;
    return asked ?? numberAt(object, 'spec.terminationGracePeriodSeconds');
  },
});

/** Defaults of a pod spec, also in the template of a workload. */
export function withPodDefaults(spec: Record<string, unknown>): Record<string, unknown> {
  const account = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  return {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    ...spec,
    ...(account === '' ? {} : { serviceAccountName: account, serviceAccount: account }),
    ...(Array.isArray(spec['containers']) ? { containers: spec['containers'].map(withContainerDefaults) } : {}),
    ...(Array.isArray(spec['initContainers'])
      ? { initContainers: spec['initContainers'].map(withContainerDefaults) }
      : {}),
  };
}

/** Keeps podIPs in line with podIP. */
function withAllAddresses(status: Record<string, unknown>): Record<string, unknown> {
  const ip = textAt(status, 'podIP');
  return ip === '' ? status : { podIPs: [{ ip }], ...status };
}

function withContainerDefaults(container: unknown): unknown {
  const image = textAt(container, 'image');
  const tag = /:([^:/@]+)$/.exec(image)?.[1] ?? (image.includes('@') ? 'digest' : 'latest');
  return {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: tag === 'latest' ? 'Always' : 'IfNotPresent',
    ...(container as object),
  };
}

/** Default tolerations: a pod stays for five minutes on a node that is not ready. */
function withDefaultTolerations(tolerations: unknown[]): unknown[] {
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
    key =>
      !tolerations.some(
        item =>
          (textAt(item, 'key') === key || textAt(item, 'key') === '') &&
          ['NoExecute', ''].includes(textAt(item, 'effect')),
      ),
  );
  return [
    ...tolerations,
    ...missing.map(key => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })),
  ];
}

function qosClassOf(spec: Record<string, unknown>): string {
  const resources = listAt(spec, 'containers').map(container => recordAt(container, 'resources'));
  const counted = ['cpu', 'memory'];
  const asks = (kind: string) => resources.some(item => counted.some(name => textAt(item, `${kind}.${name}`) !== ''));
  if (!asks('requests') && !asks('limits')) return 'BestEffort';
  const guaranteed = resources.every(item =>
    counted.every(name => {
      const limit = textAt(item, `limits.${name}`);
      return limit !== '' && [limit, ''].includes(textAt(item, `requests.${name}`));
    }),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function contentCauses(object: StoredObject): StatusCause[] {
  const containers = listAt(object, 'spec.containers');
  if (containers.length === 0) return [cause.required('spec.containers')];
  return containers.flatMap((container, index) =>
    ['name', 'image']
      .filter(member => textAt(container, member) === '')
      .map(member => cause.required(`spec.containers[${index}].${member}`)),
  );
}

const changeable = '`spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`';

function changeCauses(object: StoredObject, old: StoredObject): StatusCause[] {
  const [next, before] = [fixedPart(object), fixedPart(old)];
  const [added, kept] = [listAt(object, 'spec.tolerations'), listAt(old, 'spec.tolerations')];
  const keeps = kept.every(item => added.some(other => sameData(item, other)));
  if (sameData(next, before) && keeps) return [];
  const why = `pod updates may not change fields other than ${changeable} or \`spec.tolerations\` (only additions to existing tolerations)`;
  return [cause.forbidden('spec', why)];
}

function fixedPart(object: StoredObject): unknown {
  const spec: Record<string, unknown> = { ...recordAt(object, 'spec') };
  for (const member of ['containers', 'initContainers'])
    spec[member] = listAt(spec, member).map(container => ({ ...(container as object), image: '' }));
  delete spec['activeDeadlineSeconds'];
  delete spec['tolerations'];
  return spec;
}

function containerStatuses(object: StoredObject): unknown[] {
  return listAt(object, 'status.containerStatuses');
}

function readyText(object: StoredObject): string {
  const ready = containerStatuses(object).filter(
    item => memberAt(item, 'ready') === true && memberAt(item, 'state.running') !== undefined,
  );
  return `${ready.length}/${listAt(object, 'spec.containers').length}`;
}

function statusText(object: StoredObject): string {
  const reasons = containerStatuses(object).flatMap(item =>
    ['state.waiting.reason', 'state.terminated.reason'].map(path => textAt(item, path)).filter(text => text !== ''),
  );
  if (object.metadata.deletionTimestamp !== undefined)
    return textAt(object, 'status.reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  return reasons[0] ?? (textAt(object, 'status.reason') || textAt(object, 'status.phase'));
}

function gatesText(object: StoredObject): string {
  const gates = listAt(object, 'spec.readinessGates');
  if (gates.length === 0) return none;
  const passed = gates.filter(gate => hasCondition(object, textAt(gate, 'conditionType'), 'True'));
  return `${passed.length}/${gates.length}`;
}
