import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorOf } from '../../test/kit/outcome.ts';
import {
  commandHelp,
  type CommandLine,
  type Flags,
  parseCommandLine,
  pickCommand,
  programHelp,
} from './command-line.ts';
import { AppError } from './errors.ts';

const flags = {
  name: { value: 'name', help: 'name of it' },
  size: {
    value: 'number',
    default: '5',
    help: 'size of it',
    expected: text => (/^-?\d+$/.test(text) ? undefined : 'a number'),
  },
  file: { value: 'file...', short: 'f', isList: true, help: 'files of it' },
  faults: { value: 'list', isValueOptional: true, help: 'faults of it' },
  debug: { short: 'd', help: 'more of it' },
} as const satisfies Flags;
const line: CommandLine<typeof flags> = {
  name: 'tool act',
  summary: 'acts on it',
  flags,
  argument: { name: 'host', help: 'one host' },
  details: 'Exit code: 0.',
};
const parse = (text: string, over: Partial<CommandLine> = {}) =>
  parseCommandLine({ ...line, ...over }, text.split(' ').filter(Boolean));

const values: [line: string, want: Partial<Record<keyof typeof flags | 'argument', string>>][] = [
  ['', { name: '', size: '5', debug: 'false', faults: '' }],
  ['--name n', { name: 'n' }],
  ['--name=n', { name: 'n' }],
  ['-name n', { name: 'n' }],
  ['--name=a=b', { name: 'a=b' }],
  ['--name=', { name: '' }],
  ['--name=-x', { name: '-x' }],
  ['--name -', { name: '-' }],
  ['--name a --name b', { name: 'b' }],
  ['--size -3', { size: '-3' }],
  ['--debug', { debug: 'true' }],
  ['-d', { debug: 'true' }],
  ['-fa.yaml', { file: 'a.yaml' }],
  ['-f=a.yaml', { file: 'a.yaml' }],
  ['--debug -- --name', { debug: 'true', argument: '--name' }],
  ['-- --', { argument: '--' }],
  ['--debug=true', { debug: 'true' }],
  ['--debug --debug=false', { debug: 'false' }],
  ['--debug --name n', { debug: 'true', name: 'n' }],
  ['--debug host', { debug: 'true', argument: 'host' }],
  ['host --size 2', { argument: 'host', size: '2' }],
];
for (const [text, want] of values) {
  test(`reads ${JSON.stringify(text)}`, () => {
    const { values: all, args: [argument] = [] } = parse(text) ?? {};
    expect({ ...all, ...(argument !== undefined && { argument }) }).toMatchObject(want);
  });
}

const given: [line: string, flag: string, want: string[] | undefined][] = [
  ['', 'file', undefined],
  ['-f a b --debug', 'file', ['a', 'b']],
  ['-f a --file b c', 'file', ['a', 'b', 'c']],
  ['-f=a -f -', 'file', ['a', '-']],
  ['--faults', 'faults', ['']],
  ['--faults --debug', 'faults', ['']],
  ['--faults x', 'faults', ['x']],
];
for (const [text, flag, want] of given) {
  test(`lists what ${JSON.stringify(text)} gives for --${flag}`, () =>
    expect(parse(text)?.given.get(flag)).toEqual(want));
}

const rejected: [line: string, message: string, meant?: string][] = [
  ['--bogus', 'unknown flag "--bogus"'],
  ['--bogus=1', 'unknown flag "--bogus"'],
  ['-x', 'unknown flag "-x"'],
  ['--f x', 'unknown flag "--f"', '--file'],
  ['-n x', 'unknown flag "-n"', '--name'],
  ['--nmae x', 'unknown flag "--nmae"', '--name'],
  ['--hepl', 'unknown flag "--hepl"', '--help'],
  ['--=1', 'unknown flag "--"'],
  ['---name x', 'unknown flag "---name"', '--name'],
  ['--constructor x', 'unknown flag "--constructor"'],
  ['--Name x', 'unknown flag "--Name"', '--name'],
  ['--name', 'flag --name needs a value'],
  ['--name --debug', 'flag --name needs a value'],
  ['-f', 'flag --file needs a value'],
  ['--debug=maybe', '--debug is "maybe", not true or false'],
  ['--size x', '--size is "x", not a number'],
  ['a b', 'unexpected argument "b"'],
];
for (const [text, message, meant] of rejected) {
  test(`rejects ${JSON.stringify(text)}`, () =>
    expect(errorOf(() => parse(text))).toMatchObject({
      code: 'USAGE',
      message,
      remedy: `${meant === undefined ? '' : `Did you mean \`${meant}\`? `}Run \`tool act --help\` for usage.`,
    }));
}

test('rejects any word when the command takes no argument', () => {
  const { argument: _, ...plain } = line;
  expect(errorOf(() => parseCommandLine(plain, ['host']))?.message).toBe('unexpected argument "host"');
});

test('names all required flags that are missing or empty', () => {
  const required = ['name', 'size'];
  expect(errorOf(() => parse('', { required }))?.message).toBe('missing --name and --size');
  expect(errorOf(() => parse('--name= --size 1', { required }))?.message).toBe('missing --name');
  expect(parse('--name n --size 1', { required })).toBeDefined();
});

