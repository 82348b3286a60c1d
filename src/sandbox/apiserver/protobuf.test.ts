import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeProtobuf } from './protobuf.ts';

/** A field with a length in front. */
const field = (number: number, content: Buffer | string): Buffer => {
  const octets = Buffer.from(content as string);
  return Buffer.concat([varint((number << 3) | 2), varint(octets.length), octets]);
};
const integer = (number: number, value: number): Buffer => Buffer.concat([varint(number << 3), varint(value)]);
const message = (...fields: Buffer[]): Buffer => Buffer.concat(fields);
const entry = (key: string, value: Buffer | string): Buffer => message(field(1, key), field(2, value));

function varint(value: number): Buffer {
  const octets: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) octets.push((rest % 128) | 0x80);
  return Buffer.from([...octets, rest]);
}

const magic = Buffer.from('k8s\0');
const envelope = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  Buffer.concat([magic, message(field(1, message(field(1, apiVersion), field(2, kind))), field(2, raw))]);
const metadata = field(1, message(field(1, 'a'), field(3, 'n'), field(5, ''), field(8, Buffer.alloc(0))));

const objects: [string, string, Buffer, unknown][] = [
  [
    'v1',
    'ConfigMap',
    message(metadata, field(2, entry('k', 'v')), field(2, entry('l', '')), field(3, entry('b', '\0')), integer(4, 1)),
    {
      metadata: { name: 'a', namespace: 'n' },
      data: { k: 'v', l: '' },
      binaryData: { b: 'AA==' },
      immutable: true,
    },
  ],
  [
    'v1',
    'Secret',
    message(metadata, field(2, entry('k', 'v')), field(3, 'Opaque'), field(4, entry('s', 't')), integer(5, 0)),
    {
      metadata: { name: 'a', namespace: 'n' },
      data: { k: 'dg==' },
      type: 'Opaque',
      stringData: { s: 't' },
      immutable: false,
    },
  ],
  ['v1', 'Namespace', message(metadata, field(2, ''), field(3, '')), { metadata: { name: 'a', namespace: 'n' } }],
  [
    'v1',
    'ServiceAccount',
    message(metadata, field(2, field(3, 's')), field(3, field(1, 'p')), integer(4, 0)),
    {
      metadata: { name: 'a', namespace: 'n' },
      secrets: [{ name: 's' }],
      imagePullSecrets: [{ name: 'p' }],
      automountServiceAccountToken: false,
    },
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'Role',
    message(metadata, field(2, message(field(1, 'get'), field(1, 'list'), field(2, ''), field(3, 'pods')))),
    {
      metadata: { name: 'a', namespace: 'n' },
      rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }],
    },
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'RoleBinding',
    message(
      metadata,
      field(2, message(field(1, 'User'), field(3, 'joe'))),
      field(3, message(field(1, 'rbac.authorization.k8s.io'), field(2, 'Role'), field(3, 'r'))),
    ),
    {
      metadata: { name: 'a', namespace: 'n' },
      subjects: [{ kind: 'User', name: 'joe' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    },
  ],
  [
    'authorization.k8s.io/v1',
    'SelfSubjectAccessReview',
    field(2, field(1, message(field(1, 'n'), field(2, 'get'), field(5, 'pods')))),
    { spec: { resourceAttributes: { namespace: 'n', verb: 'get', resource: 'pods' } } },
  ],
  [
    'authorization.k8s.io/v1',
    'SelfSubjectAccessReview',
    field(2, field(2, message(field(1, '/x'), field(2, 'get')))),
    { spec: { nonResourceAttributes: { path: '/x', verb: 'get' } } },
  ],
  ['authorization.k8s.io/v1', 'SelfSubjectRulesReview', field(2, field(1, 'n')), { spec: { namespace: 'n' } }],
  [
    'authorization.k8s.io/v1',
    'SubjectAccessReview',
    field(2, message(field(1, field(2, 'get')), field(3, 'joe'), field(4, 'g'), field(4, 'h'), field(6, 'u'))),
    { spec: { resourceAttributes: { verb: 'get' }, user: 'joe', groups: ['g', 'h'], uid: 'u' } },
  ],
  [
    'authentication.k8s.io/v1',
    'TokenRequest',
    field(
      2,
      message(field(1, 'x'), field(3, message(field(1, 'Pod'), field(2, 'v1'), field(3, 'p'))), integer(4, 3600)),
    ),
    {
      spec: {
        audiences: ['x'],
        boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' },
        expirationSeconds: 3600,
      },
    },
  ],
  [
    'authentication.k8s.io/v1',
    'TokenReview',
    field(2, message(field(1, 't'), field(2, 'x'))),
    { spec: { token: 't', audiences: ['x'] } },
  ],
  [
    'policy/v1',
    'Eviction',
    message(
      metadata,
      field(2, message(integer(1, 0), field(2, field(1, 'u')), field(4, 'Background'), field(5, 'All'))),
    ),
    {
      metadata: { name: 'a', namespace: 'n' },
      deleteOptions: {
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u' },
        propagationPolicy: 'Background',
        dryRun: ['All'],
      },
    },
  ],
  ['v1', 'DeleteOptions', message(integer(1, 30)), { gracePeriodSeconds: 30 }],
  [
    'certificates.k8s.io/v1',
    'CertificateSigningRequest',
    message(
      field(1, message(field(1, 'c'), field(6, '17'), field(8, integer(1, 1_767_225_600)))),
      field(2, message(field(1, 'pem'), field(5, 'client auth'), field(7, 'a.b/c'), integer(8, 60))),
      field(3, field(1, message(field(1, 'Approved'), field(6, 'True'), field(4, integer(1, 1_767_225_600))))),
    ),
    {
      metadata: { name: 'c', resourceVersion: '17', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { request: 'cGVt', usages: ['client auth'], signerName: 'a.b/c', expirationSeconds: 60 },
      status: { conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: '2026-01-01T00:00:00Z' }] },
    },
  ],
];
test.each(objects)('reads %s %s', (apiVersion, kind, raw, wanted) => {
  expect(decodeProtobuf(envelope(apiVersion, kind, raw))).toEqual({ apiVersion, kind, ...(wanted as object) });
});

