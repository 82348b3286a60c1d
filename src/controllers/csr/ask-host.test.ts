import { expect, test } from 'vitest';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import type { Inventory } from '#contract/inventory.ts';
import type { CommandResult, ConnectOptions, HostConnection, HostTarget } from '#host/host.ts';
import type { HostKey } from '#host/host-key.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { nodeOf } from '../../../test/kit/csr-facts.ts';
import { hostAsker } from './ask-host.ts';
import { installedAgent } from '../../../test/kit/installed-agent.ts';

const instance: InstanceObject = {
  metadata: { name: 'win1', namespace: 'wmco' },
  spec: { address: '10.0.0.1', username: 'core' },
};
const hostKey: HostKey = { type: 'ssh-ed25519', blob: new Uint8Array([1]) };
const node = nodeOf('win1', '10.0.0.1');

const inventory = (change: Partial<Inventory> = {}): string =>
  JSON.stringify({
    agentVersion: 'v',
    hostName: 'WIN-A',
    fqdn: 'win-a.corp.local',
    os: { product: 'Windows Server 2022', build: '20348', installationType: 'Server' },
    bootId: '1',
    containersFeature: 'enabled',
    time: '2026-03-01T12:00:00Z',
    ...change,
  });

function bench(answer: () => Promise<Partial<CommandResult>>, pinned: HostKey | 'none' = hostKey) {
  const clock = manualClock();
  const story: string[] = [];
  const targets: (HostTarget & { options: ConnectOptions })[] = [];
  const ask = hostAsker({
    clock,
    hostKeys: { find: async (_, of) => (story.push(`key of ${of?.name}`), pinned === 'none' ? undefined : pinned) },
    material: { keysFor: async () => [] },
    connect: async (target, options = {}) => {
      targets.push({ ...target, options });
      return {
        exec: async (command: string) => (
          story.push(command), { exitCode: 0, stdout: '', stderr: '', ...(await answer()) }
        ),
        [Symbol.asyncDispose]: async () => void story.push('closed'),
      } as unknown as HostConnection;
    },
  });
  const stop = new AbortController();
  return { clock, story, targets, stop, ask: (of = instance) => ask(of, node, stop.signal) };
}

test('asks the agent for its full name over the pinned connection, and closes that', async () => {
  const { story, targets, ask } = bench(async () => ({ stdout: inventory() }));
  expect(await ask()).toBe('win-a.corp.local');
  expect(story).toEqual(['key of win1', installedAgent.inventory(), 'closed']);
  expect(targets).toMatchObject([{ address: '10.0.0.1', username: 'core', pinnedKey: hostKey, privateKeys: [] }]);
  expect(targets[0]).not.toHaveProperty('port');
  expect(targets[0]?.options.dialTimeoutMs).toBeLessThanOrEqual(5000);
});

test('takes the short name of a host that has no other', async () => {
  expect(await bench(async () => ({ stdout: inventory({ fqdn: '' }) })).ask()).toBe('WIN-A');
});

test('connects to the port of the instance', async () => {
  const { targets, ask } = bench(async () => ({ stdout: inventory() }));
  await ask({ ...instance, spec: { ...instance.spec, port: 2222 } });
  expect(targets[0]?.port).toBe(2222);
});

test('asks nobody whose host key is not known', async () => {
  const { story, targets, ask } = bench(async () => ({ stdout: inventory() }), 'none');
  expect(await rejectionOf(ask())).toMatchObject({
    code: 'HOST_VALUE_UNKNOWN',
    message: expect.stringContaining('10.0.0.1'),
    remedy: expect.stringContaining('PTR'),
  });
  expect(story).toEqual(['key of win1']);
  expect(targets).toEqual([]);
});

const failures: [about: string, answer: Partial<CommandResult>, code: string][] = [
  ['ends with an error', { exitCode: 1, stderr: 'broken' }, 'HOST_VALUE_UNKNOWN'],
  ['says something else', { stdout: 'Hello' }, 'AGENT_ANSWER_INVALID'],
  ['does not know its name', { stdout: inventory({ hostName: '', fqdn: '' }) }, 'HOST_VALUE_UNKNOWN'],
];
for (const [about, answer, code] of failures) {
  test(`has no name of a host whose agent ${about}, and closes the connection`, async () => {
    const { story, ask } = bench(async () => answer);
    expect((await rejectionOf(ask()))?.code).toBe(code);
    expect(story.at(-1)).toBe('closed');
  });
}

test('gives up after a while, and when it is told to', async () => {
  const never = () => new Promise<never>(() => undefined);
  const late = bench(never);
  const asked = rejectionOf(late.ask());
  await late.clock.advance(90_000);
  expect(await asked).toMatchObject({ code: 'HOST_VALUE_UNKNOWN', message: expect.stringContaining('90000 ms') });
  const stopped = bench(never);
  const given = stopped.ask();
  await settle();
  stopped.stop.abort(new Error('over'));
  await expect(given).rejects.toThrow('over');
});