for (const text of ['-h', '--help', '--debug --help', '--name n -h']) {
  test(`${JSON.stringify(text)} requests help`, () => expect(parse(text)).toBeUndefined());
}

test('help shows usage, argument, every flag with its default, and the details', () => {
  const help = commandHelp({ ...line, required: ['name'] });
  expect(help).toContain('Acts on it.\n\nUsage: tool act [host] --name <name> [flags]\n');
  expect(help).toMatch(/\n {2}host {2}one host\n/);
  expect(help).toMatch(/\n {6}--size <number> +size of it \(default 5\)\n/);
  expect(help).toMatch(/\n {2}-f, --file <file\.\.\.> +files of it\n/);
  expect(help).toMatch(/\n {2}-h, --help +print this help\n/);
  expect(help).toMatch(/\nExit code: 0\.\n$/);
});

const commands = [
  { name: 'one', summary: 'do one' },
  { name: 'other', summary: 'do the other' },
];
const picks: [words: string[], want: [string, string[]] | undefined][] = [
  [[], undefined],
  [['-h'], undefined],
  [['--help'], undefined],
  [['help'], undefined],
  [['help', 'help'], undefined],
  [['one'], ['one', []]],
  [
    ['other', '--help'],
    ['other', ['--help']],
  ],
  [
    ['one', 'a', '--b'],
    ['one', ['a', '--b']],
  ],
  [
    ['help', 'one'],
    ['one', ['--help']],
  ],
];
for (const [words, want] of picks) {
  test(`picks ${want?.[0] ?? 'help'} by ${JSON.stringify(words)}`, () => {
    const picked = pickCommand('tool', commands, words);
    expect(picked && [picked[0].name, picked[1]]).toEqual(want);
  });
}

test('--version is the command version, where there is one', () => {
  const version = { name: 'version', summary: 'print the version' };
  expect(pickCommand('tool', [...commands, version], ['--version', '-o', 'json'])).toEqual([version, ['-o', 'json']]);
  expect(errorOf(() => pickCommand('tool', [...commands, version], ['-v']))?.remedy).toMatch(
    /^Did you mean `--version`\?/,
  );
  expect(errorOf(() => pickCommand('tool', commands, ['--version']))?.message).toBe('unknown flag "--version"');
});

const unknownCommands: [word: string, message: string, meant?: string][] = [
  ['burn', 'unknown command "burn"'],
  ['oen', 'unknown command "oen"', 'one'],
  ['hlep', 'unknown command "hlep"', 'help'],
  ['hidde', 'unknown command "hidde"'],
  ['--force', 'unknown flag "--force"'],
  ['--hlep', 'unknown flag "--hlep"', '--help'],
  ['constructor', 'unknown command "constructor"'],
];
for (const [word, message, meant] of unknownCommands) {
  test(`rejects ${word} as a command`, () => {
    const all = [...commands, { name: 'hidden', summary: '', isHidden: true as const }];
    expect(errorOf(() => pickCommand('tool', all, [word]))).toMatchObject({
      code: 'USAGE',
      message,
      remedy: `${meant === undefined ? '' : `Did you mean \`${meant}\`? `}Run \`tool --help\` for usage.`,
    });
  });
}

const choices: [value: string, remedy: RegExp | undefined][] = [
  ['json', undefined],
  ['dir=/tmp', undefined],
  ['JSON', /^Did you mean `json`\?/],
  ['jsn', /^Did you mean `json`\?/],
  ['dir=', /Run `tool act --help`/],
  ['xml', /^Run/],
];
for (const [value, remedy] of choices) {
  test(`${remedy === undefined ? 'allows' : 'rejects'} ${value} where json and dir= are allowed`, () => {
    const format = { value: 'format', help: '', values: ['json', 'dir='] };
    const error = errorOf(() =>
      parseCommandLine({ name: 'tool act', summary: '', flags: { format } }, ['--format', value]),
    );
    if (remedy === undefined) expect(error).toBeUndefined();
    else expect(error?.message).toBe(`--format is "${value}", not json or dir=`);
    if (remedy !== undefined) expect(error?.remedy).toMatch(remedy);
  });
}

test('help of a program lists its commands', () => {
  const help = programHelp('tool', 'is a tool', commands, ['The end.']);
  expect(help).toContain('Is a tool.\n\nUsage: tool <command> [flags]\n');
  expect(help).toMatch(/\n {2}one {4}do one\n {2}other {2}do the other\n/);
  expect(help).toMatch(/The end\.\n$/);
});

test('parses any words or rejects them with a remedy', () => {
  const names = Object.keys(flags).flatMap(name => [`--${name}`, `-${name}=x`, `--${name}=1`]);
  const word = fc.oneof(fc.constantFrom(...names, '-f', '-d', '-h'), fc.string({ maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), words => {
      try {
        parseCommandLine(line, words);
        pickCommand('tool', commands, words);
      } catch (error) {
        if (!(error instanceof AppError) || error.remedy === '') throw error;
      }
    }),
    { numRuns: 2000 },
  );
});
