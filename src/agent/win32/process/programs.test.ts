import { expect, test } from 'vitest';
import { argumentsOf, type Program, programs } from './programs.ts';

const all: [string, Program][] = Object.entries(programs);

test.each(all)('%s is a program of Windows with a reason, a proof and a limit', (_, program) => {
  expect(program.program).toMatch(/^System32\\.+\.exe$/);
  expect(program.why).toMatch(/^[A-Z].{10,}/);
  expect(['wine', 'double', 'reading']).toContain(program.proof);
  expect(program.limitMs).toBeGreaterThanOrEqual(60_000);
  expect(program.limitMs).toBeLessThanOrEqual(30 * 60_000);
});

const lines: [Program, Record<string, string>, string[]][] = [
  [
    programs.powershell,
    { text: 'Get-Date; "<text>"' },
    ['-NoProfile', '-NoLogo', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-Command', 'Get-Date; "<text>"'],
  ],
  [
    programs.featureInfo,
    { feature: 'Containers' },
    ['/Online', '/English', '/Get-FeatureInfo', '/FeatureName:Containers'],
  ],
  [
    programs.enableFeature,
    { feature: 'Containers' },
    ['/Online', '/English', '/Enable-Feature', '/FeatureName:Containers', '/All', '/NoRestart'],
  ],
  [
    programs.restart,
    { seconds: '10', reason: 'because of $& and $1' },
    ['/r', '/t', '10', '/f', '/d', 'p:4:1', '/c', 'because of $& and $1'],
  ],
];
test.each(lines)('replaces the placeholders of %o', (program, values, want) => {
  expect(argumentsOf(program, values)).toEqual(want);
});

test('replaces a missing value by an empty text', () => {
  expect(argumentsOf(programs.featureInfo, {}).at(-1)).toBe('/FeatureName:');
});
