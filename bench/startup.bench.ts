import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { windowsInstanceCrd } from '../src/contract/windows-instance/crd.ts';
import { loadKubeconfig } from '../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../src/kube/http-client.ts';
import { type CustomResourceDefinition, customResourceDefinitions } from '../src/kube/resources.ts';
import { compileCache } from '../test/kit/run-wmco.ts';
import { startKubectlServer } from '../test/kit/kubectl.ts';
import { readBuild } from '../tools/release/build.ts';
import { buildProgram } from '../tools/release/program.ts';
import type { Report } from './run.ts';
import { wholeNumber } from './whole-number.ts';

export const description = 'first output of every command, of the executable and from source [ROUNDS]';

const root = join(import.meta.dirname, '..');
const targetMs = 300;

/** What commands do, beside their help; those of a cluster find one that answers at once. */
const work: readonly (readonly string[])[] = [
  ['version'],
  ['render', 'crd'],
  ['check', 'instances', '-f', join(root, 'examples')],
  ['completion', 'bash'],
  ['__complete', 'hosts'],
  ['status'],
  ['rollout'],
  ['reboot', 'win-1'],
  ['remove', 'win-1', '--yes'],
  ['sandbox', '--hosts', '1', '--machines', '0'],
  ['operator', '--namespace', 'ns', '--payload-dir', '/nonexistent'],
  ['install', '--dry-run'],
];

/** `npm run bench -- startup [ROUNDS]`: exit code 1 if the executable needs more than 300 ms for a command. */
export async function run(report: Report, [given = '7']: readonly string[]): Promise<void> {
  const rounds = wholeNumber(given, 'npm run bench -- startup 7');
  const { path, bytes } = await buildProgram({ build: readBuild() });
  await using server = await startKubectlServer();
  const client = createClient(loadKubeconfig(await readFile(server.kubeconfig, 'utf8')));
  await client.create(customResourceDefinitions, windowsInstanceCrd() as CustomResourceDefinition);
  await client.close();
  const environment = { ...compileCache, PATH: '/usr/bin:/bin', HOME: server.folder, KUBECONFIG: server.kubeconfig };
  const names = commandsBelow(path, []).map(([name = '']) => name);
  const source = [process.execPath, join(root, 'src', 'bin', 'wmco.ts')];
  report('size of the executable', bytes / 1e6, 'MB');
  let isMissed = false;
  const record = async (words: readonly string[], isWork: boolean) => {
    const programs = { empty: [process.execPath, '-e', '0'], executable: [path, ...words] };
    const times = await measure(
      isWork ? { ...programs, source: [...source, ...words] } : programs,
      rounds,
      environment,
    );
    const name = `wmco ${words.join(' ').replaceAll(`${root}/`, '')}`;
    const { empty = 0, executable = 0 } = times;
    report(name, executable, 'ms');
    report(`${name}: compared with node -e 0`, executable / empty, 'times');
    if (times['source'] !== undefined)
      report(`${name}: from source, compared with node -e 0`, times['source'] / empty, 'times');
    isMissed ||= executable > targetMs;
  };
  for (const words of commandsBelow(path, []))
    await record(words.length === 0 ? ['--help'] : [...words, '--help'], false);
  for (const words of work) if (words[0] === '__complete' || names.includes(words[0] ?? '')) await record(words, true);
  if (isMissed) process.exitCode = 1;
}

/** In turns, so that other work on the machine counts for all; the best of each. */
async function measure(
  programs: Readonly<Record<string, string[]>>,
  rounds: number,
  environment: Record<string, string>,
): Promise<Record<string, number>> {
  const times = Object.entries(programs).map(([name, words]) => ({ name, words, list: [] as number[] }));
  for (let round = 0; round < rounds; round++)
    for (const { words, list } of times) list.push(await firstOutputMs(words, environment));
  return Object.fromEntries(times.map(({ name, list }) => [name, Math.min(...list)]));
}

/** Until the first byte on either output, or the end of a program that prints nothing. */
async function firstOutputMs([program = '', ...words]: string[], environment: Record<string, string>): Promise<number> {
  const start = performance.now();
  const child = spawn(program, words, { env: environment, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  await Promise.race([firstByte(child), closed]);
  const ms = performance.now() - start;
  child.kill('SIGKILL');
  await closed;
  return ms;
}

function firstByte({ stdout, stderr }: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    for (const stream of [stdout, stderr]) stream?.on('data', () => resolve());
  });
}

/** Every command that can be run, by the help of the program. */
function commandsBelow(program: string, words: readonly string[]): string[][] {
  const help = execFileSync(program, [...words, '--help'], { encoding: 'utf8' });
  const [, list = ''] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name = '']) => name);
  return names.length === 0 ? [[...words]] : names.flatMap(name => commandsBelow(program, [...words, name]));
}
