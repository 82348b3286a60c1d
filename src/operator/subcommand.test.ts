import { expect, test } from 'vitest';
import { operatorSubcommand, type SubcommandResult } from './subcommand.ts';

const about = { program: '/usr/local/bin/windows-machine-config-operator', version: '11.0.0-1a2b3c4', runtime: 'v26' };
const version = {
  code: 0,
  out: '/usr/local/bin/windows-machine-config-operator version: "11.0.0-1a2b3c4", node version: "v26"\n',
} as const;
const unknown = (word: string) =>
  ({ code: 1, err: `unknown sub-command: ${word}\navailable sub-commands:\n\tversion\n` }) as const;

const cases: [words: string[], args: string | undefined, SubcommandResult | undefined][] = [
  [[], undefined, undefined],
  [['--debugLogging'], undefined, undefined],
  [['-metrics-bind-address=:9182'], undefined, undefined],
  [['--no-such-flag'], undefined, undefined],
  [['version'], undefined, version],
  [['version', '--debugLogging'], undefined, version],
  [['--debugLogging', 'version'], undefined, undefined],
  [[], '--debugLogging', undefined],
  [[], ' version', version],
  [['serve'], undefined, unknown('serve')],
  [['serve=yes'], undefined, unknown('serve=yes')],
  [['\u001b[2J'], undefined, unknown('\\u{1b}[2J')],
];
for (const [words, args, result] of cases) {
  test(`with ${JSON.stringify(words)} and ARGS ${JSON.stringify(args)}: ${JSON.stringify(result) ?? 'runs'}`, () => {
    expect(operatorSubcommand(words, args === undefined ? {} : { ARGS: args }, about)).toEqual(result);
  });
}
