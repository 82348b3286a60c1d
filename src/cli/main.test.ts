import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { repositoryRoot, runWmco } from '../../test/kit/run-wmco.ts';
import { checks } from './check/all.ts';
import { main } from './main.ts';
import { renders } from './render/all.ts';

const all = [
  ...renders.map(command => ({ group: 'render', command })),
  ...checks.map(command => ({ group: 'check', command })),
];

/** The arguments of an example in help, with absolute paths. */
function wordsOf(example: string): string[] {
  return example
    .split(' ')
    .slice(1)
    .map(word => word.replace(/^examples/, `${repositoryRoot}/examples`));
}

for (const { group, command } of all) {
  test(`wmco ${group} ${command.name} --help prints its input, an example and the exit codes`, async () => {
    const { code, out } = await runWmco([group, command.name, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`Example:\n  ${command.example}`);
    expect(out).toContain('Exit code: 0 success, 1 problems found, 2 usage error.');
    if (command.reads !== '') expect(out).toContain('Reads: ');
  });

  test(`the example of wmco ${group} ${command.name} works`, async () => {
    expect(command.example.startsWith(`wmco ${group} ${command.name}`)).toBe(true);
    const { code, out } = await runWmco(wordsOf(command.example));
    expect(code).toBeLessThan(2);
    expect(out.length).toBeGreaterThan(50);
  });

  test(`wmco ${group} ${command.name} prints valid JSON`, async () => {
    const words = wordsOf(command.example).filter((word, index, list) => word !== '-o' && list[index - 1] !== '-o');
    const { out } = await runWmco([...words, '-o', 'json']);
    expect(() => JSON.parse(out) as unknown).not.toThrow();
  });
}

for (const word of ['version', '--version']) {
  test(`${word} prints the format that scripts search for`, async () => {
    const { code, out } = await runWmco([word]);
    expect(code).toBe(0);
    expect(/version: "([^"]*)"/.exec(out)?.[1]).toBe('11.0.0-abc1234');
  });
}

test.each(['json', 'yaml'])('version -o %s prints data', async form => {
  const { code, out } = await runWmco(['version', '-o', form]);
  expect([code, parse(out)]).toEqual([0, { version: '11.0.0-abc1234', nodeVersion: 'v26.10.0 linux/x64' }]);
});

const helps: [words: string[], usage: string][] = [
  [['help'], 'wmco <command> [flags]'],
  [['help', 'help'], 'wmco <command> [flags]'],
  [['--help', 'status'], 'wmco <command> [flags]'],
  [['help', 'render'], 'wmco render <command> [flags]'],
  [['render', 'help'], 'wmco render <command> [flags]'],
  [['render', 'help', 'services'], 'wmco render services [flags]'],
  [['help', 'render', 'services'], 'wmco render services [flags]'],
  [['render', 'services', '-h'], 'wmco render services [flags]'],
  [['help', 'version'], 'wmco version [flags]'],
  [['version', '--help'], 'wmco version [flags]'],
];
for (const [words, usage] of helps) {
  test(`wmco ${words.join(' ')} prints help`, async () => {
    const { code, out } = await runWmco(words);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: ${usage}\n`);
  });
}

const misspelled: [words: string[], meant: string][] = [
  [['chekc'], 'check'],
  [['render', 'servces'], 'services'],
  [['render', 'crd', '--outptu', 'json'], '--output'],
  [['render', 'crd', '-o', 'jsno'], 'json'],
  [['render', 'user-data', '--platform', 'vsphere'], 'VSphere'],
  [['-v'], '--version'],
];
for (const [words, meant] of misspelled) {
  test(`wmco ${words.join(' ')} suggests ${meant}`, async () => {
    const { code, err } = await runWmco(words);
    expect(code).toBe(2);
    expect(err).toContain(`  -> Did you mean \`${meant}\`? Run \``);
  });
}

