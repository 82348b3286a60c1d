import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandLine } from '#base/command-line.ts';
import { operatorLine } from '../../operator/flags.ts';
import { repositoryRoot, runWmco } from '../../../test/kit/run-wmco.ts';
import { checks } from '../check/all.ts';
import type { Command } from '../command.ts';
import { payloadCommandLines } from '../payload/options.ts';
import { rebootLine } from '../reboot/options.ts';
import { renders } from '../render/all.ts';
import { rolloutCommandLines } from '../rollout/options.ts';
import { sandboxLine } from '../sandbox/options.ts';
import { statusLine } from '../status/options.ts';
import { versionCommandLine } from '../version-command.ts';

const program = join(repositoryRoot, 'src', 'bin', 'wmco.ts');
const scriptOf = (shell: string) =>
  execFileSync(process.execPath, [program, 'completion', shell], { encoding: 'utf8', cwd: repositoryRoot });
const scripts = { bash: scriptOf('bash'), zsh: scriptOf('zsh'), fish: scriptOf('fish') };

const lines: [path: string, line: CommandLine][] = [
  ['operator', operatorLine],
  ['status', statusLine],
  ['reboot', rebootLine],
  ...Object.entries<CommandLine>(rolloutCommandLines).map(([name, line]): [string, CommandLine] => [
    `rollout ${name}`,
    line,
  ]),
  ...Object.entries<CommandLine>(payloadCommandLines).map(([name, line]): [string, CommandLine] => [
    `payload ${name}`,
    line,
  ]),
  ['sandbox', sandboxLine],
  ['version', versionCommandLine],
];
const flagName = (option: string) => option.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
const offline = (group: string, commands: readonly Command[]) =>
  commands.map(({ name, options, reads }): [string, string[]] => [
    `${group} ${name}`,
    [...(reads === '' ? [] : ['filename']), 'output', ...options.map(flagName)],
  ]);

/** Every command with its flags, from the data of the commands. */
const expected: [path: string, flags: string[]][] = [
  ...lines.map(([path, { flags }]): [string, string[]] => [path, Object.keys(flags)]),
  ...offline('render', renders),
  ...offline('check', checks),
  ...['bash', 'zsh', 'fish'].map((shell): [string, string[]] => [`completion ${shell}`, []]),
];

/** The words that a script offers for a command. */
const offers = {
  bash: (path: string) => caseOf(scripts.bash, '_wmco_flags', path).match(/--[\w-]+/g) ?? [],
  zsh: (path: string) => caseOf(scripts.zsh, '_wmco_flags', path).match(/(?<=')--[\w-]+(?=:)/g) ?? [],
  fish: (path: string) =>
    scripts.fish
      .split('\n')
      .filter(line => line.includes(`__wmco_at "${path}"`))
      .flatMap(line => line.match(/(?<= -l )[\w-]+/g) ?? [])
      .map(name => `--${name}`),
};

function caseOf(script: string, name: string, path: string): string {
  const body = script.slice(script.indexOf(`${name}() {`));
  const start = body.indexOf(`\n    '${path}') `);
  return start === -1 ? '' : body.slice(start, body.indexOf('\n', start + 1));
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  describe(shell, () => {
    for (const [path, flags] of expected) {
      test(`offers every flag of wmco ${path}, and no other`, () =>
        expect(offers[shell](path).toSorted()).toEqual([...flags, 'help'].map(flag => `--${flag}`).toSorted()));
    }

    test('offers every command', () => {
      const quoted = (path: string) => (shell === 'fish' && !path.includes(' ') ? `' ${path}'` : `'${path}'`);
      for (const [path] of expected) expect(scripts[shell]).toContain(quoted(path));
    });

    test('has no other command', () => expect(scripts[shell]).not.toMatch(/__complete(?! (hosts|faults))/));

    test('is printed with exit code 0, and its help says how to load it', async () => {
      expect((await runWmco(['completion', shell])).code).toBe(0);
      expect((await runWmco(['completion', shell, '--help'])).out).toContain('Load it in this shell');
    });
  });
}

test('an unknown shell is a usage error', async () => {
  const { code, err } = await runWmco(['completion', 'tcsh']);
  expect([code, err]).toEqual([2, expect.stringContaining('unknown command "tcsh"')]);
});

/** bash reads zsh scripts of this form, too: zsh and fish are not on every machine. */
for (const shell of ['bash', 'zsh'] as const) {
  test(`bash reads the syntax of the script for ${shell}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'wmco-script-'));
    const path = join(folder, 'script');
    writeFileSync(path, scripts[shell]);
    const { status, stderr } = spawnSync('bash', ['-n', path], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([status, stderr]).toEqual([0, '']);
  });
}

test('blocks and quotes of the fish script are closed', () => {
  const words = scripts.fish.split('\n').map(line => line.trim().split(' ')[0]);
  const opened = words.filter(word => ['function', 'for', 'switch', 'if', 'while', 'begin'].includes(word ?? ''));
  expect(words.filter(word => word === 'end')).toHaveLength(opened.length);
  for (const line of scripts.fish.split('\n').filter(each => each.startsWith('complete ')))
    expect(line).toMatch(/^(?:[^'\\]|'(?:[^'\\]|\\[\\'])*')*$/);
});
