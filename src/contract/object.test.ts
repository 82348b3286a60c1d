import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { objectLabel, readObject, readObjectOf } from './object.ts';

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'win-1',
    uid: 'u-1',
    labels: { 'kubernetes.io/os': 'windows' },
    annotations: { 'windowsmachineconfig.openshift.io/reboot-required': '' },
    creationTimestamp: '2026-01-02T03:04:05Z',
    deletionTimestamp: '2026-01-03T00:00:00Z',
    resourceVersion: '77',
  },
  spec: { unschedulable: true },
};

test('reads the identity and metadata of an object', () => {
  expect(readObject(node)).toMatchObject({
    apiVersion: 'v1',
    kind: 'Node',
    label: 'Node win-1',
    meta: { ...node.metadata, namespace: '' },
  });
});

test('the other members are read with the object named in messages', () => {
  const { fields } = readObject(node);
  expect(fields.object('spec').boolean('unschedulable')).toBe(true);
  expect(() => fields.object('spec').string('unschedulable')).toThrow('Node win-1: spec.unschedulable is true');
});

test('members that are not there are empty', () => {
  expect(readObject({ apiVersion: 'v1', kind: 'ConfigMap' }).meta).toEqual({
    name: '',
    namespace: '',
    uid: '',
    labels: {},
    annotations: {},
    creationTimestamp: '',
    deletionTimestamp: undefined,
    resourceVersion: undefined,
  });
});

test('null is the same as absent, as YAML writes it', () => {
  const metadata = { name: 'a', labels: null, annotations: { k: null }, creationTimestamp: null };
  const { meta } = readObject({ apiVersion: 'v1', kind: 'Node', metadata });
  expect(meta).toMatchObject({ name: 'a', labels: {}, annotations: { k: '' }, creationTimestamp: '' });
});

const labels: [string, { name: string; namespace?: string }, string][] = [
  ['Node', { name: 'win-1' }, 'Node win-1'],
  ['Node', { name: 'win-1', namespace: '' }, 'Node win-1'],
  ['ConfigMap', { name: 'windows-instances', namespace: 'wmco' }, 'ConfigMap wmco/windows-instances'],
];
for (const [kind, meta, want] of labels) test(`is called ${want}`, () => expect(objectLabel(kind, meta)).toBe(want));

const invalid: [string, unknown, string, string][] = [
  ['a text', 'kind: Node', 'INPUT_MALFORMED', 'a string of 10 characters is not a Kubernetes object'],
  ['a list', [node], 'INPUT_MALFORMED', 'a list of 1 is not a Kubernetes object'],
  ['a number', 5, 'INPUT_MALFORMED', 'a number is not a Kubernetes object'],
  ['null', null, 'INPUT_MALFORMED', 'an empty document is not a Kubernetes object'],
  ['nothing', undefined, 'INPUT_MALFORMED', 'an empty document is not a Kubernetes object'],
  ['no kind', { apiVersion: 'v1' }, 'FIELD_INVALID', 'object: kind is missing; expected a string'],
  ['no version', { kind: 'Node' }, 'FIELD_INVALID', 'object: apiVersion is missing; expected a string'],
  ['a kind that is no text', { apiVersion: 'v1', kind: 5 }, 'FIELD_INVALID', 'object: kind is 5, not a string'],
  [
    'metadata that is no object',
    { ...node, metadata: 'win-1' },
    'FIELD_INVALID',
    'Node: metadata is "win-1", not an object',
  ],
  [
    'a name that is no text',
    { ...node, metadata: { name: 1 } },
    'FIELD_INVALID',
    'Node: metadata.name is 1, not a string',
  ],
  [
    'a label that is no text',
    { ...node, metadata: { name: 'a', labels: { byoh: true } } },
    'FIELD_INVALID',
    'Node: metadata.labels.byoh is true, not a string',
  ],
];
for (const [name, value, code, message] of invalid) {
  test(`rejects ${name}`, () => {
    const result = attempt(() => readObject(value));
    expect(result).toMatchObject({ ok: false, error: { code, message, remedy: expect.stringMatching(/\.$/) } });
  });
}

test('does not quote a private key that was given as an object by mistake', () => {
  const result = attempt(() => readObject('-----BEGIN PRIVATE KEY-----\nMIIhidden\n'));
  expect(inspect(result)).not.toContain('MIIhidden');
});

test('gives an object or an AppError for any data', () => {
  const data = fc.record(
    {
      apiVersion: fc.oneof(fc.string(), fc.anything()),
      kind: fc.oneof(fc.string(), fc.anything()),
      metadata: fc.oneof(fc.anything(), fc.record({ name: fc.string(), labels: fc.anything() })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(data, fc.anything()), value => {
      const result = attempt(() => readObject(value));
      if (result.ok) expect(typeof result.value.meta.name).toBe('string');
    }),
    { numRuns: 2000 },
  );
});

test('an object out of a file is named with the file, in messages about its fields too', () => {
  const object = readObjectOf('dump/nodes.yaml', node);
  expect(object).toMatchObject({ kind: 'Node', label: 'Node win-1 (dump/nodes.yaml)', meta: { name: 'win-1' } });
  expect(() => object.fields.string('spec')).toThrow('Node win-1 (dump/nodes.yaml): spec is {"unschedulable":true}');
  expect(attempt(() => readObjectOf('x.yaml', 5))).toMatchObject({ ok: false, error: { code: 'INPUT_MALFORMED' } });
});
