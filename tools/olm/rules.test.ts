import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { changed, expectProblem, olmFolder } from '../../test/kit/olm-bundle.ts';
import { bundleRules } from './bundle-rules.ts';
import { catalogRules } from './catalog-rules.ts';
import { csvRules } from './csv-rules.ts';
import { documentsIn, type Json, type Manifest, readBundle } from './read.ts';
import { problemsOf } from './rule.ts';

const bundle = olmFolder('bundle');
const catalog = documentsIn(olmFolder('catalog')['configs/windows-machine-config-operator/catalog.yaml'] ?? '');
const { csv } = readBundle(bundle);

test('the bundle, its ClusterServiceVersion and the catalog pass all rules', () => {
  expect(problemsOf(bundleRules, readBundle(bundle))).toEqual([]);
  expect(problemsOf(csvRules, csv)).toEqual([]);
  expect(problemsOf(catalogRules, catalog)).toEqual([]);
});

const csvCases: [rule: string, path: string, value: unknown, problem: RegExp][] = [
  ['name', 'metadata.name', 'Windows.v11.0.0', /no DNS name/],
  ['name', 'metadata.name', 'windows-machine-config-operator', /NAME\.vX\.Y\.Z/],
  ['name', 'metadata.name', 'windows-machine-config-operator.v11.0.1', /not spec\.version/],
  ['versions', 'spec.version', '11.0', /spec\.version/],
  ['versions', 'spec.minKubeVersion', 'v1.36', /minKubeVersion/],
  ['versions', 'spec.replaces', 'windows', /replaces windows/],
  ['texts', 'spec.displayName', '', /displayName/],
  ['texts', 'spec.description', undefined, /description/],
  ['examples', 'metadata.annotations.alm-examples', '{', /no list in JSON/],
  ['examples', 'metadata.annotations.alm-examples', '[]', /has no example/],
  ['examples', 'metadata.annotations.alm-examples', '[{"apiVersion":"v1","kind":"Pod"}]', /Pod is not owned/],
  ['install modes', 'spec.installModes', [], /OwnNamespace is missing/],
  ['install modes', 'spec.installModes.0.supported', false, /none is supported/],
  ['install modes', 'spec.installModes.1.type', 'OwnNamespace', /given twice/],
  ['install modes', 'spec.installModes.1.type', 'Any', /Any is unknown/],
  ['annotation names', 'metadata.annotations.olm~skiprange', '<1.0.0', /must be olm\.skipRange/],
  ['capabilities', 'metadata.annotations.capabilities', 'All', /no level/],
  ['categories', 'metadata.annotations.categories', 'Windows', /no category/],
  ['icon', 'spec.icon', [], /0 icons/],
  ['icon', 'spec.icon.0.mediatype', 'image/png', /not an image/],
  ['icon', 'spec.icon.0.base64data', '', /not an image/],
  ['people and links', 'spec.provider.name', '', /provider/],
  ['people and links', 'spec.maintainers', [{ name: 'A' }], /maintainer/],
  ['people and links', 'spec.links.0.url', 'here', /link/],
  ['deployments', 'spec.install.strategy', 'pods', /strategy/],
  ['deployments', 'spec.install.spec.deployments', [], /there is none/],
  [
    'deployments',
    'spec.install.spec.deployments.0.spec.template.spec.serviceAccountName',
    'x',
    /"x" has no permissions/,
  ],
  ['deployments', 'spec.install.spec.deployments.0.spec.template.spec.containers.0.resources', {}, /requests no CPU/],
  ['permissions', 'spec.install.spec.clusterPermissions.0.rules.0.resources', ['*'], /is for everything/],
  ['permissions', 'spec.install.spec.permissions.0.rules.0.verbs', [], /has no verbs/],
  ['features', 'metadata.annotations.features~operators~openshift~io/fips-compliant', undefined, /is missing/],
  ['features', 'metadata.annotations.features~operators~openshift~io/csi', 'no', /neither/],
  ['upgrade range', 'metadata.annotations.olm~skipRange', '<11', /is not ">=/],
  ['upgrade range', 'metadata.annotations.olm~skipRange', '>=10.0.0 <11.0.1', /does not end/],
  ['upgrade range', 'metadata.annotations.olm~properties', '[{}]', /no list of properties/],
  ['namespace', 'metadata.annotations.operatorframework~io/suggested-namespace', 'A_B', /no name/],
  ['namespace', 'metadata.annotations.operatorframework~io/suggested-namespace', 'other', /another namespace/],
  ['platforms', 'metadata.labels.operatorframework~io/os~linux', undefined, /os\.linux/],
  ['related images', 'spec.relatedImages', [], /used, but not listed/],
  ['related images', 'spec.relatedImages.1.name', 'operator', /listed twice/],
  ['related images', 'spec.relatedImages.1.image', '', /lacks name or image/],
  ['related images', 'metadata.annotations.containerImage', 'quay.io/a/b:c', /containerImage/],
];
for (const [rule, path, value, problem] of csvCases) {
  test(`"${rule}" refuses ${path}: ${JSON.stringify(value)}`, () => {
    expectProblem(csvRules, changed<Manifest>(csv, path, value), rule, problem);
  });
}

const csvFile = 'manifests/windows-machine-config-operator.clusterserviceversion.yaml';
const role = 'manifests/prometheus-k8s.role.yaml';
const metadata = 'metadata/annotations.yaml';
const edited = (path: string, from: string | RegExp, to: string) => ({
  ...bundle,
  [path]: bundle[path]?.replace(from, to) ?? '',
});
const withFile = (object: object) => ({ ...bundle, 'manifests/more.yaml': stringify(object) });
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'windows-machine-config-operator' } };
const roleOf = (rule: object) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'r' },
  rules: [rule],
});
const without = (path: string) => Object.fromEntries(Object.entries(bundle).filter(([name]) => name !== path));
const crdFile = Object.keys(bundle).find(path => path.includes('customresourcedefinition')) ?? '';

