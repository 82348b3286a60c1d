import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentCommands } from '../../src/contract/agent-command.ts';
import { parseInventory } from '../../src/contract/inventory.ts';
import { agentProgramHash, dir } from '../../src/contract/paths.ts';
import type { HostConnection } from '../../src/host/host.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { startOperator } from '../kit/sandbox-operator.ts';

/** The verbs of a removal on a host that the operator has joined, without the operator and without permissions. */

const own = ['C:\\Temp\\own.txt', 'C:\\var\\log\\own.log'];

let sandbox: Sandbox;
let host: SimulatedHost;
let before: unknown;
let connection: HostConnection;
let commands: ReturnType<typeof agentCommands>;
let keyHash: string | undefined;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 1, machines: 0, speed: 10 });
  host = sandbox.host('win-1');
  for (const path of own) await host.files.write(path, 'of a user');
  before = await seen();
  {
    await using operator = startOperator(sandbox);
    const [instance] = await operator.allReady(1);
    keyHash = instance?.status?.agent?.keyHash;
  }
  const program = host.stats.programs.find(path => agentProgramHash(path) !== undefined) ?? '';
  commands = agentCommands(program);
  const privateKeys = [parsePrivateKey(sandbox.privateKey.reveal())];
  const { address } = host.spec;
  connection = await sandbox.connect({ address, username: 'Administrator', privateKeys, pinnedKey: undefined }, {});
}, 120_000);
afterAll(async () => {
  await connection?.[Symbol.asyncDispose]();
  await sandbox?.stop();
});

/** What a removal has to restore; logs and the folder of the program are not part of it. */
async function seen(): Promise<unknown> {
  const { files, services, state } = host;
  const kept = [`${dir.log}\\`, `${dir.agentPrograms}\\`];
  return {
    files: files.paths().filter(path => own.includes(path) || !kept.some(folder => path.startsWith(folder))),
    folders: (await files.list('C:')).toSorted(),
    services: (await services.list()).map(({ name }) => name),
    networks: [...state.networks, ...state.endpoints],
    variables: { ...state.variables },
    certificates: [...state.certificates.keys()],
  };
}

async function run(command: string): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await connection.exec(command);
  expect([command, exitCode, stderr.includes('error')]).toEqual([command, 0, false]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('the inventory of a joined host has the key that the operator has recorded', async () => {
  const { stdout } = await connection.exec(commands.inventory());
  const { identities, certificateExpires } = parseInventory(stdout, 'win-1');
  expect(keyHash).toMatch(/^[0-9a-f]{64}$/);
  expect(identities).toEqual({ agent: { keyHash, certificateEnds: certificateExpires } });
});

test('cleanup, remove-networks and remove-files restore the host', async () => {
  const { exitCode } = await connection.exec(commands.cleanup(sandbox.namespace));
  expect(exitCode).toBe(0);
  expect(await run(commands.removeNetworks())).toMatchObject({ left: [] });
  expect(await run(commands.removeFiles())).toMatchObject({ left: [] });
  expect(await seen()).toEqual(before);
});
