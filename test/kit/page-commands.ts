import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DocCommand, docCommands } from './doc-commands.ts';
import { repositoryRoot as root } from './run-wmco.ts';

/** Comments and descriptions in YAML files name commands in backquotes, as pages do. */
const pagesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(md|yaml)$/.test(name))
    .map(name => join(folder, name));

export const pages = () => [
  'README.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  ...['docs', 'examples', 'deploy', 'image'].flatMap(pagesIn),
];

/** All commands that pages show. */
export function pageCommands(): DocCommand[] {
  return pages().flatMap(page => docCommands(page, readFileSync(join(root, page), 'utf8')));
}

const onSandbox = 'run by: test/scenarios/page-commands.test.ts';

/**
 * What runs a command of a fence, unless a comment before the fence says otherwise. `here` is
 * test/unit/document-commands.test.ts, where the flags of all commands are checked.
 */
export const ways: Readonly<Record<string, string>> = {
  check: 'here',
  render: 'here',
  version: 'here',
  completion: 'here',
  runtimeclass: 'here',
  // On files; what needs a cluster has a mark.
  machineset: 'here',
  'prepare-host': 'here',
  sandbox: 'run by: test/scenarios/sandbox-command.test.ts',
  status: onSandbox,
  remove: onSandbox,
  rollout: onSandbox,
  reboot: onSandbox,
};

/** Undefined for a command that nothing runs, and for an invalid mark. */
export function wayOf({ words, mark }: DocCommand): string | undefined {
  if (mark === undefined) return ways[words[0] ?? ''];
  return /^(needs: cloud|run by: \S+( and \S+)*|here)$/.test(mark) ? mark : undefined;
}

/** Tests that a mark names, such as `run by: A` or `run by: A and B`. */
export const testsOf = (way = '') => /^run by: (.+)$/.exec(way)?.[1]?.split(' and ') ?? [];
export const textOf = ({ words }: DocCommand) => ['wmco', ...words].join(' ');
export const unique = (list: readonly DocCommand[]) => [...new Map(list.map(each => [textOf(each), each])).values()];

/** Files of a test: its own, and those beside tests that it imports, with what these import. */
function filesOfTest(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path) || !existsSync(join(root, path))) return found;
  found.add(path);
  const text = readFileSync(join(root, path), 'utf8');
  for (const [, from = ''] of text.matchAll(/from '(\.[^']+)'/g)) {
    const target = join(dirname(path), from);
    if (target.startsWith('test/')) filesOfTest(target, found);
  }
  return found;
}

/** What starts the program, or one of its commands, in a test. */
const starts = /\b(startWmco|startOnTerminal|runWmco|\w+Program)\(/;

/**
 * What keeps tests from running a command: one starts no program, or none mentions a subcommand or a flag. A test that
 * reads the fences of pages runs what it finds there.
 */
export function whyNotRunBy(tests: readonly string[], words: readonly string[]): string[] {
  const own = tests.map(path => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : ''));
  if (own.some(text => /\b(pageCommands|partsOf)\(/.test(text))) return [];
  const missing = wordsToMention(words).filter(word => !own.some(text => mentions(text, word)));
  return [
    ...tests.flatMap((path, index) => (own[index] === '' ? [`${path} does not exist`] : startProblems(path))),
    ...missing.map(word => `${tests.join(' and ')} has no ${word}`),
  ];
}

function startProblems(test: string): string[] {
  const text = [...filesOfTest(test)].map(path => readFileSync(join(root, path), 'utf8')).join('\n');
  return starts.test(text) ? [] : [`${test} starts no program`];
}

/** Subcommands and flags: `payload pack FILES --key K -o D` has `pack`, `--key` and `-o`, `status HOST` has `status`. */
export function wordsToMention(words: readonly string[]): string[] {
  const end = words.findIndex(word => !/^[a-z][a-z-]*$/.test(word));
  const path = words.slice(0, end === -1 ? words.length : end).slice(0, 2);
  const flags = words.filter(word => /^--?[a-z]/.test(word)).map(word => word.replace(/=.*/, ''));
  return [...path.slice(-1), ...flags];
}

/** As a literal, or in one with the whole command. */
function mentions(text: string, word: string): boolean {
  const before = word.startsWith('-') ? String.raw`['"\x60 ]` : String.raw`['"\x60]|wmco |wmco \w+ `;
  return new RegExp(`(?:${before})${RegExp.escape(word)}(?=['"\`= ])`).test(text);
}
