import { expect, test } from 'vitest';
import { quotedForPowerShell, runOnHost } from './powershell.ts';

const cases: [text: string, quoted: string][] = [
  ['Administrator', "'Administrator'"],
  ["O'Brien", "'O''Brien'"],
  ['O’Brien', "'O’’Brien'"],
  ['$(calc)', "'$(calc)'"],
  ['', "''"],
];
for (const [text, quoted] of cases) test(`quotes ${text}`, () => expect(quotedForPowerShell(text)).toBe(quoted));

test('joins commands in their order', () => {
  expect(runOnHost('a', 'b')).toBe('Run in PowerShell as administrator on the host: `a; b`');
});
