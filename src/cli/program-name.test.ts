import { expect, test } from 'vitest';
import { named, type ProgramName, programNameOf } from './program-name.ts';

const names: [string, ProgramName][] = [
  ['kubectl-wmco', 'kubectl wmco'],
  ['oc-wmco', 'oc wmco'],
  ['wmco', 'wmco'],
  ['node', 'wmco'],
  ['toString', 'wmco'],
];
for (const [file, name] of names) {
  test(`the file ${file} is the program ${name}`, () => expect(programNameOf(file)).toBe(name));
}

const texts: [ProgramName, string, string][] = [
  ['kubectl wmco', 'Usage: wmco status [flags]', 'Usage: kubectl wmco status [flags]'],
  ['oc wmco', 'Run `wmco remove --help` for usage.', 'Run `oc wmco remove --help` for usage.'],
  ['kubectl wmco', 'Usage: wmco <command> [flags]', 'Usage: kubectl wmco <command> [flags]'],
  ['kubectl wmco', 'a\nwmco rollout pin win-3', 'a\nkubectl wmco rollout pin win-3'],
  ['kubectl wmco', 'run: kubectl wmco status', 'run: kubectl wmco status'],
  ['kubectl wmco', 'wmco version: "11.0.0"', 'wmco version: "11.0.0"'.replace('wmco', 'kubectl wmco')],
  ['kubectl wmco', '/usr/local/bin/wmco status', '/usr/local/bin/wmco status'],
  ['kubectl wmco', '\u001b[2Jwmco status', '\u001b[2Jwmco status'],
  ['wmco', 'Usage: wmco status', 'Usage: wmco status'],
];
for (const [program, text, expected] of texts) {
  test(`${program}: ${JSON.stringify(text)}`, () => expect(named(program, text)).toBe(expected));
}
