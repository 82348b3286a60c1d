import { expect, test } from 'vitest';
import { controllerCommand } from '#contract/agent-command.ts';
import { parseArguments, type VerbLine, wantsJson } from './arguments.ts';
import { verbs } from './all.ts';
import { durationMs, flagOf, type FlagName, flags } from './flags.ts';
import { installedAgent } from '../../../test/kit/installed-agent.ts';

const clean: VerbLine = {
  name: 'clean',
  summary: 'clean it',
  required: ['kubeconfig', 'namespace'],
  optional: ['keep-settings', 'cert-duration', 'log-file-max-size', 'cert-dir'],
};
const reboot: VerbLine = { name: 'reboot', summary: 'reboot it', required: ['boot-id'], optional: ['delay', 'sha256'] };
const parse = (line: string) => parseArguments(line.split(' '), [clean, reboot]);

/** The values of some flags. */
function valuesOf(line: string, names: readonly FlagName[]): Record<string, string> {
  const parsed = parse(line);
  if (parsed.is !== 'run') throw new Error(parsed.is);
  return Object.fromEntries(names.map(name => [name, parsed.values[name]]));
}

const read: [name: string, line: string, want: Partial<Record<FlagName, string>>][] = [
  ['values', 'clean --kubeconfig k --namespace=n', { kubeconfig: 'k', namespace: 'n' }],
  ['defaults', 'clean --kubeconfig k --namespace n', { 'cert-duration': '24h', 'cert-dir': 'C:\\k\\wicd-certs' }],
  ['nothing for flags of other verbs', 'clean --kubeconfig k --namespace n', { 'log-dir': '', bundle: '' }],
  [
    'a size of 0, for no limit',
    'clean --kubeconfig k --namespace n --log-file-max-size 0',
    { 'log-file-max-size': '0' },
  ],
  ['text as the default format', 'clean --kubeconfig k --namespace n', { output: 'text' }],
  ['the format, short', 'clean --kubeconfig k --namespace n -o json', { output: 'json' }],
  ['the format, long', 'clean --kubeconfig k --namespace n --output=json', { output: 'json' }],
  ['no delay', 'reboot --boot-id b --delay 0s', { delay: '0s' }],
];
for (const [name, line, want] of read) {
  test(`reads ${name}`, () => expect(valuesOf(line, Object.keys(want) as FlagName[])).toEqual(want));
}

const rejected: [name: string, line: string, message: string][] = [
  ['an unknown verb', 'burn', 'unknown command "burn"'],
  ['an unknown flag', 'clean --force', 'unknown flag "--force"'],
  ['a flag of another verb', 'clean --kubeconfig k --namespace n --boot-id b', 'unknown flag "--boot-id"'],
  ['missing flags', 'clean --keep-settings', 'missing --kubeconfig and --namespace'],
  ['a second word', 'clean reboot', 'unexpected argument "reboot"'],
  ['flags without a verb', '--kubeconfig k', 'unknown flag "--kubeconfig"'],
  ['text for a duration', 'clean --cert-duration soon', '--cert-duration is "soon", not a duration'],
  ['a duration of 0', 'clean --cert-duration 0s', 'not a duration such as 10m'],
  ['a negative duration', 'clean --cert-duration=-1h', 'not a duration such as 10m'],
  ['a size with a unit', 'clean --log-file-max-size 5M', 'not a whole number of megabytes'],
  ['a negative size', 'clean --log-file-max-size=-1', 'not a whole number of megabytes'],
  ['a huge size', 'clean --log-file-max-size 9999999999', 'not a whole number'],
  ['an unknown format', 'clean -o yaml', '--output is "yaml", not text or json'],
  ['a hash that is too short', 'reboot --sha256 abc', '--sha256 is "abc", not 64 hexadecimal digits'],
  ['a delay that is too long', 'reboot --delay 61m', '--delay is "61m", not a duration such as 3s'],
  ['text for a delay', 'reboot --delay later', '--delay is "later", not a duration such as 3s'],
];
for (const [name, line, message] of rejected) {
  test(`rejects ${name}`, () => {
    const remedy = expect.stringContaining('--help');
    const want = expect.objectContaining({ code: 'USAGE', remedy, message: expect.stringContaining(message) });
    expect(() => parse(line)).toThrow(want);
  });
}

const helps: [line: string, usage: string][] = [
  ['help', 'Usage: windows-instance-config-daemon.exe <command>'],
  ['--help', 'Usage: windows-instance-config-daemon.exe <command>'],
  ['help clean', 'Usage: windows-instance-config-daemon.exe clean --kubeconfig <path> --namespace <name> [flags]'],
  ['clean -h --kubeconfig k', 'Usage: windows-instance-config-daemon.exe clean'],
];
for (const [line, usage] of helps) {
  test(`${JSON.stringify(line)} prints help`, () =>
    expect(parse(line)).toMatchObject({ is: 'help', text: expect.stringContaining(usage) as string }));
}

const forms: [line: string, json: boolean][] = [
  ['clean', false],
  ['clean -o json', true],
  ['clean -o=json', true],
  ['clean --output json --broken', true],
  ['--output=json', true],
  ['clean -o text', false],
  ['clean -o', false],
  ['clean json', false],
];
for (const [line, json] of forms) {
  test(`detects whether ${JSON.stringify(line)} requests JSON`, () => expect(wantsJson(line.split(' '))).toBe(json));
}

const ofOperator: [name: string, command: string][] = [
  ['cleanup', installedAgent.cleanup('ns')],
  ['bootstrap', installedAgent.bootstrap({ version: '11.0.0-1b759bf', namespace: 'ns', node: 'win-1' })],
  ['controller', controllerCommand({ namespace: 'ns', node: 'win-1' })],
  ['controller', controllerCommand({ namespace: 'ns', node: 'win-1', logMegabytes: 105 })],
  ['controller', controllerCommand({ namespace: 'ns', node: 'win-1', certificateLifetime: '2h', cloudNode: true })],
  ['install', installedAgent.install({ namespace: 'ns', node: 'win-1', newKey: true, cloudNode: true })],
  ['inventory', installedAgent.inventory({ apiServerUrl: 'https://api:6443', nameSource: 'fqdn' })],
  ['inventory', installedAgent.inventory()],
  ['version', installedAgent.version],
  ['enable-containers', installedAgent.enableContainers],
  ['stage', installedAgent.stage('C:\\Temp\\bundle', 'a'.repeat(64))],
  ['reboot', installedAgent.reboot('b-1')],
  ['reboot', installedAgent.reboot('b-1', 0)],
  ['rename', installedAgent.rename('win-1')],
];
for (const [name, command] of ofOperator) {
  test(`understands what the operator sends: ${command}`, () => {
    const words = command.split(' ').slice(1);
    expect(parseArguments(words, verbs)).toMatchObject({ is: 'run', verb: { name } });
  });
}

test('has a help text for every flag, and valid defaults', () => {
  for (const name of Object.keys(flags) as FlagName[]) {
    const { help, default: preset, expected } = flagOf(name);
    expect(help).not.toBe('');
    if (preset !== undefined) expect(expected?.(preset)).toBeUndefined();
  }
});

const durations: [text: string, ms: number][] = [
  ['3s', 3000],
  ['1h30m', 5_400_000],
  ['250ms', 250],
  ['nothing of the kind', 0],
];
test.each(durations)('parses %s as %d ms', (text, ms) => expect(durationMs(text)).toBe(ms));
