import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredObject } from '../ports.ts';
import { crdCauses } from './check-crd.ts';
import { checkSchema } from './check-schema.ts';

const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
const names = { plural: 'apps', singular: 'app', kind: 'App', listKind: 'AppList' };

function crd(spec: Record<string, unknown>, metadata: Record<string, unknown> = {}): StoredObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'apps.ex.io', ...metadata },
    spec: { group: 'ex.io', scope: 'Namespaced', names, versions: [version], ...spec },
    status: { storedVersions: ['v1'] },
  };
}

function found(object: StoredObject): string[] {
  return crdCauses(object, checkSchema).map(({ reason, field }) => `${reason?.replace('FieldValue', '')} ${field}`);
}

const named = (change: Record<string, unknown>): StoredObject => crd({ names: { ...names, ...change } });

const good: [string, StoredObject][] = [
  ['the least there is', crd({})],
  ['objects without a namespace', crd({ scope: 'Cluster' })],
  ['two versions', crd({ versions: [version, { ...version, name: 'v1alpha1', storage: false, served: false }] })],
  ['short names and categories', named({ shortNames: ['ap', 'a'], categories: ['all'] })],
  ['no conversion', crd({ conversion: { strategy: 'None' } })],
  [
    'a webhook',
    crd({ conversion: { strategy: 'Webhook', webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] } } }),
  ],
  ['pruning in so many words', crd({ preserveUnknownFields: false })],
];

test.each(good)('takes %s', (_name, object) => {
  expect(found(object)).toEqual([]);
});

/** Fields and reasons are those of kube-apiserver. */
const bad: [string, StoredObject, string[]][] = [
  ['another name', crd({}, { name: 'other.ex.io' }), ['Invalid metadata.name']],
  ['no group', crd({ group: '' }, { name: 'apps.' }), ['Required spec.group']],
  ['a group that is no domain', crd({ group: 'E_x' }, { name: 'apps.E_x' }), ['Invalid spec.group']],
  ['a group without a dot', crd({ group: 'ex' }, { name: 'apps.ex' }), ['Invalid spec.group']],
  ['no scope', crd({ scope: '' }), ['Required spec.scope']],
  ['an unknown scope', crd({ scope: 'Some' }), ['NotSupported spec.scope']],
  ['no versions', crd({ versions: [] }), ['Invalid spec.versions']],
  ['no stored version', crd({ versions: [{ ...version, storage: false }] }), ['Invalid spec.versions']],
  ['two stored versions', crd({ versions: [version, { ...version, name: 'v2' }] }), ['Invalid spec.versions']],
  ['a version twice', crd({ versions: [version, { ...version, storage: false }] }), ['Invalid spec.versions']],
  [
    'a plural in capitals',
    crd({ names: { ...names, plural: 'Apps' } }, { name: 'Apps.ex.io' }),
    ['Invalid spec.names.plural'],
  ],
  ['a singular with a blank', named({ singular: 'a b' }), ['Invalid spec.names.singular']],
  ['a kind with a blank', named({ kind: 'A b' }), ['Invalid spec.names.kind']],
  ['a list kind with a blank', named({ listKind: 'A b' }), ['Invalid spec.names.listKind']],
  ['a list of the same kind', named({ listKind: 'App' }), ['Invalid spec.names.listKind']],
  ['a bad short name', named({ shortNames: ['ok', 'X Y'] }), ['Invalid spec.names.shortNames[1]']],
  ['a bad category', named({ categories: ['A_b'] }), ['Invalid spec.names.categories[0]']],
  ['no kind', named({ kind: '', listKind: '' }), ['Required spec.names.kind', 'Required spec.names.listKind']],
  ['an unknown conversion', crd({ conversion: { strategy: 'X' } }), ['NotSupported spec.conversion.strategy']],
  ['a conversion without a strategy', crd({ conversion: { x: 1 } }), ['Required spec.conversion.strategy']],
  [
    'a webhook without anything',
    crd({ conversion: { strategy: 'Webhook' } }),
    ['Required spec.conversion.webhookClientConfig', 'Required spec.conversion.conversionReviewVersions'],
  ],
  [
    'a webhook nobody calls',
    crd({ conversion: { strategy: 'None', webhook: {} } }),
    ['Forbidden spec.conversion.webhookClientConfig'],
  ],
  ['unknown fields', crd({ preserveUnknownFields: true }), ['Invalid spec.preserveUnknownFields']],
  ['nothing stored', { ...crd({}), status: {} }, ['Invalid status.storedVersions']],
  ['a bad version', crd({ versions: [{ ...version, name: 'V1' }] }), ['Invalid spec.versions[0].name']],
];

test.each(bad)('refuses %s', (_name, object, want) => {
  expect(found(object)).toEqual(want);
});

const approvals: [string, string | undefined, string[]][] = [
  ['x.k8s.io', undefined, ['Required metadata.annotations[api-approved.kubernetes.io]']],
  ['k8s.io', undefined, ['Required metadata.annotations[api-approved.kubernetes.io]']],
  ['x.kubernetes.io', 'nonsense', ['Invalid metadata.annotations[api-approved.kubernetes.io]']],
  ['x.k8s.io', 'https://example.com/pull/1', []],
  ['x.k8s.io', 'unapproved, for tests', []],
  ['notk8s.io', undefined, []],
];

test.each(approvals)('wants an approval of %s when given %j', (group, value, want) => {
  const annotations = value === undefined ? {} : { 'api-approved.kubernetes.io': value };
  expect(found(crd({ group }, { name: `apps.${group}`, annotations }))).toEqual(want);
});

test('judges anything', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (spec, part) => {
      found({ ...crd({}), spec });
      found(crd({ names: part, versions: part, conversion: part, group: part }));
    }),
    { numRuns: 1000 },
  );
});