const wrongUses: [string, string[], RegExp][] = [
  ['no command', [], /Usage: wmco/],
  ['an unknown command', ['frobnicate'], /unknown command "frobnicate"/],
  ['a group without a command', ['render'], /Usage: wmco render/],
  ['an unknown thing to render', ['render', 'pizza'], /unknown command "pizza"/],
  ['an unknown flag', ['render', 'crd', '--color'], /unknown flag "--color"/],
  ['no input', ['render', 'services'], /missing -f/],
  ['an unknown output form', ['render', 'crd', '-o', 'xml'], /--output is "xml", not text, json, yaml or dir=/],
  ['an output folder without a name', ['render', 'crd', '-o', 'dir='], /--output is "dir=", not text/],
  ['an output form of version', ['version', '-o', 'dir=x'], /--output is "dir=x", not text, json or yaml/],
  ['a word after version', ['version', 'x'], /unexpected argument "x"/],
  [
    'an unknown platform',
    ['render', 'user-data', '--platform', 'Foo'],
    /--platform is "Foo", not AWS, Azure, GCP, VSphere, Nutanix, None, /,
  ],
  ['a variable without a value', ['check', 'cluster', '-f', '-', '--env', 'HTTP_PROXY'], /--env: word 1/],
];
for (const [name, words, message] of wrongUses) {
  test(`${name} is a usage error: exit code 2 and a remedy`, async () => {
    const { code, out, err } = await runWmco(words);
    expect(code).toBe(2);
    expect(out + err).toMatch(message);
  });
}

test('help of a group lists its commands, one per line', async () => {
  const { code, out } = await runWmco(['check', '--help']);
  expect(code).toBe(0);
  for (const { name, summary } of checks) expect(out.replaceAll(/\s+/g, ' ')).toContain(`${name} ${summary}`);
});

test('a missing object is reported with the command that prints it', async () => {
  const { code, err } = await runWmco(
    ['check', 'instances', '-f', '-'],
    'apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n',
  );
  expect(code).toBe(1);
  expect(err).toContain('OBJECT_MISSING: ConfigMap windows-instances is not in the input');
  expect(err).toContain('oc get configmap windows-instances -o yaml');
});

test('input problems are printed first, even when the command fails', async () => {
  const { code, err } = await runWmco(['check', 'instances', '-f', '/nonexistent.yaml', '-f', '-'], 'a: [');
  expect(code).toBe(1);
  expect(err.match(/(?<=^error: )[A-Z_]+/gm)).toEqual(['INPUT_UNREADABLE', 'INPUT_MALFORMED', 'OBJECT_MISSING']);
});

test('output that cannot be written is a usage error', async () => {
  const { code, err } = await runWmco(['render', 'crd', '-o', 'dir=/dev/null']);
  expect(code).toBe(2);
  expect(err).toContain('OUTPUT_UNWRITABLE: /dev/null/windowsinstances.yaml: cannot be written');
});

const shell = promisify(execFile);
const program = `${process.execPath} ${join(repositoryRoot, 'src', 'bin', 'wmco.ts')}`;

const pipes: [string, string, string][] = [
  ['a reader that has seen enough', `${program} render crd | head -1`, 'apiVersion'],
  ['a reader that has seen enough of what was found', `${program} check csr -f examples/csr.yaml 2>&1 | head -1`, ''],
  ['a full disk', `${program} render crd > /dev/full; echo "exit $?"`, 'exit 2'],
];
for (const [name, command, out] of pipes) {
  test(`${name} gets no stack trace`, async () => {
    const { stdout, stderr } = await shell('sh', ['-c', command], { cwd: repositoryRoot });
    expect(stdout).toContain(out);
    expect(stdout + stderr).not.toMatch(/^\s+at /m);
    if (stderr !== '') expect(stderr).toMatch(/^error: OUTPUT_UNWRITABLE: standard output: cannot be written \(ENOSPC/);
  });
}

test('a passed program gets all its arguments, help included, and sets the exit code', async () => {
  const received: (readonly string[])[] = [];
  const run = (words: readonly string[]) => {
    received.push(words);
    return Promise.resolve(words.length === 1 ? (1 as const) : (0 as const));
  };
  const quiet = { out: () => undefined, err: () => undefined, stdin: async () => '', version: () => '', runtime: '' };
  const ask = (...words: string[]) => main(['run-it', ...words], quiet, [{ name: 'run-it', summary: 'runs it', run }]);
  expect(await ask('--help')).toBe(1);
  expect(await ask('--flag=value', '--other', 'value', '-x')).toBe(0);
  expect(await ask()).toBe(0);
  expect(received).toEqual([['--help'], ['--flag=value', '--other', 'value', '-x'], []]);
});

test('--help lists a passed program', async () => {
  let shown = '';
  const terminal = {
    out: (text: string) => void (shown += text),
    err: () => undefined,
    stdin: async () => '',
    version: () => '',
    runtime: '',
  };
  const code = await main(['--help'], terminal, [
    { name: 'run-it', summary: 'runs it', run: () => Promise.resolve(0) },
  ]);
  expect(code).toBe(0);
  expect(shown).toMatch(/run-it.*runs it/);
});
