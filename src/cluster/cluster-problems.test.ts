import { expect, test } from 'vitest';
import { benchSettings as settings, fixedFacts, unknownFacts } from '../../test/kit/fixed-facts.ts';
import {
  type ClusterParts,
  hybridOverlay,
  infrastructure,
  networkConfig,
  networkOperator,
  openshiftCluster,
  readObjects,
} from '../../test/kit/openshift-objects.ts';
import { clusterProblems } from './cluster-problems.ts';

const versions = { serverVersion: 'v1.33.2', kubeletVersion: 'v1.33.0' };
const codesOf = (parts: Partial<ClusterParts>, more = {}) => {
  const facts = fixedFacts({}, readObjects(openshiftCluster(parts)));
  return clusterProblems({ kind: 'openshift', facts, settings, ...versions, ...more }).map(({ code }) => code);
};

const classE = networkConfig({ clusterNetwork: [{ cidr: '240.0.0.0/8', hostPrefix: 23 }] });
const cases: [name: string, parts: Partial<ClusterParts>, more: object, codes: string[]][] = [
  ['a healthy cluster has no problem', {}, {}, []],
  ['finds class E networks', { networkConfig: classE }, {}, ['NETWORK_CLASS_E']],
  ['finds the VXLAN port of vSphere', { infrastructure: infrastructure('VSphere') }, {}, ['NETWORK_VXLAN_PORT_TAKEN']],
  [
    'finds an empty overlay',
    { networkOperator: networkOperator(hybridOverlay({ hybridClusterNetwork: [] })) },
    {},
    ['NETWORK_HYBRID_OVERLAY_INVALID'],
  ],
  ['finds a missing worker config', { machineConfig: null }, {}, ['RENDERED_WORKER_MISSING']],
  ['names a missing object once', { networkConfig: null }, {}, ['OBJECT_MISSING']],
  ['finds a newer API server', {}, { serverVersion: 'v1.37.0' }, ['SERVER_VERSION_UNSUPPORTED']],
];
for (const [name, parts, more, codes] of cases) test(name, () => expect(codesOf(parts, more)).toEqual(codes));

test('on a plain cluster finds what its description lacks, and the version', () => {
  const plain = { kind: 'kubernetes', settings, ...versions } as const;
  expect(clusterProblems({ ...plain, facts: fixedFacts() })).toEqual([]);
  expect(clusterProblems({ ...plain, facts: unknownFacts() })).toMatchObject([{ code: 'RENDERED_WORKER_MISSING' }]);
  expect(clusterProblems({ ...plain, facts: fixedFacts(), serverVersion: 'v1.20.0' })).toMatchObject([
    { code: 'SERVER_VERSION_UNSUPPORTED' },
  ]);
});
