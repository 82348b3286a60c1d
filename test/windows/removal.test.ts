import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { agentCommands } from '../../src/contract/agent-command.ts';
import { agentName, nodeAnnotation } from '../../src/contract/names.ts';
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
let killed: WindowsHost;
/** Undisturbed times of the verbs. */
const timesMs = new Map<VerbName, number>();

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
  const created = await Promise.all([1, 2, 3].map(() => scene.lab.createHost()));
  await Promise.all(created.map(furnish));
  [control, host, killed] = created as [WindowsHost, WindowsHost, WindowsHost];
  await Promise.all([host, killed].map(join));
  for (const each of created) await addUserFiles(each, ['C:\\k\\own.txt', 'C:\\k\\cni\\config\\own.conf']);
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

async function run(where: WindowsHost, verb: VerbName): Promise<Record<string, unknown>> {
  const startMs = performance.now();
  const { code, stdout, stderr } = await where.exec(commandOf[verb](), { timeoutMs: 200_000 });
  if (!timesMs.has(verb)) timesMs.set(verb, performance.now() - startMs);
  expect([verb, code, stderr.includes('error')]).toEqual([verb, 0, false]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** With a reboot if one is needed. */
async function finishCleanup(where: WindowsHost): Promise<Record<string, unknown>> {
  const answer = await run(where, 'cleanup');
  if (answer['rebootNeeded'] === true) await where.reboot();
  return answer;
}

/** All verbs of a removal. */
async function remove(where: WindowsHost) {
  const cleanup = await finishCleanup(where);
  return { cleanup, networks: await run(where, 'networks'), files: await run(where, 'files') };
}

/** Logs stay, the operator removes the native code after the program has ended, and every host has its own name. */
const expected = [`added ${dir.log}\\`, `added ${dir.agentNative}`, /Tcpip\\Parameters "Hostname"$/];

async function differences(where: WindowsHost): Promise<string[]> {
  const all = difference(await takeSnapshot(control), await takeSnapshot(where));
  return all.filter(line => !expected.some(each => (each instanceof RegExp ? each.test(line) : line.startsWith(each))));
}

test('a removed host equals the control host, and files of users survive', async () => {
  const { cleanup, networks, files } = await remove(host);
  expect(cleanup).toMatchObject({ rebootNeeded: true, removed: expect.arrayContaining([agentName, 'kubelet']) });
  expect(networks).toEqual({
    removed: ['VIPEndpoint', 'OVNKubernetesHybridOverlayNetwork', 'BaseOVNKubernetesHybridOverlayNetwork'],
    left: [],
  });
  expect(files).toEqual({ removed: expect.any(Number), left: [], last: expect.arrayContaining([program]) });
  expect(await differences(host)).toEqual([]);
  expect(host.drive.read('C:\\k\\own.txt')).toContain('of a user');
  expect([host.drive.list('C:\\lab\\hns\\networks'), host.drive.list('C:\\lab\\hns\\endpoints')]).toEqual([[], []]);
  expect(host.lab.unexpected()).toEqual([]);
});

test('a second removal changes nothing', async () => {
  const before = await takeSnapshot(host);
  expect(await remove(host)).toMatchObject({
    cleanup: { removed: [], rebootNeeded: false },
    networks: { removed: [] },
    // Cleanup writes its state file again.
    files: { removed: 1, left: [] },
  });
  expect(difference(before, await takeSnapshot(host)).filter(line => !line.includes(`${dir.log}\\`))).toEqual([]);
});

test('five kills of the verbs at random moments lead to the same end', async () => {
  const [random, agent] = [seededRandom(seed), new AgentService(killed)];
  for (const verb of ['cleanup', 'cleanup', 'networks', 'files', 'files'] as const) {
    if (verb === 'networks') await finishCleanup(killed);
    const running = killed.exec(commandOf[verb](), { timeoutMs: 200_000 }).catch(() => undefined);
    await expect.poll(() => agent.pids().length).toBeGreaterThan(0);
    await delay(random() * (timesMs.get(verb) ?? 0) * 0.7);
    console.log(`seed ${seed}: ${verb}, killed ${agent.kill()} processes`);
    await running;
  }
  await remove(killed);
  expect(await differences(killed)).toEqual([]);
});
