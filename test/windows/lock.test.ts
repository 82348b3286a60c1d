import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { sha256 } from '../../src/base/sha256.ts';
import { agentCommands } from '../../src/contract/agent-command.ts';
import { agentProgram, file, leaderFile } from '../../src/contract/paths.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';

const lease = '0b5c1f0e-7a7b-4f4b-9d7c-2f6f5f1f0a01';
const program = agentProgram(sha256(readFileSync(inject('agentProgram'))));
const commandsOf = (count: number) => agentCommands(program, `${lease}.${count}`);

/** `cleanup` asks this API server, which does not exist, for half a minute. */
const kubeconfig = JSON.stringify({
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'u', user: { token: 'x' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
});

let lab: WindowsLab;
let host: WindowsHost;

beforeAll(async () => {
  lab = await WindowsLab.start();
  host = await lab.createHost();
  await host.drive.copyIn(inject('agentProgram'), program);
  await host.drive.write(file.agentKubeconfig, kubeconfig);
  await host.drive.write(file.stagedRecord, JSON.stringify({ version: 'v1' }));
});
afterAll(() => lab?.stop());

interface Told {
  code: number;
  error?: { code: string; message: string; remedy: string };
}

async function run(command: string): Promise<Told> {
  const { code, stdout } = await host.exec(command, { timeoutMs: 120_000 });
  const { error } = JSON.parse(stdout || '{}') as Pick<Told, 'error'>;
  return { code, ...(error && { error }) };
}
const holder = () => host.drive.read(leaderFile.replace('leader', 'holder')) ?? '';

test('of two processes one runs; the former leader starts no more; a kill frees the lock', async () => {
  const first = run(commandsOf(3).removeServices('ns'));
  await expect.poll(holder, { timeout: 60_000, interval: 50 }).toContain('cleanup');

  const busy = await run(commandsOf(4).enableContainers);
  expect([busy.code, busy.error?.code]).toEqual([1, 'HOST_BUSY']);
  expect(busy.error?.message).toMatch(/: cleanup since \d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect((await run(commandsOf(3).enableContainers)).error?.code).toBe('LEADER_STALE');
  expect(JSON.parse(host.drive.read(leaderFile) ?? '')).toEqual({ lease, count: 4 });
  expect((await run(agentCommands(program).inventory())).code).toBe(0);

  const kill = /taskkill\.exe \/f \/t \/pid \d+/.exec(busy.error?.remedy ?? '')?.[0] ?? '';
  await host.run(kill);
  expect((await first).code).not.toBe(0);
  expect(await run(commandsOf(4).enableContainers)).toEqual({ code: 0 });
  expect((await run(commandsOf(3).enableContainers)).error?.code).toBe('LEADER_STALE');
  expect(host.lab.unexpected()).toEqual([]);
});
