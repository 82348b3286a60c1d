import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pageCommands, testsOf, textOf, unique, wayOf } from '../kit/page-commands.ts';
import { startOnTerminal } from '../kit/wmco-process.ts';

/** Runs the commands of pages on the sandbox that README.md shows, as a user does who follows the pages. */
const commands = unique(
  pageCommands().filter(each => each.isFenced && testsOf(wayOf(each)).includes('test/scenarios/page-commands.test.ts')),
);
const inReadme = 'wmco sandbox --hosts 3 --faults wrong-key@win-2';
const terminal = { columns: 120, rows: 40 };

interface End {
  printed: RegExp;
  code: number;
  /** What is typed, and when. */
  typed?: [after: RegExp, text: string];
  /** Repeated until it ends so: a host that is being retried is neither Ready nor Failed. */
  isRepeated?: boolean;
}

/** How a command ends, in the order in which they run: a host is removed last. */
const ends: Readonly<Record<string, End>> = {
  'status -w': { printed: /win-1/, code: 1, typed: [/win-3/, '\u0003'], isRepeated: true },
  'status win-2': { printed: /HOST_REFUSED_KEY/, code: 1, isRepeated: true },
  status: { printed: /win-2.*Failed/, code: 1, isRepeated: true },
  rollout: { printed: /\S/, code: 0 },
  reboot: { printed: /was rebooted; Node win-1 is Ready/, code: 0 },
  remove: { printed: /removed/, code: 0, typed: [/to remove it: /, 'win-2\r'] },
};
const order = Object.keys(ends);
const nameOf = (words: readonly string[]) => [words.join(' '), words[0] ?? ''].find(name => order.includes(name)) ?? '';

let folder: string;
let sandbox: ReturnType<typeof startOnTerminal>;
let kubeconfig: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-pages-'));
  const shown = pageCommands().find(each => each.isFenced && textOf(each) === inReadme);
  const faster = ['--machines', '0', '--speed', '20'];
  sandbox = startOnTerminal([...(shown?.words ?? []), ...faster], { ...terminal, environment: { TMPDIR: folder } });
  await sandbox.until(/2 of 3 hosts Ready/);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  kubeconfig = join(folder, files.find(name => name.endsWith('kubeconfig')) ?? '');
}, 120_000);
afterAll(async () => {
  sandbox.type('\u0003');
  await sandbox.ended();
  const left = readdirSync(folder);
  rmSync(folder, { recursive: true });
  expect(left).toEqual([]);
}, 120_000);

test('the pages show a command of each kind, and no other', () => {
  expect(order.filter(name => !commands.some(({ words }) => nameOf(words) === name))).toEqual([]);
  expect(commands.filter(({ words }) => nameOf(words) === '').map(textOf)).toEqual([]);
});

for (const command of commands.toSorted((a, b) => order.indexOf(nameOf(a.words)) - order.indexOf(nameOf(b.words)))) {
  test(`${command.place}: "${textOf(command)}" works`, async () => {
    const { printed, code, isRepeated } = ends[nameOf(command.words)] ?? { printed: /\S/, code: 0 };
    const wanted = [code, expect.stringMatching(printed)];
    if (isRepeated === true) await expect.poll(() => run(command.words)).toEqual(wanted);
    else expect(await run(command.words)).toEqual(wanted);
  });
}

async function run(words: readonly string[]): Promise<[code: number | string, out: string]> {
  await using wmco = startOnTerminal(words, { ...terminal, environment: { KUBECONFIG: kubeconfig } });
  const { typed } = ends[nameOf(words)] ?? {};
  if (typed !== undefined) {
    await wmco.until(typed[0]);
    wmco.type(typed[1]);
  }
  return [await wmco.ended(), wmco.out()];
}
