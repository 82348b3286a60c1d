import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { versionCauses } from './check-crd-version.ts';
import { checkSchema } from './check-schema.ts';

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const version = (change: Record<string, unknown>): unknown => ({
  name: 'v1',
  schema: { openAPIV3Schema: schema },
  ...change,
});
const column = (change: Record<string, unknown>): unknown =>
  version({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a', ...change }] });
const scale = (paths: Record<string, unknown>): unknown => version({ subresources: { scale: paths } });
const withStatus = (root: Record<string, unknown>): unknown =>
  version({ subresources: { status: {} }, schema: { openAPIV3Schema: { ...schema, ...root } } });

function found(value: unknown): string[] {
  return versionCauses(value, 'V', checkSchema).map(
    ({ reason, field }) => `${reason?.replace('FieldValue', '')} ${field}`,
  );
}

const replicas = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

const good: [string, unknown][] = [
  ['a schema', version({})],
  ['columns', column({})],
  ['a column with a format', column({ type: 'integer', format: 'int32' })],
  ['a status', withStatus({ description: 'x', required: ['a'], 'x-kubernetes-preserve-unknown-fields': true })],
  ['a scale', scale(replicas)],
  ['a scale with a selector', scale({ ...replicas, labelSelectorPath: '.status.selector' })],
];

test.each(good)('takes a version with %s', (_name, value) => {
  expect(found(value)).toEqual([]);
});

const bad: [string, unknown, string[]][] = [
  ['no name', version({ name: '' }), ['Invalid V.name']],
  ['a name in capitals', version({ name: 'V1' }), ['Invalid V.name']],
  ['no schema', version({ schema: undefined }), ['Required V.schema.openAPIV3Schema']],
  ['a bad schema', version({ schema: { openAPIV3Schema: {} } }), ['Required V.schema.openAPIV3Schema.type']],
  ['a status and alternatives', withStatus({ anyOf: [{ required: ['a'] }] }), ['Invalid V.schema.openAPIV3Schema']],
  ['a column without a name', column({ name: '' }), ['Required V.additionalPrinterColumns[0].name']],
  ['a column without a type', column({ type: '' }), ['Required V.additionalPrinterColumns[0].type']],
  ['a column of an unknown type', column({ type: 'frob' }), ['Invalid V.additionalPrinterColumns[0].type']],
  ['a column of an unknown format', column({ format: 'frob' }), ['Invalid V.additionalPrinterColumns[0].format']],
  ['a column without a path', column({ jsonPath: '' }), ['Required V.additionalPrinterColumns[0].jsonPath']],
  ['a column with a path that is none', column({ jsonPath: 'a[' }), ['Invalid V.additionalPrinterColumns[0].jsonPath']],
  [
    'a scale without paths',
    scale({}),
    ['Required V.subresources.scale.specReplicasPath', 'Required V.subresources.scale.statusReplicasPath'],
  ],
  [
    'a scale with paths to elsewhere',
    scale({ specReplicasPath: '.status.a', statusReplicasPath: '.spec.a', labelSelectorPath: '.metadata.a' }),
    [
      'Invalid V.subresources.scale.specReplicasPath',
      'Invalid V.subresources.scale.statusReplicasPath',
      'Invalid V.subresources.scale.labelSelectorPath',
    ],
  ],
];

test.each(bad)('refuses a version with %s', (_name, value, want) => {
  expect(found(value)).toEqual(want);
});

test('lets alternatives stand at the root where the status is no subresource', () => {
  const root = { ...schema, anyOf: [{ required: ['a'] }] };
  expect(found(version({ schema: { openAPIV3Schema: root } }))).toEqual([]);
});

test('judges anything', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, part) => {
      found(value);
      found(version({ subresources: part, additionalPrinterColumns: part, schema: part }));
    }),
    { numRuns: 1000 },
  );
});
