import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Resource } from '../resource.ts';
import { objectPath, queryText, requireNamespace, resourcePath } from './path.ts';

const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const nodes: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const machines: Resource = {
  group: 'machine.openshift.io',
  version: 'v1beta1',
  plural: 'machines',
  kind: 'Machine',
  namespaced: true,
};

const paths: [string, Resource, Parameters<typeof resourcePath>[1], string][] = [
  ['a collection without namespaces', nodes, {}, '/api/v1/nodes'],
  ['all namespaces', pods, {}, '/api/v1/pods'],
  ['all namespaces, said with nothing', pods, { namespace: '' }, '/api/v1/pods'],
  ['one namespace', pods, { namespace: 'ns' }, '/api/v1/namespaces/ns/pods'],
  ['an object', pods, { namespace: 'ns', name: 'p' }, '/api/v1/namespaces/ns/pods/p'],
  ['an object without namespace', nodes, { name: 'n' }, '/api/v1/nodes/n'],
  ['an object whose kind has no namespaces, with one', nodes, { namespace: 'ns', name: 'n' }, '/api/v1/nodes/n'],
  ['a subresource', pods, { namespace: 'ns', name: 'p', subresource: 'status' }, '/api/v1/namespaces/ns/pods/p/status'],
  ['a group', machines, { namespace: 'ns', name: 'm' }, '/apis/machine.openshift.io/v1beta1/namespaces/ns/machines/m'],
  ['a name with a colon', nodes, { name: 'system:node' }, '/api/v1/nodes/system%3Anode'],
  ['a name that looks like a query', nodes, { name: 'a?b=c#d' }, '/api/v1/nodes/a%3Fb%3Dc%23d'],
];
for (const [name, resource, place, want] of paths) {
  test(`addresses ${name}`, () => expect(resourcePath(resource, place)).toBe(want));
}

const refused: [string, () => unknown, RegExp][] = [
  ['an empty name', () => resourcePath(nodes, { name: '' }), /Node: "" is not a valid name/],
  ['a dot', () => resourcePath(nodes, { name: '.' }), /Node: "\." is not a valid name/],
  ['two dots', () => resourcePath(nodes, { name: '..' }), /is not a valid name/],
  ['a slash', () => resourcePath(nodes, { name: 'a/status' }), /"a\/status" is not a valid name/],
  ['a slash in the namespace', () => resourcePath(pods, { namespace: 'a/b' }), /is not a valid namespace/],
  ['an empty subresource', () => resourcePath(nodes, { name: 'a', subresource: '' }), /is not a valid subresource/],
  ['an object without its namespace', () => objectPath(pods, { name: 'p' }), /Pod "p" has no namespace/],
  ['an object with an empty namespace', () => objectPath(pods, { name: 'p', namespace: '' }), /has no namespace/],
  ['a collection that must have a namespace', () => requireNamespace(pods, {}), /Pod missing has no namespace/],
];
for (const [name, run, message] of refused) {
  test(`rejects ${name}`, () => {
    expect(run).toThrow(expect.objectContaining({ code: 'FIELD_INVALID', message: expect.stringMatching(message) }));
  });
}

test('asks for no namespace where there is none', () => {
  expect(() => requireNamespace(nodes, {})).not.toThrow();
  expect(objectPath(nodes, { name: 'n' })).toBe('/api/v1/nodes/n');
});

const queries: [string, Parameters<typeof queryText>[0], string][] = [
  ['nothing', {}, ''],
  ['what is absent', { limit: undefined, continue: '' }, ''],
  ['numbers and flags', { limit: 500, watch: true, force: false }, '?limit=500&watch=true&force=false'],
  ['selectors', { labelSelector: 'a in (b,c),d!=e' }, '?labelSelector=a%20in%20(b%2Cc)%2Cd!%3De'],
  ['a nought', { timeoutSeconds: 0 }, '?timeoutSeconds=0'],
];
for (const [name, values, want] of queries)
  test(`writes a query of ${name}`, () => expect(queryText(values)).toBe(want));

test('a name never leaves its place in the path', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), name => {
      fc.pre(name !== '.' && name !== '..' && !name.includes('/') && name.isWellFormed());
      const url = new URL(`https://host${resourcePath(pods, { namespace: 'ns', name })}`);
      expect(decodeURIComponent(url.pathname)).toBe(`/api/v1/namespaces/ns/pods/${name}`);
      expect(url.search + url.hash).toBe('');
    }),
    { numRuns: 500 },
  );
});
