import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import { type FlagName, flags, helpText, isOn, parseFlags } from './flags.ts';

const parse = (line: string) => parseFlags(line.split(' ').filter(word => word !== ''));

const understood: [line: string, name: FlagName, want: string][] = [
  ['', 'metrics-bind-address', '0.0.0.0:9182'],
  ['', 'health-probe-bind-address', '0.0.0.0:9183'],
  ['', 'payload-dir', '/payload'],
  ['', 'max-parallel-joins', '20'],
  ['', 'max-parallel-uploads', '5'],
  ['', 'kubelet-version', 'v1.36.2'],
  ['', 'token-lifetime', '1h'],
  ['', 'kubeconfig', ''],
  ['', 'namespace', ''],
  ['', 'debugLogging', 'false'],
  ['', 'help', 'false'],
  ['--metrics-bind-address 127.0.0.1:1', 'metrics-bind-address', '127.0.0.1:1'],
  ['--metrics-bind-address=127.0.0.1:1', 'metrics-bind-address', '127.0.0.1:1'],
  ['-metrics-bind-address=0', 'metrics-bind-address', '0'],
  ['--kubeconfig=/a=b', 'kubeconfig', '/a=b'],
  ['--kubeconfig=', 'kubeconfig', ''],
  ['--namespace a --namespace b', 'namespace', 'b'],
  ['--namespace -x', 'namespace', '-x'],
  ['--debugLogging', 'debugLogging', 'true'],
  ['-debugLogging', 'debugLogging', 'true'],
  ['--debugLogging=true', 'debugLogging', 'true'],
  ['--debugLogging=false', 'debugLogging', 'false'],
  ['--debugLogging --debugLogging=false', 'debugLogging', 'false'],
  ['--help', 'help', 'true'],
  ['--debugLogging --max-parallel-joins 3', 'max-parallel-joins', '3'],
];
for (const [line, name, want] of understood) {
  test(`takes ${JSON.stringify(line)} for ${name} ${want}`, () => expect(parse(line)[name]).toBe(want));
}

const refused: [line: string, message: string][] = [
  ['--bogus', '"--bogus" is not understood'],
  ['--bogus=1', 'is not understood'],
  ['version', '"version" is not understood'],
  ['--', 'is not understood'],
  ['--=1', 'is not understood'],
  ['--constructor', 'is not understood'],
  ['--debuglogging', 'is not understood'],
  ['---namespace x', 'is not understood'],
  ['--namespace', '--namespace has no value'],
  ['--debugLogging=maybe', '--debugLogging is "maybe", not true or false'],
  ['--debugLogging true', '"true" is not understood'],
];
for (const [line, message] of refused) {
  test(`refuses ${JSON.stringify(line)}`, () => {
    const error = errorOf(() => parse(line));
    expect(error).toMatchObject({ code: 'USAGE', remedy: expect.stringContaining('--help') });
    expect(error?.message).toContain(message);
  });
}

test('knows which switches are on', () => {
  const values = parse('--debugLogging');
  expect([isOn(values, 'debugLogging'), isOn(values, 'help')]).toEqual([true, false]);
});

test('says something about every flag, with its usual value', () => {
  const help = helpText();
  for (const [name, flag] of Object.entries(flags)) {
    expect(help).toContain(`--${name}`);
    expect(help).toContain(flag.help);
    if ('usual' in flag) expect(help).toContain(`(${flag.usual})`);
  }
});

test('keeps the names of the Go operator', () => {
  expect(Object.keys(flags)).toEqual(expect.arrayContaining(['debugLogging', 'metrics-bind-address', 'kubeconfig']));
});

test('throws nothing but errors that tell what to do, whatever the words are', () => {
  const word = fc.oneof(
    fc.constantFrom(...Object.keys(flags).flatMap(name => [`--${name}`, `-${name}=x`])),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), words => {
      try {
        parseFlags(words);
      } catch (error) {
        if (!(error instanceof AppError) || error.remedy === '') throw error;
      }
    }),
    { numRuns: 2000 },
  );
});
