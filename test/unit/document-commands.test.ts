import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DocCommand, docCommands } from '../kit/doc-commands.ts';
import { repositoryRoot as root } from '../kit/run-wmco.ts';
import { shellCommands } from '../kit/shell-commands.ts';
import { startWmco } from '../kit/wmco-process.ts';

/** Comments and descriptions in YAML files name commands in backquotes, as pages do. */
const pagesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(md|yaml)$/.test(name))
    .map(name => join(folder, name));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  ...['docs', 'examples', 'deploy', 'image'].flatMap(pagesIn),
];
const commands = pages.flatMap(page => docCommands(page, readFileSync(join(root, page), 'utf8')));

/**
 * What runs a command of a fence, unless a comment before the fence says otherwise: this test, another one, or only a
 * cluster. The flags of all of them are checked here.
 */
const ways: Readonly<Record<string, 'here' | 'needs: cluster' | `run by: ${string}`>> = {
  check: 'here',
  render: 'here',
  version: 'here',
  completion: 'here',
  runtimeclass: 'here',
  'prepare-host': 'here',
  payload: 'needs: cluster',
  sandbox: 'run by: test/scenarios/sandbox-command.test.ts',
  status: 'run by: test/scenarios/status.test.ts',
  remove: 'run by: test/scenarios/removal.test.ts',
  rollout: 'run by: test/scenarios/story-rollout.test.ts',
  reboot: 'run by: test/scenarios/reboot.test.ts',
  operator: 'run by: test/scenarios/operator.test.ts',
  install: 'needs: cluster',
  uninstall: 'needs: cluster',
  machineset: 'needs: cluster',
};

const wayOf = ({ words, mark }: DocCommand) => (isWay(mark) ? mark : ways[words[0] ?? '']);
const isWay = (mark: string | undefined) =>
  mark !== undefined && /^(needs: (cluster|cloud)|run by: \S+|here)$/.test(mark);
const textOf = ({ words }: DocCommand) => ['wmco', ...words].join(' ');
const unique = (list: readonly DocCommand[]) => [...new Map(list.map(each => [textOf(each), each])).values()];

const readerCases: [line: string, want: string[][]][] = [
  ['wmco a -f x # why', [['wmco', 'a', '-f', 'x']]],
  [`wmco a 'b c' "d \\"e\\"" f\\ g`, [['wmco', 'a', 'b c', 'd "e"', 'f g']]],
  ['wmco a \\\n  --b c', [['wmco', 'a', '--b', 'c']]],
  [
    'wmco a | kubectl apply -f - && wmco b; wmco c',
    [
      ['wmco', 'a'],
      ['kubectl', 'apply', '-f', '-'],
      ['wmco', 'b'],
      ['wmco', 'c'],
    ],
  ],
  ['source <(wmco completion bash)', [['source'], ['wmco', 'completion', 'bash']]],
  ['x="$(date)" wmco a > out.yaml 2>&1', [['x=$(date)', 'wmco', 'a']]],
  ['wmco a#b', [['wmco', 'a#b']]],
];

for (const [line, want] of readerCases) {
  test(`the reader of shell lines reads ${JSON.stringify(line)}`, () => {
    expect(shellCommands(line).map(({ words }) => words)).toEqual(want);
  });
}

test('commands are found in fences, in sessions and in sentences, with their marks', () => {
  const page = [
    'Run `wmco status -o wide` or `wmco render …`.',
    '<!-- needs: cluster -->',
    '```',
    './wmco install --apply   # exit code 1',
    '```',
    '```',
    '$ oc wmco rollout',
    '  wmco status win-3',
    '```',
  ].join('\n');
  expect(docCommands('p', page).map(each => [textOf(each), each.isFenced, each.mark, each.exitCode])).toEqual([
    ['wmco install --apply', true, 'needs: cluster', 1],
    ['wmco rollout', true, undefined, 0],
    ['wmco status -o wide', false, undefined, 0],
  ]);
});

test('pages show commands', () => expect(commands.length).toBeGreaterThan(60));

/** Commands without a subcommand, or with a hidden one, print help or candidates only. */
const isRunnable = ({ words }: DocCommand) => /^[a-z]/.test(words[0] ?? '') && words[0] !== 'help';

test('every command is run by this test, by another one, or needs a cluster', () => {
  expect(
    commands
      .filter(each => isRunnable(each) && wayOf(each) === undefined)
      .map(each => `${each.place}: ${textOf(each)}`),
  ).toEqual([]);
});

test('every test that is said to run a command exists', () => {
  const named = [...Object.values(ways), ...commands.map(({ mark }) => mark ?? '')]
    .filter(way => way.startsWith('run by: '))
    .map(way => way.slice('run by: '.length));
  expect(named.filter(path => !existsSync(join(root, path)))).toEqual([]);
});

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-docs-'));
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  // Pages also show files without their folder.
  cpSync(join(root, 'examples'), folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

const runHere = unique(commands.filter(each => each.isFenced && wayOf(each) === 'here'));

for (const command of runHere) {
  test(`${command.place}: "${textOf(command)}" works as documented`, async () => {
    await using wmco = startWmco(command.words, { folder });
    const code = await wmco.ended();
    expect([code, code === command.exitCode ? '' : wmco.err()]).toEqual([command.exitCode, '']);
    expect(wmco.out()).not.toBe('');
  });
}

const wasRun = new Set(runHere.map(textOf));
const others = commands.filter(
  each => each.words.length > 0 && each.words[0] !== '__complete' && !wasRun.has(textOf(each)),
);

/** With --help at the end, flags and their values are checked by the program itself, and nothing is done. */
for (const command of unique(others)) {
  test(`${command.place}: the program knows the flags of "${textOf(command)}"`, async () => {
    await using wmco = startWmco([...command.words, '--help'], { folder });
    expect([await wmco.ended(), wmco.err()]).toEqual([0, '']);
  });
}
