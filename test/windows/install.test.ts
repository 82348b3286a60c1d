import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { controllerCommand } from '../../src/contract/agent-command.ts';
import { parseInventory } from '../../src/contract/inventory.ts';
import { agentName } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';
import { installedAgent } from '../kit/installed-agent.ts';

let lab: WindowsLab;
let host: WindowsHost;

beforeAll(async () => {
  lab = await WindowsLab.start();
  host = await lab.createHost();
  await host.run('mkdir C:\\k');
  await host.upload(inject('agentProgram'), file.agent);
});
afterAll(() => lab?.stop());

const key = `HKLM\\SYSTEM\\CurrentControlSet\\Services\\${agentName}`;
const namespace = 'openshift-windows-machine-config-operator';
const run = async (command: string) => JSON.parse((await host.exec(command)).stdout) as Record<string, unknown>;
const inventory = async (url = '') =>
  parseInventory((await host.exec(installedAgent.inventory({ apiServerUrl: url }))).stdout, host.name);

test('creates its service with the command of the contract and starts it', async () => {
  expect(await run(installedAgent.install({ namespace, node: 'win-1', newKey: false }))).toEqual({
    created: true,
    changed: false,
    started: true,
    keyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(await host.run(`reg query ${key} /v Start`)).toContain('0x2');
  const [service] = (await inventory()).services;
  expect(service).toMatchObject({
    name: agentName,
    isManaged: true,
    command: controllerCommand({ namespace, node: 'win-1' }),
  });
});

test('changes nothing the second time, and updates a different command', async () => {
  expect(await run(installedAgent.install({ namespace, node: 'win-1', newKey: false }))).toMatchObject({
    created: false,
    changed: false,
  });
  expect(
    await run(installedAgent.install({ namespace, node: 'win-1', newKey: false, logMegabytes: 105 })),
  ).toMatchObject({ created: false, changed: true, started: true });
  expect((await inventory()).services).toMatchObject([
    { command: controllerCommand({ namespace, node: 'win-1', logMegabytes: 105 }) },
  ]);
});

test('reports permissions, ports and an unreachable API server', async () => {
  const seen = await inventory('https://127.0.0.1:1');
  expect(seen).toMatchObject({ isAdministrator: true, portsInUse: [], stagedVersion: '', bundles: {}, problems: [] });
  expect(seen.probe).toMatchObject({ url: 'https://127.0.0.1:1', problem: expect.stringMatching(/./) as string });
});
