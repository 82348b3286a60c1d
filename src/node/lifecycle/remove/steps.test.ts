import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { documentedSteps, stepRows } from '../../../../test/kit/lifecycle/documented-steps.ts';
import { type RemovalCluster, removalMode } from './journey.ts';
import { removeSteps } from './steps.ts';

test('every step has a unique name, a description, a usual time and a limit', () => {
  const names = removeSteps.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { description, usualMs, limitMs } of removeSteps) {
    expect(description).toMatch(/^[a-z].*[^.]$/);
    expect(2 * (usualMs ?? Infinity)).toBeLessThan(limitMs);
  }
});

test('docs/lifecycle.md has the steps in their order, with what they do, their times and codes', () => {
  expect(documentedSteps('remove')).toEqual(stepRows(removeSteps));
});

const entry = { source: { kind: 'ConfigMap', name: '10.0.0.5' } } as const;
const hostKey = 'ssh-ed25519 AAAA';
const touched = { hostKey, touched: '2026-03-01T12:00:00Z' };
const forced = { annotations: { [instanceAnnotation.forceRemoval]: '' } };
type Given = { spec?: object; status?: object; metadata?: object };
const modes: [about: string, given: Given, shared: string[], string][] = [
  ['a host that was changed', { spec: entry, status: touched }, [], 'host'],
  ['a host that was only connected to', { spec: entry, status: { hostKey } }, [], 'object'],
  ['a host that was never connected to', { spec: entry }, [], 'object'],
  ['a host without a record on request', {}, [], 'host'],
  ['a host by force', { spec: entry, status: touched, metadata: forced }, [], 'force'],
  ['a host that another instance lists', { spec: entry, status: touched }, ['other'], 'object'],
  ['such a host by force', { spec: entry, status: touched, metadata: forced }, ['other'], 'object'],
];
test.each(modes)('removes %s in its mode', async (_, given, [shared], want) => {
  const spec = { address: '10.0.0.5', username: 'x', ...given.spec };
  const instance = { ...given, metadata: { name: 'win-5', ...given.metadata }, spec } as WindowsInstance;
  const cluster = { sharedWith: async () => shared } as unknown as RemovalCluster;
  expect(await removalMode({ instance, cluster })).toBe(want);
});
