import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf } from '../../../test/kit/outcome.ts';
import {
  daemonLogMegabytes,
  durationVariable,
  logRunnerCommand,
  quantityVariable,
  readLogRotation,
} from './log-rotation.ts';

const unset = { fileSize: '', fileAge: '', flushInterval: '' };

const durations: [name: string, text: string, accepted: boolean][] = [
  ['seconds', '5s', true],
  ['zero seconds', '0s', true],
  ['the only number without a unit, zero', '0', true],
  ['zero with a plus sign', '+0', true],
  ['a plus sign', '+5s', true],
  ['hours', '168h', true],
  ['a fraction of an hour', '1.5h', true],
  ['a fraction without a leading digit', '.5s', true],
  ['a point without a following digit', '5.s', true],
  ['several units in a row', '1h30m10s', true],
  ['units in any order', '5s1h', true],
  ['one unit twice', '1h1h', true],
  ['milliseconds, which are not minutes', '100ms', true],
  ['microseconds with the letter u', '10us', true],
  ['microseconds with the micro sign', '10\u00b5s', true],
  ['microseconds with the Greek letter', '10\u03bcs', true],
  ['nanoseconds', '1ns', true],
  ['the longest duration Go can hold', '2562047h47m16s', true],
  ['leading zeros', '007s', true],
  ['a number without a unit', '100', false],
  ['two zeros without a unit', '00', false],
  ['an unknown unit', '10x', false],
  ['days', '1d', false],
  ['weeks', '1w', false],
  ['a unit in capitals', '5S', false],
  ['a unit without a number', 's', false],
  ['a point without any digit', '.s', false],
  ['two points', '1.2.3s', false],
  ['a sign alone', '+', false],
  ['two signs', '++5s', false],
  ['a sign in the middle', '1h-5s', false],
  ['a blank in the middle', '1h 5s', false],
  ['a comma for the point', '1,5h', false],
  ['an exponent', '1e3s', false],
  ['the last unit left out', '1h30', false],
  ['text around a duration', 'x1h', false],
  ['longer than Go can hold', '2562048h', false],
  ['a negative duration', '-1h', false],
  ['a negative zero', '-0s', false],
  ['a minus before the plain zero', '-0', false],
  ['a flag in disguise', '5s -log-file=C:\\evil', false],
];

for (const [name, text, accepted] of durations) {
  test(`duration: ${accepted ? 'accepts' : 'refuses'} ${name} (${text})`, () => {
    const error = errorOf(() => expect(durationVariable({ LOG_AGE: text }, 'LOG_AGE')).toBe(text));
    expect(error?.code).toBe(accepted ? undefined : 'LOG_SETTING_INVALID');
  });
}

const quantities: [name: string, text: string, accepted: boolean][] = [
  ['plain bytes', '100', true],
  ['zero', '0', true],
  ['a negative zero, which is zero', '-0', true],
  ['a plus sign', '+5M', true],
  ['decimal megabytes', '100M', true],
  ['binary megabytes', '100Mi', true],
  ['kilo in small letters', '1k', true],
  ['kibi', '1Ki', true],
  ['milli', '100m', true],
  ['micro and nano', '100u', true],
  ['exa', '1E', true],
  ['exbi', '1Ei', true],
  ['a fraction', '1.5Gi', true],
  ['a fraction without a leading digit', '.5G', true],
  ['a point without a following digit', '5.', true],
  ['a point before the suffix', '5.G', true],
  ['an exponent in small letters', '1e3', true],
  ['an exponent in capitals', '1E3', true],
  ['a signed exponent', '1e+3', true],
  ['a negative exponent', '1e-3', true],
  ['a fraction with an exponent', '1.5e9', true],
  ['leading zeros', '0100M', true],
  ['the largest 63-bit number', '9223372036854775807', true],
  ['one more than that', '9223372036854775808', false],
  ['eight exbibytes, which overflow', '8Ei', false],
  ['an exponent without measure', '1e99', false],
  ['an exponent of three digits', '1e100', false],
  ['a negative number', '-1', false],
  ['a negative fraction', '-.5M', false],
  ['kilo in capitals', '1K', false],
  ['a byte suffix', '100MB', false],
  ['a lone byte', '100B', false],
  ['the binary mark alone', '1i', false],
  ['mega in small letters with a mark', '1mi', false],
  ['a blank before the suffix', '100 M', false],
  ['an exponent without digits', '1e', false],
  ['an exponent and a suffix', '1e3M', false],
  ['two suffixes', '1MM', false],
  ['a suffix alone', 'Mi', false],
  ['a point alone', '.', false],
  ['a sign alone', '-', false],
  ['two signs', '+-1', false],
  ['two points', '1.2.3', false],
  ['a comma', '1,000', false],
  ['an underscore', '1_000', false],
  ['hexadecimal', '0x10', false],
  ['words', 'abc', false],
  ['infinity', 'Infinity', false],
  ['more digits than any size has', '1'.repeat(65), false],
  ['a second line', '100M\n200M', false],
];

