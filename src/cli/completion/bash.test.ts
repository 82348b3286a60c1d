import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repositoryRoot } from '../../../test/kit/run-wmco.ts';

const program = join(repositoryRoot, 'src', 'bin', 'wmco.ts');
let folder = '';
let script = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-completion-'));
  mkdirSync(join(folder, 'objects'));
  writeFileSync(join(folder, 'one file.yaml'), '');
  writeFileSync(join(folder, 'other.yaml'), '');
  script = execFileSync(process.execPath, [program, 'completion', 'bash'], { encoding: 'utf8', cwd: repositoryRoot });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers at the end of the line; `wmco` is a function that prints the lines given for `__complete`. */
function complete(line: string, hosts = 'false'): string[] {
  const body = `${script}
wmco() { ${hosts}; }
COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'
_wmco
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', body, 'bash', line], { encoding: 'utf8', cwd: folder });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(word => word !== '');
}

const all = [
  'render',
  'check',
  'operator',
  'install',
  'uninstall',
  'status',
  'rollout',
  'machineset',
  'runtimeclass',
  'prepare-host',
  'reboot',
  'remove',
  'payload',
  'sandbox',
  'completion',
  'version',
  'help',
];
const cases: [line: string, want: string[]][] = [
  ['wmco ', all],
  ['wmco sta', ['status']],
  ['wmco nothing', []],
  ['wmco __', []],
  ['wmco -', ['-h', '--help', '--version']],
  ['wmco render ', ['services', 'files', 'registries', 'user-data', 'kubelet-config', 'crd', 'help']],
  ['wmco help re', ['render', 'reboot', 'remove']],
  ['wmco rollout re', ['resume', 'retry']],
  ['wmco rollout pin --v', ['--version']],
  ['wmco reboot --no', ['--no-wait']],
  ['wmco remove --fo', ['--force', '--forget']],
  ['wmco help render us', ['user-data']],
  ['wmco render crd ', []],
  ['wmco render crd --', ['--output', '--help']],
  ['wmco render crd -o ', ['text', 'json', 'yaml', 'dir=']],
  ['wmco render crd -o j', ['json']],
  ['wmco render crd --output=y', ['yaml']],
  ['wmco render crd -o dir=o', ['objects']],
  ['wmco render crd --output=dir=o', ['objects']],
  ['wmco status -o ', ['text', 'wide', 'json', 'yaml', 'name']],
  ['wmco status --w', ['--watch']],
  ['wmco status --context ', []],
  ['wmco status --kubeconfig ot', ['other.yaml']],
  ['wmco status --kubeconfig=one', ['one file.yaml']],
  ['wmco check csr -f o', ['one file.yaml', 'other.yaml', 'objects']],
  ['wmco check csr -f other.yaml ob', ['objects']],
  ['wmco check csr -f other.yaml --na', ['--namespace']],
  ['wmco render user-data --platform V', ['VSphere']],
  ['wmco operator --payload-dir o', ['objects']],
  ['wmco sandbox --hosts 3 --exit', ['--exit-when-ready']],
  ['wmco completion ', ['bash', 'zsh', 'fish', 'help']],
];
for (const [line, want] of cases) {
  test(`bash completes ${JSON.stringify(line)}`, () => expect(complete(line).toSorted()).toEqual(want.toSorted()));
}

const dynamic: [line: string, printed: string, call: string, want: string[]][] = [
  ['wmco status ', 'win-1 win-2', '__complete hosts', ['win-1', 'win-2']],
  ['wmco status win-2', 'win-1 win-2', '__complete hosts', ['win-2']],
  ['wmco status -w ', 'win-1', '__complete hosts -w', ['win-1']],
  ['wmco status -n ns --kubeconfig=f w', 'win-1', '__complete hosts -n ns --kubeconfig=f', ['win-1']],
  ['wmco status fd00::', 'fd00::1 fd00::2', '__complete hosts', ['1', '2']],
  ['wmco rollout pin --version=v1 ', 'win-1', '__complete hosts pin --version=v1', ['win-1']],
  ['wmco reboot w', 'win-1', '__complete hosts', ['win-1']],
  ['wmco sandbox --faults ', 'slow-disk@ no-ssh@', '__complete faults ', ['slow-disk@', 'no-ssh@']],
  ['wmco sandbox --faults slow-disk@w', 'slow-disk@win-1', '__complete faults slow-disk@w', ['win-1']],
  ['wmco sandbox --faults=slow', 'slow-disk@', '__complete faults slow', ['slow-disk@']],
  ['wmco sandbox --faults a@b,s', 'a@b,slow-disk@', '__complete faults a@b,s', ['b,slow-disk@']],
];
for (const [line, printed, call, want] of dynamic) {
  test(`bash completes ${JSON.stringify(line)} by wmco ${call}`, () => {
    const hosts = `[[ "$*" == '${call}' ]] && printf '%s\\n' ${printed}`;
    expect(complete(line, hosts)).toEqual(want);
  });
}

test('bash runs no part of a candidate, and shows no errors of wmco', () => {
  const hostile = ['$(touch ran)', '`touch ran`', '; touch ran', '*', '${HOME}'];
  const hosts = `echo problem >&2; printf '%s\\n' ${hostile.map(each => `'${each}'`).join(' ')}`;
  expect(complete('wmco status ', hosts)).toEqual(hostile);
  expect(spawnSync('ls', [folder], { encoding: 'utf8' }).stdout).not.toContain('ran');
});
