import { expect, test } from 'vitest';
import { LastKubeletProfiles } from './kubelet-profiles.ts';

const small = 'kubelet:\n  maxPods: 20\n';
const large = 'kubelet:\n  maxPods: 200\n';
const podsIn = (source: LastKubeletProfiles, data: Record<string, string> | undefined) =>
  source
    .read(data, 'ConfigMap windows-kubelet-config')
    .map(({ name, settings }) => `${name} ${JSON.stringify(settings['maxPods'])}`);

test('a profile that becomes invalid counts as before, until it is fixed or removed', () => {
  const source = new LastKubeletProfiles();
  expect(podsIn(source, { a: small, b: large })).toEqual(['a 20', 'b 200']);
  expect(podsIn(source, { a: 'kubelet:\n  maxPods: many\n', b: small })).toEqual(['a 20', 'b 20']);
  expect(podsIn(source, { a: large, b: small })).toEqual(['a 200', 'b 20']);
  expect(podsIn(source, { a: ': broken', b: small })).toEqual(['a 200', 'b 20']);
  expect(podsIn(source, { b: small })).toEqual(['b 20']);
  expect(podsIn(source, undefined)).toEqual([]);
});

test('one that was never valid is left out', () => {
  expect(podsIn(new LastKubeletProfiles(), { a: 'kubelet:\n  maxPods: many\n', b: small })).toEqual(['b 20']);
});
