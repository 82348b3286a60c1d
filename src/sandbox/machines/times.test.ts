import { expect, test } from 'vitest';
import { measuredTimes, type Times, defaultTimes } from './times.ts';
import { defaultTraits } from './traits.ts';

const profiles: [string, Times][] = [
  ['usual', defaultTimes],
  ['measured', measuredTimes],
];

test.each(profiles)('%s times are times', (_, times) => {
  for (const [name, value] of Object.entries(times)) {
    expect([name, value >= 0 && !Number.isNaN(value)]).toEqual([name, true]);
    if (name.endsWith('Ms')) expect(Number.isFinite(value)).toBe(true);
  }
});

test('a join without a reboot and one with a reboot fit into the minute that a demonstration has', () => {
  const { commandMs, serviceStartMs, kubeletMs, subnetMs, overlayMs, featureMs, shutdownMs, bootMs } = defaultTimes;
  const joinMs = 10 * commandMs + 7 * serviceStartMs + kubeletMs + subnetMs + overlayMs;
  expect(joinMs).toBeLessThan(15_000);
  expect(joinMs + featureMs + shutdownMs + bootMs + 3000).toBeLessThan(40_000);
});

test('the measured model has what the Go operator was measured with', () => {
  expect(measuredTimes).toMatchObject({ commandMs: 150, scriptMs: 900, greetingMs: 0, uploadBytesPerSecond: Infinity });
  // The Node is there about three seconds after bootstrap, in which containerd and the kubelet start.
  const { kubeletMs, serviceStartMs } = measuredTimes;
  expect(kubeletMs + 2 * serviceStartMs).toBeLessThanOrEqual(3000);
});

test('the default host has no limits', () => {
  expect(defaultTraits).toMatchObject({
    network: 'answers',
    login: 'key',
    isAdministrator: true,
    containersFeature: 'enabled',
    returnsFromReboot: true,
    mishaps: [],
    kubelet: 'works',
  });
});
