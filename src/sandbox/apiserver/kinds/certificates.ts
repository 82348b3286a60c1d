import { fromBase64, fromUtf8 } from '#base/bytes.ts';
import { scanPem } from '#base/pem.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { knownUsages } from '../auth/key-usages.ts';
import { defineKind, type Kind, type KindContext, statusSubresource } from '../kind.ts';
import { hasCondition, listAt, recordAt, textAt, withMember } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, nameColumn, textColumn } from './columns.ts';

export const certificateSigningRequest: Kind = defineKind({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
  shortNames: ['csr'],
  subresources: [{ name: 'approval', verbs: ['get', 'patch', 'update'] }, statusSubresource],
  content: {
    spec: {
      request: 'bytes',
      signerName: 'string',
      expirationSeconds: 'integer',
      usages: ['string'],
      username: 'string',
      uid: 'string',
      groups: ['string'],
      extra: 'object',
    },
    status: { conditions: ['object'], certificate: 'bytes' },
  },
  fields: { 'spec.signerName': object => textAt(object, 'spec.signerName') },
  columns: [
    nameColumn,
    ageColumn,
    textColumn('SignerName', object => textAt(object, 'spec.signerName') || '<none>'),
    textColumn('Requestor', object => textAt(object, 'spec.username')),
    textColumn('RequestedDuration', object => {
      const seconds = textAt(object, 'spec.expirationSeconds');
      return seconds === '' ? '<none>' : `${seconds}s`;
    }),
    textColumn('Condition', conditionText),
  ],
  prepareCreate: (object, context) => ({
    ...object,
    spec: { ...recordAt(object, 'spec'), ...requesterOf(context) },
    status: {},
  }),
  prepareUpdate: (next, old, subresource) => {
    const { conditions } = recordAt(next, 'status');
    if (subresource === 'approval')
      return { ...next, spec: old['spec'], status: withoutUndefined({ ...recordAt(old, 'status'), conditions }) };
    if (subresource === 'status') return { ...next, spec: old['spec'] };
    return { ...next, spec: old['spec'], status: old['status'] };
  },
  stamp: withConditionTimes,
  check: (object, old) => [
    ...(old === undefined ? requestCauses(object) : []),
    ...conditionCauses(object),
    ...(old === undefined ? [] : changeCauses(object, old)),
  ],
});

function requesterOf({ user }: KindContext): Record<string, unknown> {
  return withoutUndefined({
    username: user.username,
    uid: user.uid === '' ? undefined : user.uid,
    groups: user.groups.length === 0 ? undefined : [...user.groups],
    extra: user.extra,
  });
}

function withoutUndefined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Sets the condition times that a client left out. */
function withConditionTimes(object: StoredObject, old: StoredObject | undefined, now: string): StoredObject {
  const conditions = listAt(object, 'status.conditions');
  if (conditions.length === 0) return object;
  const stamped = conditions.map(condition => {
    const before = listAt(old, 'status.conditions').find(item => textAt(item, 'type') === textAt(condition, 'type'));
    const same = before !== undefined && textAt(before, 'status') === textAt(condition, 'status');
    const since = same ? textAt(before, 'lastTransitionTime') : '';
    return {
      ...(condition as object),
      lastUpdateTime: textAt(condition, 'lastUpdateTime') || now,
      lastTransitionTime: textAt(condition, 'lastTransitionTime') || since || now,
    };
  });
  return withMember(object, 'status', { ...recordAt(object, 'status'), conditions: stamped });
}

function requestCauses(object: StoredObject): StatusCause[] {
  const signer = textAt(object, 'spec.signerName');
  const asked = listAt(object, 'spec.usages').map(String);
  const blocks = scanPem(decodeText(object, 'spec.request')).blocks;
  return [
    ...(blocks[0]?.type === 'CERTIFICATE REQUEST'
      ? []
      : [cause.invalid('spec.request', textAt(object, 'spec.request'), 'PEM block type must be CERTIFICATE REQUEST')]),
    ...(asked.length === 0 ? [cause.required('spec.usages', 'usages must be provided')] : []),
    ...asked.flatMap((usage, index) => {
      if (!knownUsages.includes(usage)) return [cause.unsupported(`spec.usages[${index}]`, usage, knownUsages)];
      return asked.indexOf(usage) < index ? [cause.duplicate(`spec.usages[${index}]`, usage)] : [];
    }),
    ...signerCauses(signer),
  ];
}

function signerCauses(signer: string): StatusCause[] {
  const field = 'spec.signerName';
  if (signer === '') return [cause.required(field)];
  const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
  return /^[a-z0-9][a-z0-9.-]*\/[A-Za-z0-9._:-]+$/.test(signer) ? [] : [cause.invalid(field, signer, form)];
}

function conditionCauses(object: StoredObject): StatusCause[] {
  const conditions = listAt(object, 'status.conditions');
  const types = conditions.map(condition => textAt(condition, 'type'));
  return conditions.flatMap((condition, index) => {
    const field = `status.conditions[${index}]`;
    const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status')];
    if (type === '') return [cause.required(`${field}.type`)];
    const standard = ['Approved', 'Denied', 'Failed'].includes(type);
    if (standard && status !== 'True')
      return [
        status === '' ? cause.required(`${field}.status`) : cause.unsupported(`${field}.status`, status, ['True']),
      ];
    const other = type === 'Denied' ? 'Approved' : type === 'Approved' ? 'Denied' : '';
    if (other !== '' && types.indexOf(other) !== -1 && types.indexOf(other) < index)
      return [cause.invalid(`${field}.type`, type, 'Approved and Denied conditions are mutually exclusive')];
    return types.indexOf(type) < index ? [cause.duplicate(`${field}.type`, type)] : [];
  });
}

function changeCauses(object: StoredObject, old: StoredObject): StatusCause[] {
  const kept = ['Approved', 'Denied', 'Failed'].filter(type => hasCondition(old, type) && !hasCondition(object, type));
  const [next, before] = [textAt(object, 'status.certificate'), textAt(old, 'status.certificate')];
  return [
    ...kept.map(type => cause.forbidden('status.conditions', `updates may not remove a condition of type "${type}"`)),
    ...(before !== '' && next !== before
      ? [cause.forbidden('status.certificate', 'updates may not modify existing certificate content')]
      : []),
    ...(before === '' && next !== '' ? certificateCauses(object) : []),
  ];
}

function certificateCauses(object: StoredObject): StatusCause[] {
  const found = scanPem(decodeText(object, 'status.certificate')).blocks.some(block => block.type === 'CERTIFICATE');
  const why = 'must contain at least one CERTIFICATE PEM block';
  return found ? [] : [cause.invalid('status.certificate', '<certificate data>', why)];
}

function decodeText(object: StoredObject, path: string): string {
  return fromUtf8(fromBase64(textAt(object, path)) ?? new Uint8Array()) ?? '';
}

function conditionText(object: StoredObject): string {
  const types = ['Approved', 'Denied', 'Failed'].filter(type => hasCondition(object, type));
  const issued = textAt(object, 'status.certificate') === '' ? [] : ['Issued'];
  return types.length === 0 ? 'Pending' : [...types, ...issued].join(',');
}
