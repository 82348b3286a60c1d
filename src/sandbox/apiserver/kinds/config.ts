import { fromBase64, toBase64 } from '#base/bytes.ts';
import { sameData } from '#base/compare.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { defineKind, type Kind } from '../kind.ts';
import { configKeyProblems } from '../names.ts';
import { recordAt, textAt, textsAt, withMember } from '../object.ts';
import type { StoredObject } from '../ports.ts';
import { cause } from '../status.ts';
import { ageColumn, countOf, nameColumn, textColumn } from './columns.ts';

const maxBytes = 1024 * 1024;
const frozenField = 'field is immutable when `immutable` is set';

export const configMap: Kind = defineKind({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  shortNames: ['cm'],
  content: { immutable: 'boolean', data: 'strings', binaryData: 'base64' },
  columns: [nameColumn, textColumn('Data', object => countOf(object, 'data', 'binaryData')), ageColumn],
  check: (object, old) => [
    ...configMapCauses(object),
    ...(old === undefined ? [] : frozenCauses(object, old, ['data', 'binaryData'])),
  ],
});

export const secret: Kind = defineKind({
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
  content: { immutable: 'boolean', data: 'base64', stringData: 'strings', type: 'string' },
  fields: { type: object => textAt(object, 'type') },
  columns: [
    nameColumn,
    textColumn('Type', object => textAt(object, 'type')),
    textColumn('Data', object => countOf(object, 'data')),
    ageColumn,
  ],
  prepareCreate: mergeStringData,
  prepareUpdate: mergeStringData,
  check: (object, old) => [...secretCauses(object), ...(old === undefined ? [] : secretChangeCauses(object, old))],
});

function configMapCauses(object: StoredObject): StatusCause[] {
  const [data, binary] = [textsAt(object, 'data'), textsAt(object, 'binaryData')];
  const size = sum(Object.values(data), text => Buffer.byteLength(text)) + sum(Object.values(binary), decodedLength);
  return [
    ...Object.keys(data).flatMap(key => [
      ...keyCauses('data', key),
      ...(Object.hasOwn(binary, key)
        ? [cause.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')]
        : []),
    ]),
    ...Object.keys(binary).flatMap(key => keyCauses('binaryData', key)),
    ...(size > maxBytes ? [cause.tooLong('[]', `must have at most ${maxBytes} bytes`)] : []),
  ];
}

/** Sets the default type and moves stringData to data. */
function mergeStringData(object: StoredObject): StoredObject {
  const plain = Object.entries(textsAt(object, 'stringData')).map(([key, text]) => [key, toBase64(text)]);
  const data = { ...recordAt(object, 'data'), ...Object.fromEntries(plain) };
  const merged = withMember(object, 'data', Object.keys(data).length === 0 ? undefined : data);
  return { ...withMember(merged, 'stringData', undefined), type: textAt(object, 'type') || 'Opaque' };
}

const requiredKeys: Record<string, readonly string[]> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};

function secretCauses(object: StoredObject): StatusCause[] {
  const [data, type] = [textsAt(object, 'data'), textAt(object, 'type')];
  const missing = (requiredKeys[type] ?? []).filter(key => !Object.hasOwn(data, key));
  const account = 'kubernetes.io/service-account.name';
  return [
    ...Object.keys(data).flatMap(key => keyCauses('data', key)),
    ...missing.map(key => cause.required(`data[${key}]`)),
    ...(type === 'kubernetes.io/service-account-token' && (object.metadata.annotations?.[account] ?? '') === ''
      ? [cause.required(`metadata.annotations[${account}]`)]
      : []),
    ...(sum(Object.values(data), decodedLength) > maxBytes
      ? [cause.tooLong('data', `must have at most ${maxBytes} bytes`)]
      : []),
  ];
}

function secretChangeCauses(object: StoredObject, old: StoredObject): StatusCause[] {
  const type = textAt(object, 'type');
  return [
    ...(type === textAt(old, 'type') ? [] : [cause.invalid('type', type, 'field is immutable')]),
    ...frozenCauses(object, old, ['data']),
  ];
}

function frozenCauses(object: StoredObject, old: StoredObject, members: readonly string[]): StatusCause[] {
  if (old['immutable'] !== true) return [];
  return [
    ...(object['immutable'] === true ? [] : [cause.forbidden('immutable', frozenField)]),
    ...members
      .filter(member => !sameData(recordAt(object, member), recordAt(old, member)))
      .map(member => cause.forbidden(member, frozenField)),
  ];
}

function keyCauses(field: string, key: string): StatusCause[] {
  return configKeyProblems(key).map(problem => cause.invalid(`${field}[${key}]`, key, problem));
}

function sum(texts: readonly string[], size: (text: string) => number): number {
  return texts.reduce((total, text) => total + size(text), 0);
}

function decodedLength(text: string): number {
  return fromBase64(text)?.length ?? 0;
}
