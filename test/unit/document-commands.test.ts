import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DocCommand, docCommands, partsOf } from '../kit/doc-commands.ts';
import { pageCommands, pages, testsOf, textOf, unique, wayOf, whyNotRunBy } from '../kit/page-commands.ts';
import { repositoryRoot as root } from '../kit/run-wmco.ts';
import { shellCommands } from '../kit/shell-commands.ts';
import { startWmco } from '../kit/wmco-process.ts';

const commands = pageCommands();

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
    '<!-- needs: cloud -->',
    '```',
    './wmco install --apply   # exit code 1',
    '```',
    '```',
    '$ oc wmco rollout',
    '  wmco status win-3',
    '```',
  ].join('\n');
  expect(docCommands('p', page).map(each => [textOf(each), each.isFenced, each.mark, each.exitCode])).toEqual([
    ['wmco install --apply', true, 'needs: cloud', 1],
    ['wmco rollout', true, undefined, 0],
    ['wmco status -o wide', false, undefined, 0],
  ]);
});

test('pages show commands', () => expect(commands.length).toBeGreaterThan(60));

/** Commands without a subcommand, or with a hidden one, print help or candidates only. */
const isRunnable = ({ words }: DocCommand) => /^[a-z]/.test(words[0] ?? '') && words[0] !== 'help';

test('every command is run by this test, by another one, or needs a cloud', () => {
  expect(
    commands
      .filter(each => each.isFenced && isRunnable(each) && wayOf(each) === undefined)
      .map(each => `${each.place}: ${textOf(each)}`),
  ).toEqual([]);
});

test('every test that is said to run a command does so', () => {
  const problems = commands.flatMap(each => {
    const tests = each.isFenced ? testsOf(wayOf(each)) : [];
    return (tests.length === 0 ? [] : whyNotRunBy(tests, each.words)).map(
      why => `${each.place}: ${textOf(each)}: ${why}`,
    );
  });
  expect(problems).toEqual([]);
});

const payloadTest = 'src/cli/payload/program.test.ts';
const mentionCases: [test: string, command: string, problem: string[]][] = [
  [payloadTest, 'payload verify FOLDER --key KEY', []],
  [payloadTest, 'payload pack x --sign-key=k -o y', []],
  [payloadTest, 'payload eat FOLDER', [`${payloadTest} has no eat`]],
  [payloadTest, 'payload pack --keyring x', [`${payloadTest} has no --keyring`]],
  [
    'src/base/bytes.test.ts',
    'status',
    ['starts no program', 'has no status'].map(it => `src/base/bytes.test.ts ${it}`),
  ],
  ['test/none.test.ts', 'status', ['does not exist', 'has no status'].map(it => `test/none.test.ts ${it}`)],
  [`${payloadTest} and test/scenarios/sandbox-command.test.ts`, 'payload verify --hosts 3', []],
  ['test/scenarios/page-commands.test.ts', 'status win-1', []],
];
for (const [test_, command, problems] of mentionCases) {
  test(`what keeps ${test_} from running "${command}" is known`, () => {
    expect(whyNotRunBy(testsOf(`run by: ${test_}`), command.split(' '))).toEqual(problems);
  });
}

test('the files that pages apply exist', () => {
  const applied = pages().flatMap(page =>
    partsOf(readFileSync(join(root, page), 'utf8')).fences.flatMap(({ text }) =>
      shellCommands(text)
        .filter(({ words }) => /^(oc|kubectl)$/.test(words[0] ?? ''))
        .flatMap(({ words }) =>
          words.filter((word, index) => /^-[fk]$/.test(words[index - 1] ?? '') && /\//.test(word)),
        )
        .map(path => ({ page, path })),
    ),
  );
  expect(applied.length).toBeGreaterThan(5);
  expect(applied.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
});

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-docs-'));
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  // Pages also show files without their folder.
  cpSync(join(root, 'examples'), folder, { recursive: true });
  // The reader's own key.
  cpSync(join(root, 'examples', 'id_ed25519.pub'), join(folder, 'windows-key.pub'));
  // A dump of a cluster is in two files.
  cpSync(join(root, 'examples', 'mirrors.yaml'), join(folder, 'config.yaml'));
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
