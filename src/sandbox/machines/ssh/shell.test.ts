import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Language, Traits } from '../traits.ts';
import { unknownProgram } from './languages.ts';
import { runCommand, type ShellHost } from './shell.ts';

const agent = 'C:\\k\\windows-instance-config-daemon.exe';

interface Ran {
  exitCode: number;
  out: string;
  err: string;
  started: [string, readonly string[]][];
}

async function ran(command: string, traits: Partial<Traits> = {}): Promise<Ran> {
  const output = { out: '', err: '' };
  const started: Ran['started'] = [];
  const host: ShellHost = {
    traits: { shell: 'cmd', language: 'english', ...traits },
    hostName: () => 'WIN-1',
    run: (path, words, to) => {
      if (path !== agent) return undefined;
      started.push([path, words]);
      to.out('done');
      return Promise.resolve(5);
    },
  };
  const collect = (stream: 'out' | 'err') => (bytes: Uint8Array | string) =>
    void (output[stream] += Buffer.from(bytes).toString('latin1'));
  const exitCode = await runCommand(command, host, {
    out: collect('out'),
    err: collect('err'),
    closed: new AbortController().signal,
  });
  return { exitCode, ...output, started };
}

const agentLines: [string, string, string[]][] = [
  ['plain words', `${agent} stage --bundle C:\\k\\b --sha256 ab`, ['stage', '--bundle', 'C:\\k\\b', '--sha256', 'ab']],
  ['a quoted path', `"${agent}" version`, ['version']],
  ['words in quotes', `${agent} rename --name "a b"`, ['rename', '--name', 'a b']],
  ['no words', agent, []],
  ['too many blanks', `  ${agent}   version  `, ['version']],
];
for (const [name, command, words] of agentLines) {
  test(`starts a program with ${name}`, async () => {
    expect(await ran(command)).toMatchObject({ exitCode: 5, out: 'done', err: '', started: [[agent, words]] });
  });
}

const builtIn: [string, string][] = [
  ['hostname', 'WIN-1\r\n'],
  ['HOSTNAME.EXE', 'WIN-1\r\n'],
  ['echo a  "b c"', 'a b c\r\n'],
  ['whoami', 'win-1\\administrator\r\n'],
];
for (const [command, want] of builtIn) {
  test(`knows ${command}`, async () => expect(await ran(command)).toMatchObject({ exitCode: 0, out: want }));
}

const answers: [Language, Traits['shell'], RegExp][] = [
  ['english', 'cmd', /^'foo' is not recognized as an internal or external command,\r\noperable program/],
  ['english', 'powershell', /^foo : The term 'foo' is not recognized/],
  ['german', 'cmd', /^Der Befehl "foo" ist entweder falsch geschrieben/],
  ['german', 'powershell', /^foo : Die Benennung "foo" .*ausf\x81hrbaren/],
  ['french', 'cmd', /^'foo' n'est pas reconnu .*\r\nou externe, un programme ex\x82cutable/],
  ['french', 'powershell', /^foo : Le terme \xaefoo\xaf n'est pas reconnu/],
  ['japanese', 'cmd', /^'foo' \x82\xcd\x81\x41\x93\xe0/],
  ['japanese', 'powershell', /^foo : \x97\x70\x8c\xea 'foo' \x82\xcd/],
];
for (const [language, shell, message] of answers) {
  test(`${shell} reports an unknown program in ${language} and fails`, async () => {
    const { exitCode, err, out } = await ran('foo bar', { language, shell });
    expect([exitCode, out]).toEqual([1, '']);
    expect(err).toMatch(message);
  });
}

test('a French console does not write UTF-8', () => {
  const bytes = unknownProgram('x', 'cmd', 'french');
  expect(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toThrow();
});

test('a program that is not on the disk is unknown', async () => {
  expect(await ran('C:\\k\\other.exe version')).toMatchObject({ exitCode: 1, started: [] });
});

test('an empty line is an unknown command', async () => {
  expect(await ran('')).toMatchObject({ exitCode: 1, err: expect.stringContaining("'' is not recognized") });
});

test('any line gives an exit code and never an error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), async command => {
      const { exitCode } = await ran(command);
      expect([0, 1, 5]).toContain(exitCode);
    }),
    { numRuns: 500 },
  );
});