for (const [name, text, accepted] of quantities) {
  test(`quantity: ${accepted ? 'accepts' : 'refuses'} ${name} (${text.slice(0, 20)})`, () => {
    const error = errorOf(() => expect(quantityVariable({ LOG_SIZE: text }, 'LOG_SIZE')).toBe(text));
    expect(error?.code).toBe(accepted ? undefined : 'LOG_SETTING_INVALID');
  });
}

const readers: [string, typeof durationVariable, good: string, bad: string][] = [
  ['duration', durationVariable, '5s', '5 apples'],
  ['quantity', quantityVariable, '5M', '5 apples'],
];

for (const [name, read, good, bad] of readers) {
  test(`${name}: an absent, empty or blank variable is not set`, () => {
    for (const environment of [{}, { V: undefined }, { V: '' }, { V: '   ' }, { V: '\t\n' }, { OTHER: good }]) {
      expect(read(environment, 'V')).toBe('');
    }
  });

  test(`${name}: blanks around the value are dropped`, () => {
    for (const text of [` ${good}`, `${good}  `, `\t${good}\r\n`]) expect(read({ V: text }, 'V')).toBe(good);
  });

  test(`${name}: an error names variable and value and tells what to write`, () => {
    const error = errorOf(() => read({ SOME_VARIABLE: bad }, 'SOME_VARIABLE'));
    expect(error?.message).toContain('SOME_VARIABLE');
    expect(error?.message).toContain('"5 apples"');
    expect(error?.remedy).toMatch(/Set SOME_VARIABLE to .*such as/);
  });

  test(`${name}: any text is either taken as it is, trimmed, or refused with an AppError`, () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[ +-]?[0-9.]{1,4}[a-zA-Z]{0,2}[0-9]?[a-z]?$/)), text => {
        const error = errorOf(() => expect(read({ V: text }, 'V')).toBe(text.trim()));
        expect([undefined, 'LOG_SETTING_INVALID']).toContain(error?.code);
      }),
      { numRuns: 2000 },
    );
  });

  test(`${name}: an accepted text has no blank, so it cannot become two arguments`, () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(' ', '\t', '\n', '"'), fc.string(), (head, blank, tail) => {
        errorOf(() => expect(read({ V: `${head}${blank}${tail}` }, 'V')).not.toMatch(/[\s"]/));
      }),
      { numRuns: 2000 },
    );
  });
}

test('reads all three variables', () => {
  const environment = {
    SERVICES_LOG_FILE_SIZE: ' 100M ',
    SERVICES_LOG_FILE_AGE: '168h',
    SERVICES_LOG_FLUSH_INTERVAL: '5s',
    PATH: '/bin',
  };
  expect(readLogRotation(environment)).toEqual({ fileSize: '100M', fileAge: '168h', flushInterval: '5s' });
});

test('rotates nothing when nothing is set', () => {
  expect(readLogRotation({})).toEqual(unset);
});

test('takes each variable without the others', () => {
  expect(readLogRotation({ SERVICES_LOG_FILE_SIZE: '1M' })).toEqual({ ...unset, fileSize: '1M' });
  expect(readLogRotation({ SERVICES_LOG_FILE_AGE: '1h' })).toEqual({ ...unset, fileAge: '1h' });
  expect(readLogRotation({ SERVICES_LOG_FLUSH_INTERVAL: '1s' })).toEqual({ ...unset, flushInterval: '1s' });
});

const reports: [name: string, environment: Record<string, string>, wrong: string[]][] = [
  ['one bad variable', { SERVICES_LOG_FILE_SIZE: '1K' }, ['SERVICES_LOG_FILE_SIZE']],
  [
    'two bad variables beside a good one',
    { SERVICES_LOG_FILE_SIZE: 'abc', SERVICES_LOG_FILE_AGE: '-1h', SERVICES_LOG_FLUSH_INTERVAL: '5s' },
    ['SERVICES_LOG_FILE_SIZE', 'SERVICES_LOG_FILE_AGE'],
  ],
  [
    'three bad variables',
    { SERVICES_LOG_FILE_SIZE: '-1', SERVICES_LOG_FILE_AGE: '1d', SERVICES_LOG_FLUSH_INTERVAL: '5' },
    ['SERVICES_LOG_FILE_SIZE', 'SERVICES_LOG_FILE_AGE', 'SERVICES_LOG_FLUSH_INTERVAL'],
  ],
];

