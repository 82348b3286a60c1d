import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { controllerCommand } from '#contract/agent-command.ts';
import { parseArguments, type VerbLine, wantsJson } from './arguments.ts';
import { verbs } from './all.ts';
import { durationMs, flagOf, type FlagName, flags } from './flags.ts';
import { installedAgent } from '../../../test/kit/installed-agent.ts';

const clean: VerbLine = {
  name: 'clean',
  summary: '',
  required: ['kubeconfig', 'namespace'],
  optional: ['keep-settings', 'cert-duration', 'log-file-max-size', 'cert-dir'],
};
const reboot: VerbLine = { name: 'reboot', summary: '', required: ['boot-id'], optional: ['delay', 'sha256'] };
const parse = (line: string) => parseArguments(line.split(' '), [clean, reboot]);
const usual = { kubeconfig: 'k', namespace: 'n' };

/** What a command line says of some flags. */
function valuesOf(line: string, names: readonly FlagName[]): Record<string, string> {
  const parsed = parse(line);
  if (parsed.is !== 'run') throw new Error(parsed.is);
  return Object.fromEntries(names.map(name => [name, parsed.values[name]]));
}

const understood: [name: string, line: string, want: Partial<Record<FlagName, string>>][] = [
  ['values behind a blank', 'clean --kubeconfig k --namespace n', usual],
  ['values behind an equals sign', 'clean --kubeconfig=k --namespace=n', usual],
  ['a value with an equals sign in it', 'clean --kubeconfig=a=b --namespace n', { kubeconfig: 'a=b' }],
  ['flags before the verb', '--kubeconfig k clean --namespace n', usual],
  ['the last of two values', 'clean --kubeconfig x --namespace n --kubeconfig k', usual],
  [
    'a value that begins with a dash, behind an equals sign',
    'clean --kubeconfig=-k --namespace n',
    { kubeconfig: '-k' },
  ],
  ['a switch', 'clean --kubeconfig k --namespace n --keep-settings', { 'keep-settings': 'true' }],
  [
    'a switch that is said to be on',
    'clean --kubeconfig k --namespace n --keep-settings=true',
    { 'keep-settings': 'true' },
  ],
  [
    'a switch that is said to be off',
    'clean --keep-settings=false --kubeconfig k --namespace n',
    { 'keep-settings': 'false' },
  ],
  ['no switch', 'clean --kubeconfig k --namespace n', { 'keep-settings': 'false' }],
  ['usual values', 'clean --kubeconfig k --namespace n', { 'cert-duration': '24h', 'cert-dir': 'C:\\k\\wicd-certs' }],
  ['no value where there is no usual one', 'clean --kubeconfig k --namespace n', { 'log-dir': '', bundle: '' }],
  [
    'a size of nought, for no limit',
    'clean --kubeconfig k --namespace n --log-file-max-size 0',
    { 'log-file-max-size': '0' },
  ],
  ['text as the usual form', 'clean --kubeconfig k --namespace n', { output: 'text' }],
  ['the form, short', 'clean --kubeconfig k --namespace n -o json', { output: 'json' }],
  ['the form, short with an equals sign', 'clean --kubeconfig k --namespace n -o=json', { output: 'json' }],
  ['the form, long', 'clean --kubeconfig k --namespace n --output=json', { output: 'json' }],
  ['a delay of nothing', 'reboot --boot-id b --delay 0s', { delay: '0s' }],
];
for (const [name, line, want] of understood) {
  test(`understands ${name}`, () => expect(valuesOf(line, Object.keys(want) as FlagName[])).toEqual(want));
}

