import { expect, test } from 'vitest';
import { apiServer, networkConfig, networkOperator, readObjects, trustedCa } from '../../test/kit/openshift-objects.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import { findObject, objectsOfKind, type Wanted } from './find-objects.ts';

const network: Wanted = { group: 'config.openshift.io', kind: 'Network', resource: 'networks', name: 'cluster' };
const bundle: Wanted = { group: '', kind: 'ConfigMap', resource: 'configmaps', name: 'trusted-ca', namespace: 'here' };

const dump = readObjects([
  networkOperator(),
  { ...networkConfig(), metadata: { name: 'other' } },
  networkConfig({ networkType: 'First' }),
  networkConfig({ networkType: 'Second' }),
  apiServer(),
  trustedCa('there', 'there'),
  trustedCa('here', 'here'),
]);

const failure = (objects: typeof dump, wanted: Wanted) => errorOf(() => findObject(objects, wanted));

test('reports objects of one kind and name apart by their group', () => {
  expect(findObject(dump, network).apiVersion).toBe('config.openshift.io/v1');
  expect(findObject(dump, { ...network, group: 'operator.openshift.io' }).apiVersion).toBe('operator.openshift.io/v1');
});

test('takes the first when a dump holds an object twice', () => {
  expect(findObject(dump, network).fields.object('spec').string('networkType')).toBe('First');
});

test('finds an object in whatever version of its group', () => {
  const objects = readObjects([{ ...networkConfig(), apiVersion: 'config.openshift.io/v2beta1' }]);
  expect(findObject(objects, network).apiVersion).toBe('config.openshift.io/v2beta1');
});

test('finds an object in its namespace only', () => {
  expect(findObject(dump, bundle).meta.namespace).toBe('here');
  expect(failure(dump, { ...bundle, namespace: 'nowhere' })?.code).toBe('OBJECT_MISSING');
});

const missing: [name: string, wanted: Wanted, message: string, command: string][] = [
  [
    'an object of the cluster',
    network,
    'Network cluster (config.openshift.io) is not among the objects',
    'oc get networks.config.openshift.io cluster -o yaml',
  ],
  [
    'an object of the other group',
    { ...network, group: 'operator.openshift.io' },
    'Network cluster (operator.openshift.io) is not among the objects',
    'oc get networks.operator.openshift.io cluster -o yaml',
  ],
  [
    'an object in a namespace',
    bundle,
    'ConfigMap here/trusted-ca is not among the objects',
    'oc get configmaps trusted-ca -n here -o yaml',
  ],
];
for (const [name, wanted, message, command] of missing)
  test(`prints how to dump ${name} that is missing`, () => {
    const error = failure([], wanted);
    expect(error).toMatchObject({ code: 'OBJECT_MISSING', message });
    expect(error?.remedy).toBe(`Add the output of: ${command}`);
  });

test('lists all objects of a kind in their order, core objects by the empty group', () => {
  const names = (group: string, kind: string) => objectsOfKind(dump, { group, kind }).map(({ label }) => label);
  expect(names('', 'ConfigMap')).toEqual(['ConfigMap there/trusted-ca', 'ConfigMap here/trusted-ca']);
  expect(names('config.openshift.io', 'Network')).toEqual(['Network other', 'Network cluster', 'Network cluster']);
  expect(names('v1', 'ConfigMap')).toEqual([]);
  expect(names('', 'Network')).toEqual([]);
});