const bundleCases: [rule: string, what: string, files: Record<string, string>, problem: RegExp][] = [
  ['annotations', 'another media type', edited(metadata, 'registry+v1', 'plain'), /mediatype/],
  ['annotations', 'no package', edited(metadata, /.*package\.v1.*\n/, ''), /package\.v1 is missing/],
  [
    'default channel',
    'a default that is no channel',
    edited(metadata, 'default.v1: stable', 'default.v1: fast'),
    /none/,
  ],
  ['channel names', 'a channel of another kind', edited(metadata, 'channels.v1: stable', 'channels.v1: v11'), /v11/],
  ['labels of the image', 'another label', edited('Containerfile', '"stable"', '"fast"'), /no label/],
  ['OpenShift versions', 'a wrong range', edited(metadata, /v5\.0-v5\.3/, '5.0'), /no range/],
  ['one object per file', 'two objects in a file', { ...bundle, [role]: `${bundle[role]}---\na: b\n` }, /role\.yaml/],
  ['one ClusterServiceVersion', 'none', without(csvFile), /has 0/],
  [
    'kinds',
    'a policy',
    withFile({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'p' },
    }),
    /ValidatingAdmissionPolicy/,
  ],
  [
    'kinds',
    'a removed API',
    withFile({ apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata: { name: 'p' } }),
    /v1beta1/,
  ],
  ['object names', 'an invalid name', withFile({ ...account, metadata: { name: 'A b' } }), /invalid/],
  ['object names', 'an object in two files', { ...bundle, 'manifests/again.yaml': bundle[role] ?? '' }, /two files/],
  ['namespaces', 'a namespace', withFile({ ...account, metadata: { name: 'a', namespace: 'b' } }), /names a namespace/],
  ['owned definitions', 'a missing definition', without(crdFile), /not in the bundle/],
  [
    'owned definitions',
    'a definition of others',
    edited(csvFile, /name: windowsinstances\.windows/, 'name: others.windows'),
    /not owned/,
  ],
  ['service accounts', 'the account of the operator', withFile(account), /OLM creates/],
  [
    'permissions in manifests',
    'changes of security constraints',
    withFile(
      roleOf({ apiGroups: ['security.openshift.io'], resources: ['securitycontextconstraints'], verbs: ['update'] }),
    ),
    /default security/,
  ],
  [
    'permissions in manifests',
    'changes of budgets',
    withFile(roleOf({ apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['create'] })),
    /budgets/,
  ],
  [
    'size',
    'a large file',
    withFile({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: 'a'.repeat(1_100_000) } }),
    /bytes/,
  ],
];
for (const [rule, what, content, problem] of bundleCases) {
  test(`"${rule}" refuses ${what}`, () => expectProblem(bundleRules, readBundle(content), rule, problem));
}

