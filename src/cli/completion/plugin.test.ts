import { expect, test } from 'vitest';
import { recordedTerminal } from '../../../test/kit/status-views.ts';
import type { Program } from '../program.ts';
import { rolloutCommandLines } from '../rollout/options.ts';
import { sandboxLine } from '../sandbox/options.ts';
import { pluginCompletion } from './plugin.ts';

const run = () => Promise.resolve(0 as const);
const flag = { help: 'a flag' };
const programs: Program[] = [
  {
    name: 'render',
    summary: 'print files',
    programs: [
      {
        name: 'crd',
        summary: 'print the CRD',
        line: () => ({
          name: 'wmco render crd',
          summary: 'prints',
          flags: {
            filename: { ...flag, value: 'file...', short: 'f', isList: true },
            output: { ...flag, value: 'format', short: 'o', values: ['text', 'json', 'dir='] },
            cache: { ...flag, value: 'folder' },
            name: { ...flag, value: 'name' },
          },
        }),
        run,
      },
    ],
    run,
  },
  {
    name: 'rollout',
    summary: 'roll-out',
    programs: [{ name: 'pin', summary: 'pins', line: () => rolloutCommandLines.pin, run }],
    run,
  },
  { name: 'sandbox', summary: 'a cluster', line: () => sandboxLine, run },
  { name: 'version', summary: 'print the version', run },
  { name: '__complete', summary: 'hidden', isHidden: true, run },
];

async function complete(...words: string[]): Promise<string[]> {
  const terminal = recordedTerminal();
  const faults = () => Promise.resolve(['slow-disk', 'no-ssh']);
  expect(await pluginCompletion(words, programs, terminal, faults)).toBe(0);
  expect(terminal.errors()).toBe('');
  return terminal
    .text()
    .trimEnd()
    .split('\n')
    .map(line => line.replace(/\t.*/, ''));
}

/** `:0` completes files, `:4` nothing else, `:6` without a blank after it, `:16` folders. */
const cases: [words: string[], want: string[]][] = [
  [[''], ['render', 'rollout', 'sandbox', 'version', 'help', ':4']],
  [[], ['render', 'rollout', 'sandbox', 'version', 'help', ':4']],
  [['r'], ['render', 'rollout', ':4']],
  [['__'], [':4']],
  [['-'], ['-h', '--help', '--version', ':4']],
  [
    ['render', ''],
    ['crd', 'help', ':4'],
  ],
  [
    ['help', 'ren'],
    ['render', ':4'],
  ],
  [
    ['help', 'render', ''],
    ['crd', 'help', ':4'],
  ],
  [['render', 'crd', ''], [':4']],
  [
    ['render', 'crd', '--f'],
    ['--filename', ':4'],
  ],
  [
    ['render', 'crd', '-o', ''],
    ['text', 'json', 'dir=', ':4'],
  ],
  [
    ['render', 'crd', '-o', 'd'],
    ['dir=', ':6'],
  ],
  [
    ['render', 'crd', '--output=j'],
    ['json', ':4'],
  ],
  [['render', 'crd', '--bogus=j'], [':4']],
  [['render', 'crd', '-o', 'json', ''], [':4']],
  [['render', 'crd', '-f', ''], [':0']],
  [['render', 'crd', '-f', 'a', 'b'], [':0']],
  [['render', 'crd', '--filename='], [':0']],
  [['render', 'crd', '--cache', ''], [':16']],
  [['render', 'crd', '--name', ''], [':4']],
  [['render', 'crd', '--name', 'crd', '--cache', ''], [':16']],
  [
    ['sandbox', '--faults', 'slow'],
    ['slow-disk@', ':6'],
  ],
  [
    ['sandbox', '--faults', 'no-ssh@winw'],
    ['no-ssh@winworker-1', 'no-ssh@winworker-2', ':4'],
  ],
  [['rollout', 'pin', '--kubeconfig', '/nonexistent', 'w'], [':4']],
  [
    ['toString', ''],
    ['render', 'rollout', 'sandbox', 'version', 'help', ':4'],
  ],
];
for (const [words, want] of cases) {
  test(`completes ${JSON.stringify(words)}`, async () => expect(await complete(...words)).toEqual(want));
}

test('commands have their description after a tab', async () => {
  const terminal = recordedTerminal();
  await pluginCompletion(['sand'], programs, terminal, () => Promise.resolve([]));
  expect(terminal.text()).toBe('sandbox\ta cluster\n:4\n');
});
