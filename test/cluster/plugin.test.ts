import { execFile, execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBuild } from '../../tools/release/build.ts';
import { buildProgram } from '../../tools/release/program.ts';
import { findKubectls, type KubectlServer, startKubectlServer } from '../kit/kubectl.ts';

/** What `make build` makes, in a folder of its own: no sources, no packages, no Node.js beside it. */
let folder = '';
let server: KubectlServer;
const build = readBuild({ version: '11.0.0-plugin' });

beforeAll(async () => {
  server = await startKubectlServer();
  folder = await mkdtemp(join(tmpdir(), 'wmco-plugin-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'bin'));
  const { path } = await buildProgram({ build });
  await copyFile(path, join(folder, 'bin', 'wmco'));
  for (const name of ['kubectl-wmco', 'oc-wmco', 'kubectl_complete-wmco', 'oc_complete-wmco'])
    await symlink('wmco', join(folder, 'bin', name));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

interface Run {
  code: number;
  out: string;
  err: string;
}

/** Without any variable but those given, as a user without a name, on a read-only disk, in the folder `/`. */
function confined(words: readonly string[], environment: Record<string, string> = {}): Promise<Run> {
  const script = 'mount -o remount,bind,ro / && cd / && exec setpriv --reuid 123456 --regid 0 --clear-groups "$@"';
  return start('unshare', ['--mount', 'sh', '-c', script, 'sh', ...words], environment);
}

function start(program: string, words: readonly string[], environment: Record<string, string>): Promise<Run> {
  const env = { PATH: '/usr/bin:/bin', ...environment };
  return new Promise(resolve => {
    const child = execFile(program, words, { env, cwd: '/', timeout: 60_000 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : (child.exitCode ?? -1), out, err });
    });
  });
}

const wmco = () => join(folder, 'bin', 'wmco');

test('the executable knows its version and its build', async () => {
  const { code, out } = await confined([wmco(), '--version']);
  expect([code, out]).toEqual([0, expect.stringMatching(/^wmco version: "11\.0\.0-plugin", node version: "v\d/)]);
  expect(out).toContain(`commit: "${build.commit}", built: "${build.date}"`);
});

test('every command of the executable prints its help', async () => {
  const { out } = await confined([wmco(), '--help']);
  const names = [...out.matchAll(/^ {2}([a-z-]+) {2}/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(9);
  const helps = await Promise.all(names.map(name => confined([wmco(), name, '--help'])));
  expect(helps.map(({ code, err }, index) => [names[index], code, err])).toEqual(names.map(name => [name, 0, '']));
  for (const [index, name] of names.entries()) expect(helps[index]?.out).toContain(`Usage: wmco ${name}`);
});

test('the executable renders and checks without any file of its own', async () => {
  expect((await confined([wmco(), 'render', 'crd'])).out).toContain('kind: CustomResourceDefinition');
  expect(await confined([wmco(), 'check', 'cluster', '-f', '/nonexistent.yaml'])).toEqual({
    code: 1,
    out: expect.any(String),
    err: expect.stringContaining('/nonexistent.yaml'),
  });
});

test('options of Node.js are not options of the executable', async () => {
  const environment = { NODE_OPTIONS: '--inspect-brk', NODE_PATH: '/nonexistent' };
  expect((await confined([wmco(), 'version'], environment)).out).toContain('11.0.0-plugin');
});

test('oc starts its own link, and hints name the command that was typed', async () => {
  const oc = join(folder, 'bin', 'oc-wmco');
  expect((await confined([oc, 'status', '--help'])).out).toContain('Usage: oc wmco status');
  expect((await confined([oc, 'bogus'])).err).toContain('Run `oc wmco --help` for usage.');
});

const completions: [words: string[], want: string[]][] = [
  [['sta'], ['status\tshow the Windows hosts of a cluster; see `oc wmco status --help`', ':4']],
  [
    ['render', 'crd', '-o', 'j'],
    ['json', ':4'],
  ],
  [['check', 'cluster', '-f', ''], [':0']],
  [['status', ''], [':4']],
];
for (const [words, want] of completions) {
  test(`oc completes ${JSON.stringify(words)}`, async () => {
    const { code, out, err } = await confined([join(folder, 'bin', 'oc_complete-wmco'), ...words]);
    const plain = want.map(line => line.replaceAll('oc wmco', 'wmco'));
    expect([code, out.split('\n').slice(0, -1), err]).toEqual([0, plain, '']);
  });
}

for (const binary of findKubectls()) {
  const environment = () => ({
    PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
    HOME: server.folder,
    KUBECONFIG: server.kubeconfig,
  });
  const kubectl = (...words: string[]) => start(binary, words, environment());

  test(`${binary} finds the plugin`, async () => {
    const { out, err } = await kubectl('plugin', 'list');
    expect(out).toContain('kubectl-wmco');
    expect(`${out}${err}`).not.toMatch(/kubectl-wmco.*(overshadowed|not executable)/);
  });

  test(`${binary} runs the plugin with its words, exit codes and kubeconfig`, async () => {
    expect((await kubectl('wmco', 'version')).out).toContain('"11.0.0-plugin"');
    expect((await kubectl('wmco', '--help')).out).toContain('Usage: kubectl wmco <command>');
    const bogus = await kubectl('wmco', 'status', '--bogus');
    expect([bogus.code, bogus.err]).toEqual([2, expect.stringContaining('Run `kubectl wmco status --help`')]);
    expect((await kubectl('wmco', 'status')).err).toContain('`kubectl wmco render crd | kubectl apply -f -`');
  });

  const minor = Number(
    /GitVersion:"v1\.(\d+)|Client Version: v1\.(\d+)/.exec(versionOf(binary))?.slice(1).find(Boolean),
  );
  // Older ones do not ask plugins for candidates.
  if (minor < 26) continue;
  test(`${binary} completes the words of the plugin`, async () => {
    const { out } = await kubectl('__complete', 'wmco', 'rollout', 're');
    expect(out.split('\n').map(line => line.replace(/\t.*/, ''))).toEqual(['resume', 'retry', ':4', '']);
  });
}

function versionOf(binary: string): string {
  return execFileSync(binary, ['version', '--client'], { encoding: 'utf8' });
}