const entries = (...list: object[]) => changed(catalog, '1.entries', list);
const [own = '', a, b] = [csv.metadata?.name, { name: 'a', replaces: 'b' }, { name: 'b' }];
const catalogCases: [rule: string, what: string, catalog: Json[], problem: RegExp][] = [
  ['schemas', 'an unknown schema', changed(catalog, '0.schema', 'olm.packages'), /unknown/],
  ['package', 'no package', catalog.slice(1), /0 packages/],
  ['package', 'an icon without data', changed(catalog, '0.icon.base64data', ''), /icon/],
  ['default channel', 'a missing channel', changed(catalog, '0.defaultChannel', 'fast'), /"fast"/],
  ['members of the package', 'a bundle of others', changed(catalog, '2.package', 'x'), /of no package/],
  ['unique names', 'the same bundle twice', [...catalog, catalog[2] ?? {}], /twice/],
  ['unique names', 'two bundles of a version', [...catalog, changed(catalog[2] ?? {}, 'name', 'x')], /two bundles/],
  ['entries', 'an entry without bundle', entries({ name: own, replaces: 'a' }, { name: 'a' }), /a is in a channel/],
  ['entries', 'a bundle in no channel', entries(), /is in no channel/],
  ['one head', 'two heads', entries({ name: own }, a, b), /2 heads/],
  ['one head', 'a cycle', entries({ name: own, replaces: 'a' }, { name: 'a', replaces: own }), /0 heads/],
  [
    'upgrade path',
    'an entry that nothing replaces',
    entries({ name: own, replaces: 'a' }, a, b, { name: 'c', replaces: 'd' }, { name: 'd', replaces: 'c' }),
    /from c/,
  ],
  ['bundles', 'no image', changed(catalog, '2.image', ''), /no image/],
  ['bundles', 'another image than the listed one', changed(catalog, '2.image', 'x/y:z'), /related image/],
  ['bundles', 'two packages', changed(catalog, '2.properties.1.type', 'olm.package'), /2 properties/],
  ['bundles', 'no version', changed(catalog, '2.properties.0.value.version', 'x'), /semantic version/],
];
for (const [rule, what, content, problem] of catalogCases) {
  test(`"${rule}" refuses ${what}`, () => expectProblem(catalogRules, content, rule, problem));
}

test('skipped versions need no path to the head', () => {
  const content = entries({ name: own, replaces: 'a', skips: ['b'] }, { name: 'a' }, { name: 'b' });
  expect(problemsOf(catalogRules, content).filter(each => /head/.test(each))).toEqual([]);
});

test('every rule has a case that it refuses', () => {
  const tested = [...csvCases, ...bundleCases, ...catalogCases].map(([rule]) => rule);
  const all = [...csvRules, ...bundleRules, ...catalogRules].map(({ name }) => name);
  expect(all.filter(name => !tested.includes(name))).toEqual([]);
});
