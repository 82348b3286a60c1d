import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { agentCommands } from '../../src/contract/agent-command.ts';
import { nodeAnnotation } from '../../src/contract/names.ts';
import { agentProgram, dir } from '../../src/contract/paths.ts';
import { TestCa } from '../kit/certificates.ts';
import { AgentService } from '../kit/winhost/agent-service.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { seededRandom } from '../kit/winhost/interruption.ts';
import { namespace } from '../kit/winhost/rights.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import { addRoot } from '../kit/winhost/sight.ts';
import { difference, takeSnapshot } from '../kit/winhost/snapshot.ts';

/** A removed host is equal to a control host that never joined, but for what docs/removal.md lists. */

const seed = Number(process.env['KILLS_SEED'] ?? 4);
const proxy = { HTTP_PROXY: 'http://proxy.test:3128', NO_PROXY: '.svc,apiserver.test' };
const [clusterCa, adminCa] = [new TestCa('clusterCa').cert, new TestCa('adminCa').cert];
const sha256 = () =>
  createHash('sha256')
    .update(readFileSync(inject('agentProgram')))
    .digest('hex');

let scene: Scene;
let program: string;
let commands: ReturnType<typeof agentCommands>;
let control: WindowsHost;
let host: WindowsHost;

type VerbName = 'cleanup' | 'networks' | 'files';
const commandOf: Record<VerbName, () => string> = {
  cleanup: () => `${commands.cleanup(namespace)} -o json`,
  networks: () => commands.removeNetworks(),
  files: () => commands.removeFiles(),
};

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  program = agentProgram(sha256());
  commands = agentCommands(program);
  await scene.operator.publish({ proxy, trustedCa: `${clusterCa}\n${adminCa}` });
  [control, host] = await Promise.all([scene.lab.createHost(), scene.lab.createHost()]);
  await Promise.all([control, host].map(furnish));
  await join(host);
  for (const each of [control, host]) await addUserFiles(each, ['C:\\k\\own.txt', 'C:\\k\\cni\\config\\own.conf']);
});
afterAll(() => scene?.[Symbol.asyncDispose]());

/** Settings, a service and folders of an administrator, before the join. */
async function furnish(where: WindowsHost): Promise<void> {
  await addRoot(where, adminCa);
  const key = 'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
  await where.run(`reg add "${key}" /v NO_PROXY /d of-the-administrator /f`);
  await where.run(`sc.exe create backup binPath= "C:\\lab\\programs\\service.exe"`);
  await where.run('mkdir C:\\Temp\\empty');
  await addUserFiles(where, ['C:\\Temp\\own.txt', 'C:\\Temp\\hns.psm1', 'C:\\var\\log\\own.log']);
}

async function addUserFiles(where: WindowsHost, paths: readonly string[]): Promise<void> {
  for (const path of paths) await where.drive.write(path, `${path} of a user`);
}

async function join(where: WindowsHost): Promise<void> {
  const { operator } = scene;
  await where.drive.copyIn(inject('agentProgram'), program);
  await where.run(commands.secure(), { timeoutMs: 120_000 });
  const joined = operator.join(where);
  joined.catch(() => undefined);
  const name = await operator.findNode(where);
  const waits = async () => nodeAnnotation.rebootRequired in (await operator.annotations(name)) || undefined;
  await operator.waitFor('reboot-required', waits);
  await operator.reboot(where);
  await joined;
}

async function run(verb: VerbName): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await host.exec(commandOf[verb](), { timeoutMs: 200_000 });
  expect([verb, code, stderr.includes('error')]).toEqual([verb, 0, false]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** With a reboot if one is needed. */
async function finishCleanup(): Promise<Record<string, unknown>> {
  const answer = await run('cleanup');
  if (answer['rebootNeeded'] === true) await host.reboot();
  return answer;
}

/** Logs stay, the operator removes the native code after the program has ended, and every host has its own name. */
const expected = [`added ${dir.log}\\`, `added ${dir.agentNative}`, /Tcpip\\Parameters "Hostname"$/];

async function differences(): Promise<string[]> {
  const all = difference(await takeSnapshot(control), await takeSnapshot(host));
  return all.filter(line => !expected.some(each => (each instanceof RegExp ? each.test(line) : line.startsWith(each))));
}

/** Kills the verb at a random moment within its usual time. */
async function kill(verb: VerbName, afterMs: number): Promise<void> {
  const agent = new AgentService(host);
  const before = agent.pids();
  const running = host.exec(commandOf[verb](), { timeoutMs: 200_000 }).catch(() => undefined);
  await expect.poll(() => agent.pids().some(pid => !before.includes(pid)), { interval: 20 }).toBe(true);
  await delay(afterMs);
  console.log(`seed ${seed}: ${verb}, killed ${agent.kill()} processes after ${Math.round(afterMs)} ms`);
  await running;
}

test('a removed host equals the control host, also after five kills, and files of users survive', async () => {
  const random = seededRandom(seed);
  for (const usualMs of [1500, 700]) await kill('cleanup', random() * usualMs);
  await finishCleanup();
  await kill('networks', random() * 700);
  expect(await run('networks')).toMatchObject({ left: [] });
  for (const usualMs of [800, 1000]) await kill('files', random() * usualMs);
  expect(await run('files')).toMatchObject({ left: [], last: expect.arrayContaining([program]) });
  expect(await differences()).toEqual([]);
  expect(host.drive.read('C:\\k\\own.txt')).toContain('of a user');
  expect([host.drive.list('C:\\lab\\hns\\networks'), host.drive.list('C:\\lab\\hns\\endpoints')]).toEqual([[], []]);
  expect(host.lab.unexpected()).toEqual([]);
});

test('a second removal changes nothing', async () => {
  const before = await takeSnapshot(host);
  expect(await finishCleanup()).toMatchObject({ removed: [], rebootNeeded: false });
  expect(await run('networks')).toEqual({ removed: [], left: [] });
  // Cleanup writes its state file again.
  expect(await run('files')).toMatchObject({ removed: 1, left: [] });
  expect(difference(before, await takeSnapshot(host)).filter(line => !line.includes(`${dir.log}\\`))).toEqual([]);
});