const refused: [name: string, line: string, message: string][] = [
  ['an unknown verb', 'burn', 'there is no verb "burn"'],
  ['an unknown flag', 'clean --force', 'there is no flag "--force"'],
  ['an unknown short flag', 'clean -f', 'there is no flag "-f"'],
  ['a long flag with one dash', 'clean -kubeconfig k', 'there is no flag "-kubeconfig"'],
  ['a name that every object has', 'clean --constructor x', 'there is no flag "--constructor"'],
  ['an empty name', 'clean --=x', 'there is no flag "--"'],
  ['a flag of another verb', 'clean --kubeconfig k --namespace n --boot-id b', 'clean has no flag --boot-id'],
  ['a missing flag', 'clean --kubeconfig k', 'clean needs --namespace'],
  ['several missing flags', 'clean --keep-settings', 'clean needs --kubeconfig and --namespace'],
  ['an empty value of a flag that is needed', 'clean --kubeconfig= --namespace n', 'clean needs --kubeconfig'],
  ['a flag without a value at the end', 'clean --kubeconfig', '--kubeconfig has no value'],
  ['a flag in the place of a value', 'clean --kubeconfig --namespace n', '--kubeconfig has no value'],
  ['a second word', 'clean reboot', '"reboot" is one word too many'],
  ['many words', 'clean a b c', '"a b c" is one word too many'],
  ['flags without a verb', '--kubeconfig k', 'no verb is given'],
  ['a switch with a strange value', 'clean --keep-settings=maybe', '--keep-settings is "maybe", not true or false'],
  [
    'no duration',
    'clean --kubeconfig k --namespace n --cert-duration soon',
    '--cert-duration is "soon", not a duration',
  ],
  ['a duration of nothing', 'clean --kubeconfig k --namespace n --cert-duration 0s', 'not a duration such as 10m'],
  ['a negative duration', 'clean --kubeconfig k --namespace n --cert-duration=-1h', 'not a duration such as 10m'],
  [
    'a size with a unit',
    'clean --kubeconfig k --namespace n --log-file-max-size 5M',
    'not a whole number of megabytes',
  ],
  ['a negative size', 'clean --kubeconfig k --namespace n --log-file-max-size=-1', 'not a whole number of megabytes'],
  ['an endless size', 'clean --kubeconfig k --namespace n --log-file-max-size 9999999999', 'not a whole number'],
  ['an unknown form', 'clean --kubeconfig k --namespace n -o yaml', '--output is "yaml", not text or json'],
  ['a hash that is too short', 'reboot --boot-id b --sha256 abc', '--sha256 is "abc", not 64 hexadecimal digits'],
  ['a delay that is too long', 'reboot --boot-id b --delay 61m', '--delay is "61m", not a duration such as 3s'],
  ['no delay', 'reboot --boot-id b --delay later', '--delay is "later", not a duration such as 3s'],
];
for (const [name, line, message] of refused) {
  test(`refuses ${name}`, () => {
    const remedy = expect.stringContaining('--help');
    const want = expect.objectContaining({ code: 'USAGE', remedy, message: expect.stringContaining(message) });
    expect(() => parse(line)).toThrow(want);
  });
}

const helps: [line: string, verb: string | undefined][] = [
  ['help', undefined],
  ['--help', undefined],
  ['-h', undefined],
  ['help clean', 'clean'],
  ['clean --help', 'clean'],
  ['clean -h --kubeconfig k', 'clean'],
  ['--help clean', 'clean'],
];
for (const [line, verb] of helps) {
  test(`takes ${JSON.stringify(line)} for a wish for help`, () =>
    expect(parse(line)).toMatchObject({ is: 'help', verb: verb && { name: verb } }));
}

test('gives help to whoever says nothing', () => {
  expect(parseArguments([], [clean])).toEqual({ is: 'help', verb: undefined });
});

test.each([['help burn'], ['help clean reboot']])('does not give help for %j', line => {
  expect(() => parse(line)).toThrow(expect.objectContaining({ code: 'USAGE' }));
});

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
  test(`sees whether ${JSON.stringify(line)} wants JSON, right or wrong as it may be`, () =>
    expect(wantsJson(line.split(' '))).toBe(json));
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

test('throws nothing but errors that tell what to do, whatever the words are', () => {
  const names = [...Object.keys(flags).flatMap(name => [`--${name}`, `--${name}=x`]), '-o', '-h', 'clean', 'reboot'];
  const word = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), words => {
      wantsJson(words);
      try {
        parseArguments(words, [clean, reboot]);
      } catch (error) {
        if (!(error instanceof AppError) || error.remedy === '') throw error;
      }
    }),
    { numRuns: 2000 },
  );
});

test('says something about every flag, and has usual values that it would take', () => {
  for (const name of Object.keys(flags) as FlagName[]) {
    const { help, usual, wrong } = flagOf(name);
    expect(help).not.toBe('');
    if (usual !== undefined) expect(wrong?.(usual)).toBeUndefined();
  }
});

const durations: [text: string, ms: number][] = [
  ['3s', 3000],
  ['1h30m', 5_400_000],
  ['250ms', 250],
  ['nothing of the kind', 0],
];
test.each(durations)('takes %s for %d ms', (text, ms) => expect(durationMs(text)).toBe(ms));
