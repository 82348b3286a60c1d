import { expect, test } from 'vitest';
import { byServicesVersion, servicesVersion } from '#cluster/services-index.ts';
import { byNode, indexByNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { InstanceUpgrade, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { type Index, Store, type StoreView } from '#kube/informer/store.ts';
import type { KubeResource } from '#kube/resource.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { benchSettings, fixedFacts, unknownFacts } from '../../../test/kit/fixed-facts.ts';
import { byVersion, isServices, markedVersions, observe, recordedVersions } from './observe.ts';

function storeOf<T extends KubeResource>(objects: readonly T[], indexes: Record<string, Index<T>>): StoreView<T> {
  const store = new Store<T>();
  for (const [index, valuesOf] of Object.entries(indexes)) store.addIndex(index, valuesOf);
  for (const object of objects) store.put(object);
  return store;
}
const map = (name: string, more: Partial<ConfigMap> = {}): ConfigMap => ({ metadata: { name }, ...more });
const seen = (
  maps: ConfigMap[] = [],
  nodes: Node[] = [],
  facts = fixedFacts(),
  instances: readonly WindowsInstance[] = [],
) =>
  observe({
    facts,
    settings: benchSettings,
    salt: { forServices: () => '' },
    configMaps: storeOf(maps, { [byServicesVersion]: servicesVersion }),
    nodes: storeOf(nodes, { [byVersion]: markedVersions }),
    instances: storeOf(instances, { [byNode]: indexByNode, [byVersion]: recordedVersions }),
  });

test('sees services ConfigMaps only', () => {
  const { stored } = seen([
    map('windows-services-v1', { data: { a: 'b' }, immutable: true }),
    map('windows-instances'),
  ]);
  expect(stored).toEqual([
    { name: 'windows-services-v1', data: { a: 'b' }, salt: '', immutable: true, isDeleting: false },
  ]);
});

test('observes an empty ConfigMap and one that is being deleted', () => {
  const metadata = { name: 'windows-services-v2', deletionTimestamp: '2026-03-01T12:00:00Z' };
  expect(seen([map('windows-services-v1'), { metadata }]).stored).toEqual([
    { name: 'windows-services-v1', data: {}, salt: '', immutable: false, isDeleting: false },
    { name: 'windows-services-v2', data: {}, salt: '', immutable: false, isDeleting: true },
  ]);
});

const windows = { 'kubernetes.io/os': 'windows' };
const node = (name: string, annotations: Record<string, string>, labels: Record<string, string> = windows): Node => ({
  metadata: { name, labels, annotations },
});
const at = (version: string) => ({ [nodeAnnotation.version]: version });
const towards = (version: string) => ({ [nodeAnnotation.desiredVersion]: version });
const instance = (name: string, status?: WindowsInstanceStatus): WindowsInstance => ({
  metadata: { name, namespace: 'wmco' },
  spec: { address: name, username: 'Administrator' },
  ...(status && { status }),
});
const bound = { host: { name: 'win-1', addresses: [] } };

const uses: [text: string, nodes: Node[], instances: WindowsInstance[], want: string[]][] = [
  ['none without hosts', [], [], []],
  [
    'the versions of the records',
    [],
    [instance('a', { version: 'v1' }), instance('b', { version: 'v2' })],
    ['v1', 'v2'],
  ],
  [
    'the versions of an upgrade from which the host can go back',
    [],
    [instance('a', { version: 'v2', upgrade: { from: 'v1', to: 'v2', ready: 'now', fromAgent: 'a' } })],
    ['v2', 'v1'],
  ],
  [
    'both versions of an upgrade that has not come to its end',
    [],
    [instance('a', { version: 'v1', upgrade: { from: 'v1', to: 'v2', activated: 'now' } })],
    ['v1', 'v2'],
  ],
  [
    'no former version of a host that had no set of files, as one of the Go operator, and is in service',
    [],
    [instance('a', { version: 'v2', upgrade: { from: 'v1', to: 'v2', activated: 'now', ready: 'now' } })],
    ['v2'],
  ],
  ['each once', [], [instance('a', { version: 'v1' }), instance('b', { version: 'v1' })], ['v1']],
  ['none of a host that joins', [], [instance('a'), instance('b', bound)], []],
  [
    'the record, and not the annotations of a Node that an instance is bound to',
    [node('win-1', { ...at('v8'), ...towards('v9') })],
    [instance('a', { ...bound, version: 'v1' })],
    ['v1'],
  ],
  ['none by the annotations of a Node whose host joins', [node('win-1', at('v9'))], [instance('a', bound)], []],
  [
    'the annotations of a Node that is yet to be adopted',
    [node('win-1', { ...at('v1'), ...towards('v2') })],
    [],
    ['v1', 'v2'],
  ],
  ['none of an empty annotation', [node('win-1', at(''))], [], []],
  ['none of a Linux node', [node('l', at('v1'), { 'kubernetes.io/os': 'linux' }), { metadata: { name: 'x' } }], [], []],
];
for (const [text, nodes, instances, want] of uses) {
  test(`sees in use: ${text}`, () => expect(seen([], nodes, fixedFacts(), instances).inUse).toEqual(want));
}

test('makes the manifest of facts and settings', () => {
  expect(seen().wanted?.services.map(({ name }) => name)).toContain('kubelet');
  expect(seen([], [], fixedFacts({ platform: 'Azure' })).wanted?.services).toHaveLength(7);
});

const without: [name: string, facts: ReturnType<typeof fixedFacts>][] = [
  ['facts', unknownFacts()],
  ['an address of the API server', fixedFacts({ apiServerUrl: '' })],
];
for (const [name, facts] of without) {
  test(`has no manifest without ${name}`, () => expect(seen([], [], facts).wanted).toBeUndefined());
}

const names: [name: string, want: boolean][] = [
  ['windows-services-11.0.0-abc', true],
  ['windows-services-', false],
  ['windows-services', false],
  ['my-windows-services-1', false],
];
test.each(names)('knows whether %s is one of them', (name, want) => expect(isServices(map(name))).toBe(want));

const times = { staged: 't', activated: 't', ready: 't', fromAgent: 'a' };
const failed = { code: 'X', message: '', at: '' };
const upgrades: [
  about: string,
  upgrade: { [K in keyof InstanceUpgrade]?: InstanceUpgrade[K] | undefined },
  want: string[],
][] = [
  ['is prepared', { staged: 't' }, ['v1', 'v2']],
  ['swaps its files', { ...times, ready: undefined }, ['v1', 'v2']],
  ['soaks', times, ['v1', 'v2']],
  ['has soaked, and can go back', { ...times, soaked: 't' }, ['v1', 'v2']],
  ['has to go back', { ...times, failed }, ['v1', 'v2']],
  ['is back', { ...times, failed, rolledBack: 't' }, ['v1']],
  ['of the Go operator is set up again', { staged: 't', activated: 't' }, ['v1', 'v2']],
  ['of the Go operator cannot go back', { ...times, fromAgent: undefined }, ['v2']],
];
for (const [about, upgrade, want] of upgrades) {
  test(`UPG-04: the versions that a host needs when it ${about}`, () => {
    const defined = Object.fromEntries(Object.entries(upgrade).filter(([, value]) => value !== undefined));
    const status = { upgrade: { from: 'v1', to: 'v2', ...defined } };
    expect(recordedVersions(instance('win-1', status))).toEqual(want);
    expect(recordedVersions(instance('win-1', { ...status, version: 'v0' }))).toEqual(['v0', ...want]);
  });
}

test('UPG-04: a host of which nothing is recorded needs no version', () =>
  expect(recordedVersions(instance('win-1'))).toEqual([]));
