import { expect, test } from 'vitest';
import { certificateSeconds, lifetimeLimit } from './certificate-lifetime.ts';

const limits: [setting: string, serverVersion: string, maxSeconds: number, isKept: boolean][] = [
  ['24h', 'v1.36.2', 86_400, true],
  ['90m', 'v1.22.0', 5400, true],
  ['24h', 'v1.21.14', 86_400, false],
  ['10m0.9s', 'v2.0.0', 600, true],
  ['1s', '', 600, false],
];
test.each(limits)('%s on a server of version %s', (setting, serverVersion, maxSeconds, isKept) => {
  expect(lifetimeLimit(setting, serverVersion)).toEqual({ maxSeconds, isKept });
});

test('what the agent asks for is what it may ask for', () => {
  expect(lifetimeLimit('25h0.7s', 'v1.36.2').maxSeconds).toBe(certificateSeconds(90_000_700));
});