test('reads metadata in full', () => {
  const full = message(
    field(2, 'a-'),
    field(11, entry('x', 'y')),
    field(12, entry('q', 'r')),
    field(13, message(field(1, 'Node'), field(3, 'n'), field(4, 'u'), field(5, 'v1'), integer(6, 1))),
    field(14, 'a.b/c'),
    integer(10, 30),
    field(17, 'ignored'),
  );
  expect(decodeProtobuf(envelope('v1', 'Namespace', field(1, full)))?.['metadata']).toEqual({
    generateName: 'a-',
    labels: { x: 'y' },
    annotations: { q: 'r' },
    ownerReferences: [{ kind: 'Node', name: 'n', uid: 'u', apiVersion: 'v1', controller: true }],
    finalizers: ['a.b/c'],
    deletionGracePeriodSeconds: 30,
  });
});

test('keeps the keys of a map', () => {
  const object = decodeProtobuf(envelope('v1', 'ConfigMap', field(2, entry('__proto__', 'x'))));
  expect(Object.getOwnPropertyDescriptor(object?.['data'], '__proto__')?.value).toBe('x');
});

const whole = envelope('v1', 'ConfigMap', metadata);
const unreadable: [string, Buffer][] = [
  ['nothing', Buffer.alloc(0)],
  ['JSON', Buffer.from('{"kind":"ConfigMap"}')],
  ['no more than the beginning', magic],
  ['a kind it does not know', envelope('v1', 'Pod', metadata)],
  ['a kind that every object has', envelope('v1', 'toString', metadata)],
  ['half of it', whole.subarray(0, whole.length - 4)],
  ['a field of fixed length', Buffer.concat([magic, Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8])])],
  ['a number without end', Buffer.concat([magic, Buffer.alloc(12, 0xff)])],
];
test.each(unreadable)('reads no object from %s', (_, bytes) => expect(decodeProtobuf(bytes)).toBeUndefined());

test('never fails on any octets', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), octets => {
      decodeProtobuf(Buffer.concat([magic, Buffer.from(octets)]));
      decodeProtobuf(envelope('v1', 'ConfigMap', Buffer.from(octets)));
    }),
    { numRuns: 3000 },
  );
});
