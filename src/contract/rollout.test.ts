import { expect, test } from 'vitest';
import { allowedUnavailable, defaultRollout, parseRollout, type RolloutSettings } from './rollout.ts';

const valid: [key: string, value: string, want: Partial<RolloutSettings>][] = [
  ['maxUnavailable', '3', { maxUnavailable: { count: 3 } }],
  ['maxUnavailable', ' 10% ', { maxUnavailable: { percent: 10 } }],
  ['maxUnavailable', '', {}],
  ['paused', 'true', { isPaused: true }],
  ['paused', 'false', {}],
  ['first', '0', { first: 0 }],
  ['soak', '1h30m', { soakMs: 5_400_000 }],
  ['soak', '0', { soakMs: 0 }],
  ['drainTimeout', '90s', { drainTimeout: 90_000 }],
  ['drainTimeout', 'continue', { drainTimeout: 'continue' }],
  ['countCordoned', 'always', { countsCordoned: true }],
  ['rebootForVariables', 'true', { rebootsForVariables: true }],
  ['prePull', 'images/all', { prePull: { namespace: 'images', name: 'all' } }],
];
for (const [key, value, want] of valid) {
  test(`accepts ${key}: ${JSON.stringify(value)}`, () => {
    const { settings, problems } = parseRollout({ [key]: value });
    expect({ settings, problems }).toEqual({ settings: { ...defaultRollout, ...want }, problems: [] });
  });
}

test('all settings have a default', () => {
  expect(parseRollout().settings).toEqual(defaultRollout);
});

const invalid: [key: string, value: string][] = [
  ['maxUnavailable', '0'],
  ['maxUnavailable', '0%'],
  ['maxUnavailable', '101%'],
  ['maxUnavailable', '-1'],
  ['maxUnavailable', '1.5'],
  ['maxUnavailable', '9'.repeat(400)],
  ['paused', 'yes'],
  ['first', 'one'],
  ['soak', '10'],
  ['soak', '-1m'],
  ['soak', '25h'],
  ['drainTimeout', 'forever'],
  ['countCordoned', 'never'],
  ['prePull', 'images'],
  ['prePull', 'images/all/more'],
];
const last: RolloutSettings = {
  maxUnavailable: { count: 7 },
  isPaused: false,
  first: 2,
  soakMs: 1,
  drainTimeout: 2,
  countsCordoned: true,
  rebootsForVariables: false,
  prePull: undefined,
};
for (const [key, value] of invalid) {
  test(`reports ${key}: ${value.slice(0, 20)} and keeps the last valid value`, () => {
    const others = { first: '2', soak: '1ms', drainTimeout: '2ms', countCordoned: 'always', maxUnavailable: '7' };
    const { settings, problems } = parseRollout({ ...others, [key]: value }, { last, namespace: 'wmco' });
    expect(settings).toEqual({ ...last, isPaused: key === 'paused' });
    expect(problems).toMatchObject([{ code: 'ROLLOUT_SETTING_INVALID' }]);
    expect(problems[0]?.message).toContain(`ConfigMap windows-rollout: ${key} is "${value.slice(0, 20)}`);
    expect(problems[0]?.remedy).toMatch(/^Set .*: `kubectl edit configmap windows-rollout -n wmco`\.$/);
  });
}

test('without a last valid value the default counts, and an invalid pause counts as a pause', () => {
  const { settings, invalid } = parseRollout({ maxUnavailable: 'x', paused: 'x' });
  expect([...invalid.keys()]).toEqual(['maxUnavailable', 'paused']);
  expect(settings).toEqual({ ...defaultRollout, isPaused: true });
});

test('a removed key is the default again, whatever it was', () => {
  expect(parseRollout({}, { last }).settings).toEqual(defaultRollout);
});

test('reports unknown keys with the one that was meant, and not more than twenty', () => {
  const { settings, problems } = parseRollout({ maxUnavailabel: '4', soak: '5m' });
  expect(settings).toEqual({ ...defaultRollout, soakMs: 300_000 });
  expect(problems).toMatchObject([
    { code: 'ROLLOUT_SETTING_UNKNOWN', remedy: expect.stringContaining('rename it to maxUnavailable') as string },
  ]);
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, '']));
  expect(parseRollout(many).problems).toHaveLength(20);
});

const amounts: [maxUnavailable: string, nodes: number, want: number][] = [
  ['1', 100, 1],
  ['50', 3, 50],
  ['10%', 40, 4],
  ['10%', 49, 4],
  ['10%', 3, 1],
  ['100%', 0, 1],
];
for (const [maxUnavailable, nodes, want] of amounts) {
  test(`${maxUnavailable} of ${nodes} nodes are ${want}`, () => {
    expect(allowedUnavailable(parseRollout({ maxUnavailable }).settings, nodes)).toBe(want);
  });
}
