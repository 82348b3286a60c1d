import { expect, onTestFinished, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { HostConnection, HostTarget } from '#host/host.ts';
import type { Key } from '#kube/resource.ts';
import { inventoryText, pinnedKey } from '../../../../test/kit/csr-bench.ts';
import { manualClock, settle } from '../../../../test/kit/manual-clock.ts';
import { MemoryApi } from '../../../../test/kit/memory-api.ts';
import { recordedLog } from '../../../../test/kit/recorded-log.ts';
import { type HostInspectorParts, HostInspector } from './host-inspector.ts';

const namespace = 'wmco';
const sha256 = 'e'.repeat(64);

interface Scene {
  /** What the agent prints. */
  stdout?: string;
  exitCode?: number;
  status?: WindowsInstanceStatus;
  spec?: Partial<WindowsInstance['spec']>;
  /** Whether the host answers at all. */
  isDead?: boolean;
}

const host = { name: 'win-1', addresses: ['10.0.0.1'] };

function scene({ stdout, exitCode = 0, status, spec, isDead = false }: Scene = {}) {
  const clock = manualClock();
  const api = new MemoryApi();
  const log = recordedLog();
  const dialed: HostTarget[] = [];
  const commands: string[] = [];
  const fed: Key[] = [];
  const parts: HostInspectorParts = {
    client: api as never,
    clock,
    inputs: { loadKeys: async () => [] },
    payload: { agent: async () => ({ sha256 }) as never },
    resolver: { addresses: async () => ['10.0.0.7', '10.0.0.8'] },
    connect: (target, { signal } = {}) => {
      dialed.push(target);
      const exec = async (command: string) => {
        commands.push(command);
        return { exitCode, stdout: stdout ?? inventoryText('win-1', '10.0.0.1', '10.9.0.1'), stderr: '' };
      };
      const connection = { exec, [Symbol.asyncDispose]: async () => undefined } as unknown as HostConnection;
      if (!isDead) return Promise.resolve(connection);
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const inspector = new HostInspector(parts, () => [{ namespace: '', name: 'csr-1' }]);
  const instance = api.put(windowsInstances, {
    metadata: { name: 'win-1', namespace },
    spec: { address: '10.0.0.1', username: 'core', ...spec },
    status: { hostKey: pinnedKey, host, ...status },
  });
  const stop = inspector.start(key => void fed.push(key));
  onTestFinished(stop);
  const ask = async (of = instance) => {
    const isTaken = inspector.request(of, log.log);
    await settle();
    return isTaken;
  };
  const recorded = () => api.peek(windowsInstances, 'win-1', namespace)?.status?.host;
  return { api, clock, log, dialed, commands, instance, ask, recorded, stop, fed };
}

test('reads the addresses over the pinned connection and records them', async () => {
  const { ask, recorded, dialed, commands, api } = scene();
  expect(await ask()).toBe(true);
  expect(recorded()).toEqual({ name: 'win-1', addresses: ['10.0.0.1', '10.9.0.1'] });
  expect(dialed).toMatchObject([{ address: '10.0.0.1', username: 'core', pinnedKey: { type: 'ssh-ed25519' } }]);
  expect(commands).toEqual([expect.stringMatching(new RegExp(`^C:\\\\Windows\\\\.*${sha256}.* inventory`))]);
  expect(api.calls.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
    'get windowsinstances',
    'patch windowsinstances/status',
  ]);
});

test('records the address that the name of the host has, not the name', async () => {
  const { ask, recorded, dialed } = scene({ spec: { address: 'win-1.corp', port: 2222 } });
  await ask();
  expect(dialed).toMatchObject([{ address: 'win-1.corp', port: 2222 }]);
  expect(recorded()?.addresses).toEqual(['10.0.0.7', '10.0.0.1', '10.9.0.1']);
});

test('goes by the host key that the administrator has given', async () => {
  const { ask, recorded, dialed } = scene({ status: { hostKey: '' }, spec: { hostKey: pinnedKey } });
  await ask();
  expect(dialed[0]?.pinnedKey).toBeDefined();
  expect(recorded()?.addresses).toHaveLength(2);
});

const failures: [string, Scene, number][] = [
  ['a host whose key is not pinned', { status: { hostKey: '' } }, 0],
  ['a host that has another name by now', { stdout: inventoryText('win-2', '10.0.0.2') }, 1],
  ['a host whose name is not recorded', { status: { host: undefined as never } }, 1],
  ['a host whose agent fails', { exitCode: 1 }, 1],
  ['a host that prints something else', { stdout: 'hello' }, 1],
];
for (const [title, given, connections] of failures) {
  test(`records nothing of ${title}`, async () => {
    const { ask, recorded, dialed, log, instance } = scene(given);
    const before = instance.status?.host;
    expect(await ask()).toBe(true);
    expect(recorded()).toEqual(before);
    expect(dialed).toHaveLength(connections);
    expect(log.messages('info')).toEqual(['Reading addresses of host failed']);
  });
}

test('reads a host every two minutes at most', async () => {
  const { ask, clock, dialed } = scene();
  expect(await ask()).toBe(true);
  expect(await ask()).toBe(false);
  await clock.advance(119_000);
  expect(await ask()).toBe(false);
  await clock.advance(1000);
  expect(await ask()).toBe(true);
  expect(dialed).toHaveLength(2);
});

test('one host does not keep another from being read', async () => {
  const { ask, instance, dialed } = scene();
  await ask();
  expect(await ask({ ...instance, metadata: { ...instance.metadata, uid: 'another' } })).toBe(true);
  expect(dialed).toHaveLength(2);
});

test('records nothing on an instance that was created again', async () => {
  const { ask, instance, recorded } = scene();
  await ask({ ...instance, metadata: { ...instance.metadata, uid: 'of the one before' } });
  expect(recorded()).toEqual(host);
});

test('gives up on a host that does not answer', async () => {
  const { ask, clock, log } = scene({ isDead: true });
  expect(await ask()).toBe(true);
  expect(log.messages('info')).toEqual([]);
  await clock.advance(90_000);
  await settle();
  expect(log.messages('info')).toEqual(['Reading addresses of host failed']);
});

test('stops with the controller, without a word', async () => {
  const { ask, stop, log, recorded, clock } = scene({ isDead: true });
  await ask();
  stop();
  await settle();
  await clock.advance(120_000);
  expect(await ask()).toBe(false);
  expect(log.messages('info')).toEqual([]);
  expect(recorded()).toEqual(host);
});

test('has waiting requests judged again, whether the host answered or not', async () => {
  for (const options of [{}, { exitCode: 1 }]) {
    const { ask, fed } = scene(options);
    await ask();
    expect(fed).toEqual([{ namespace: '', name: 'csr-1' }]);
  }
});