for (const [name, environment, wrong] of reports) {
  test(`OP-04: reports ${name} in one error`, () => {
    const error = errorOf(() => readLogRotation(environment));
    expect(error?.code).toBe('LOG_SETTING_INVALID');
    expect(error?.message.startsWith('invalid log configuration: ')).toBe(true);
    const parts = error?.message.slice('invalid log configuration: '.length).split('; ') ?? [];
    expect(parts.map(part => part.split(' ')[0])).toEqual(wrong);
    for (const variable of wrong) expect(error?.remedy).toContain(`Set ${variable}`);
  });
}

const [kubelet, log] = ['C:\\k\\kubelet.exe', 'C:\\var\\log\\kubelet\\kubelet.log'];
const runner = `C:\\k\\kube-log-runner.exe -log-file=${log}`;

const commands: [name: string, rotation: Partial<typeof unset>, want: string][] = [
  ['no rotation', {}, `${runner} ${kubelet}`],
  ['size alone', { fileSize: '50Mi' }, `${runner} -log-file-size=50Mi ${kubelet}`],
  ['age alone', { fileAge: '24h' }, `${runner} -log-file-age=24h ${kubelet}`],
  ['interval alone', { flushInterval: '5s' }, `${runner} -flush-interval=5s ${kubelet}`],
  [
    'size and interval',
    { fileSize: '1M', flushInterval: '5s' },
    `${runner} -log-file-size=1M -flush-interval=5s ${kubelet}`,
  ],
  [
    'everything in a fixed order',
    { flushInterval: '10s', fileAge: '48h', fileSize: '50Mi' },
    `${runner} -log-file-size=50Mi -log-file-age=48h -flush-interval=10s ${kubelet}`,
  ],
  [
    'zero, which is a setting',
    { fileSize: '0', fileAge: '0s' },
    `${runner} -log-file-size=0 -log-file-age=0s ${kubelet}`,
  ],
];

for (const [name, rotation, want] of commands) {
  test(`log runner: ${name}`, () => expect(logRunnerCommand(kubelet, log, { ...unset, ...rotation })).toBe(want));
}

test('log runner: another path of the runner', () => {
  expect(logRunnerCommand(kubelet, log, unset, 'D:\\runner.exe')).toBe(`D:\\runner.exe -log-file=${log} ${kubelet}`);
});

const megabytes: [text: string, want: number][] = [
  ['0', 0],
  ['-0', 0],
  ['1', 1],
  ['100m', 1],
  ['500', 1],
  ['500k', 1],
  ['999999', 1],
  ['1000000', 1],
  ['1000001', 2],
  ['1M', 1],
  ['1Mi', 2],
  ['2000k', 2],
  ['100M', 100],
  ['100Mi', 105],
  ['.5M', 1],
  ['1.5M', 2],
  ['1e6', 1],
  ['1E6', 1],
  ['15e5', 2],
  ['1G', 1000],
  ['1Gi', 1074],
  ['1.5Gi', 1611],
  ['1T', 1_000_000],
  ['1E', 1_000_000_000_000],
  ['9223372036854775807', 9_223_372_036_855],
];

for (const [text, want] of megabytes) {
  test(`agent: ${text} is ${want} megabytes`, () => expect(daemonLogMegabytes(text)).toBe(want));
}

test.each(['', '-1M', 'abc', '1K', '100 M', '16Ei', '1e99'])('agent: refuses %j', text => {
  const error = errorOf(() => daemonLogMegabytes(text));
  expect(error?.code).toBe('LOG_SETTING_INVALID');
  expect(error?.message).toContain(JSON.stringify(text));
  expect(error?.remedy).toContain('SERVICES_LOG_FILE_SIZE');
});

test('agent: megabytes always hold the size and are never one too many', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), bytes => {
      const result = BigInt(daemonLogMegabytes(String(bytes))) * 1_000_000n;
      expect(result >= bytes && result - bytes < 1_000_000n).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('agent: every size the operator accepts can be given to the agent as a plain number', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{1,12}(\.[0-9]{0,3})?(n|u|m|k|[MGTPE]i?|Ki|e[0-9])?$/), text => {
      const accepted = errorOf(() => quantityVariable({ V: text }, 'V')) === undefined;
      const error = errorOf(() => expect(String(daemonLogMegabytes(text))).toMatch(/^\d+$/));
      expect(error === undefined).toBe(accepted);
    }),
    { numRuns: 2000 },
  );
});
