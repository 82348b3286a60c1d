import { expect, test } from 'vitest';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { benchSettings, fixedFacts, unknownFacts } from '../../../test/kit/fixed-facts.ts';
import { isServices, observe } from './observe.ts';

const listOf = <T>(...objects: T[]) => ({ list: () => objects });
const map = (name: string, more: Partial<ConfigMap> = {}): ConfigMap => ({ metadata: { name }, ...more });
const seen = (maps: ConfigMap[] = [], nodes: Node[] = [], facts = fixedFacts()) =>
  observe({ facts, settings: benchSettings, configMaps: listOf(...maps), nodes: listOf(...nodes) });

test('sees services ConfigMaps only', () => {
  const { stored } = seen([
    map('windows-services-v1', { data: { a: 'b' }, immutable: true }),
    map('windows-instances'),
  ]);
  expect(stored).toEqual([{ name: 'windows-services-v1', data: { a: 'b' }, immutable: true, isLeaving: false }]);
});

test('sees one without anything in it, and one that is on its way out', () => {
  const metadata = { name: 'windows-services-v2', deletionTimestamp: '2026-03-01T12:00:00Z' };
  expect(seen([map('windows-services-v1'), { metadata }]).stored).toEqual([
    { name: 'windows-services-v1', data: {}, immutable: false, isLeaving: false },
    { name: 'windows-services-v2', data: {}, immutable: false, isLeaving: true },
  ]);
});

test('sees what Nodes bear', () => {
  const nodes = [{ metadata: { name: 'a', labels: { l: '1' }, annotations: { v: '2' } } }, { metadata: { name: 'b' } }];
  expect(seen([], nodes).nodes).toEqual([
    { labels: { l: '1' }, annotations: { v: '2' } },
    { labels: {}, annotations: {} },
  ]);
});

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
