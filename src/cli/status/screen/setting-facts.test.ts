import { expect, test } from 'vitest';
import type { InstanceKey, InstanceSettings } from '#contract/windows-instance/resource.ts';
import { instanceOf, viewOf } from '../../../../test/kit/status-views.ts';
import { hostOfInstance } from '../view/instance-host.ts';
import { keyText, mirrorsText, settingText } from './setting-facts.ts';

const [one, two] = ['1', '2'].map(digit => digit.repeat(32));
const host = (settings?: InstanceSettings) =>
  hostOfInstance(
    instanceOf('10.0.0.1', { phase: 'Ready', ...(settings && { settings }) }),
    viewOf({ unread: ['nodes'] }),
  );
const at = '2026-03-01T12:00:00Z';

const cases: [string, InstanceSettings | undefined, string | undefined][] = [
  ['nothing', undefined, undefined],
  [
    'what it should',
    { files: { desired: `${one}`, applied: `${one}`, at } },
    `as desired (${'1'.repeat(12)}), since 2026-03-01 12:00:00 UTC`,
  ],
  [
    'something else',
    { files: { desired: `${two}`, applied: `${one}`, at } },
    `not as desired: has ${'1'.repeat(12)}, since 2026-03-01 12:00:00 UTC; should have ${'2'.repeat(12)}`,
  ],
  [
    'something unknown',
    { files: { desired: `${two}` } },
    `not as desired: has nothing known; should have ${'2'.repeat(12)}`,
  ],
];
test.each(cases)('tells that a host has %s', (_, settings, want) => {
  expect(settingText(host(settings), 'files')).toBe(want);
});

test('tells why services do not have their settings', () => {
  const services = {
    desired: `v1:${two}:${two}`,
    applied: `v1:${one}:${one}`,
    failed: { code: 'X', message: 'it broke', at },
  };
  expect(settingText(host({ services }), 'services')).toMatch(
    /^not as desired: has v1 1{12} 1{12}; should .*; failed with X: it broke$/,
  );
});

test('lists mirror files, and counts those that would fill the page', () => {
  expect(mirrorsText(host())).toBeUndefined();
  expect(mirrorsText(host({ mirrors: ['quay.io\\hosts.toml'] }))).toBe('quay.io\\hosts.toml');
  const mirrors = Array.from({ length: 7 }, (_, index) => `r${index}\\hosts.toml`);
  expect(mirrorsText(host({ mirrors }))).toMatch(/r4\\hosts\.toml, and 2 more files$/);
});

const unknown: [string, InstanceSettings, string][] = [
  [
    'had what it should',
    { files: { desired: `${one}`, applied: `${one}`, at } },
    `has ${'1'.repeat(12)}, since 2026-03-01 12:00:00 UTC; what it should have is unknown now (OBJECT_MISSING)`,
  ],
  [
    'has nothing known',
    { files: { desired: `${two}` } },
    'has nothing known; what it should have is unknown now (OBJECT_MISSING)',
  ],
];
test.each(unknown)(
  'does not claim to know what a host that %s should have while parts are missing',
  (_, settings, want) => {
    expect(settingText({ ...host(settings), settingsProblem: 'OBJECT_MISSING' }, 'files')).toBe(want);
  },
);

const accepted = { hash: 'a', fingerprint: 'ssh-ed25519 SHA256:abc' };
const keys: [string, InstanceKey | undefined, string | undefined][] = [
  ['that was never reached', undefined, undefined],
  ['of which only the hash is known', { hash: 'a' }, undefined],
  ['that accepts the current key', accepted, 'ssh-ed25519 SHA256:abc'],
  [
    'that rejects the current key',
    { ...accepted, pending: { hash: 'b', since: at, tried: at } },
    'ssh-ed25519 SHA256:abc; the current one is rejected since 2026-03-01 12:00:00 UTC',
  ],
];
test.each(keys)('tells the key of a host %s', (_, key, want) => {
  const instance = instanceOf('10.0.0.1', { phase: 'Ready', ...(key && { key }) });
  expect(keyText(hostOfInstance(instance, viewOf({ unread: ['nodes'] })))).toBe(want);
});
