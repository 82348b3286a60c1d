import { expect, test } from 'vitest';
import { apiVersionOf, type Resource } from './resource.ts';
import * as kubernetes from './resources.ts';
import * as openshift from './resources-openshift.ts';

const all = [...Object.entries(kubernetes), ...Object.entries(openshift)].filter(
  (entry): entry is [string, Resource] => typeof entry[1] === 'object',
);

test('no two descriptions are of the same resource', () => {
  const keys = all.map(([, resource]) => `${apiVersionOf(resource)}/${resource.plural}`);
  expect(new Set(keys).size).toBe(keys.length);
});

for (const [name, { group, version, kind, plural }] of all) {
  test(`${name} is written like a resource`, () => {
    expect(group).toMatch(/^([a-z0-9.-]+\.[a-z]+|apps|policy|)$/);
    expect(version).toMatch(/^v\d+((alpha|beta)\d+)?$/);
    expect(kind).toMatch(/^[A-Z][A-Za-z]+$/);
    expect(plural).toBe(plural.toLowerCase());
    expect(plural.startsWith(kind.toLowerCase().slice(0, -1))).toBe(true);
  });
}

const parsed: [string, string, string][] = [
  ['v1', '', 'v1'],
  ['policy/v1beta1', 'policy', 'v1beta1'],
  ['a.b.c/v2', 'a.b.c', 'v2'],
];
for (const [apiVersion, group, version] of parsed) {
  test(`reads ${apiVersion} as group and version`, () => {
    const resource = kubernetes.ofNamespace(apiVersion, 'Thing', 'things');
    expect(resource).toEqual({ group, version, kind: 'Thing', plural: 'things', namespaced: true });
    expect(apiVersionOf(resource)).toBe(apiVersion);
    expect(kubernetes.ofCluster(apiVersion, 'Thing', 'things').namespaced).toBe(false);
  });
}
