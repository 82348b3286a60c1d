import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { makeKey } from '../../../test/kit/ssh-server.ts';
import { scaledClock } from './clocks.ts';
import { dnsNameOf, Fleet, type NewHost } from './fleet.ts';
import { ContentStore } from './host/content-store.ts';
import { defaultTimes } from './times.ts';
import { defaultTraits } from './traits.ts';

const authorizedKeys = [makeKey().key.publicKey];
const newHost = (name: string, more: Partial<NewHost> = {}): NewHost => ({
  name,
  user: 'Administrator',
  authorizedKeys,
  ...more,
});

async function scene() {
  const store = await ContentStore.open();
  let changes = 0;
  const delays = scaledClock(systemClock, 100);
  const onChange = () => void (changes += 1);
  const fleet = new Fleet({ store, clock: systemClock, delays, agentVersion: 'x', onChange });
  return {
    fleet,
    changes: () => changes,
    async [Symbol.asyncDispose]() {
      await fleet.stop();
      await store.close();
    },
  };
}

test('a host without faults has the default traits', async () => {
  await using made = await scene();
  const { spec } = made.fleet.add(newHost('win-1'));
  expect(spec).toMatchObject({ name: 'win-1', user: 'Administrator', dnsSuffix: '', traits: defaultTraits });
  expect(spec.times).toEqual(defaultTimes);
});

test('faults, its own options and the times of the sandbox are combined', async () => {
  await using made = await scene();
  const { spec } = made.fleet.add(
    newHost('win-1', {
      faults: ['german', 'slow-disk'],
      traits: { diskBytes: 7 },
      times: { bootMs: 9 },
    }),
  );
  expect(spec.traits).toMatchObject({ language: 'german', diskBytes: 7, hasSftp: true });
  expect(spec.times).toMatchObject({ diskBytesPerSecond: 5_000_000, bootMs: 9, commandMs: defaultTimes.commandMs });
});

test('every host has its own address', async () => {
  await using made = await scene();
  const addresses = Array.from({ length: 600 }, (_, index) => made.fleet.add(newHost(`w-${index}`)).spec.address);
  expect(new Set(addresses).size).toBe(600);
  for (const address of addresses) {
    expect(isIpv4(address)).toBe(true);
    expect(address).not.toMatch(/\.(0|255)$/);
  }
});

test('addresses of removed hosts are not reused', async () => {
  await using made = await scene();
  const { address } = made.fleet.add(newHost('a')).spec;
  await made.fleet.remove('a');
  expect(made.fleet.add(newHost('b')).spec.address).not.toBe(address);
});

test('finds hosts by name and by address', async () => {
  await using made = await scene();
  const host = made.fleet.add(newHost('win-1'));
  expect([made.fleet.host('win-1'), made.fleet.at(host.spec.address), made.fleet.at('10.9.9.9')]).toEqual([
    host,
    host,
    undefined,
  ]);
});

const refusals: [string, (fleet: Fleet) => unknown, RegExp][] = [
  ['a host that there is not', fleet => fleet.host('win-9'), /host "win-9" does not exist/],
  ['a second host of one name', fleet => fleet.add(newHost('win-1')), /host "win-1" already exists/],
];
for (const [name, act, message] of refusals) {
  test(`rejects ${name}`, async () => {
    await using made = await scene();
    made.fleet.add(newHost('win-1'));
    expect(() => act(made.fleet)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringMatching(message), remedy: expect.any(String) }),
    );
  });
}

test('some hosts have a case-insensitive DNS name', async () => {
  await using made = await scene();
  const known = made.fleet.add(newHost('win-1', { hasDnsName: true }));
  const unknown = made.fleet.add(newHost('win-2'));
  const { names } = made.fleet;
  expect([dnsNameOf(known), dnsNameOf(unknown), dnsNameOf(undefined)]).toEqual([
    'win-1.sandbox.test',
    undefined,
    undefined,
  ]);
  for (const spelled of ['win-1', 'win-1.sandbox.test', 'WIN-1.Sandbox.Test', 'win-1.sandbox.test.']) {
    expect(await names.addresses(spelled)).toEqual([known.spec.address]);
  }
  for (const other of ['win-3', 'win-2.sandbox.test', 'sandbox.test', ''])
    expect(await names.addresses(other)).toEqual([]);
  expect(await names.addresses('10.9.9.9')).toEqual(['10.9.9.9']);
});

test('routes lead to running hosts by address and name', async () => {
  await using made = await scene();
  const host = made.fleet.add(newHost('win-1', { hasDnsName: true }));
  const { findRoute } = made.fleet;
  expect(await findRoute(host.spec.address)).toBe('refused');
  await host.start();
  const { port } = (await findRoute(host.spec.address)) as { port: number };
  expect(port).toBeGreaterThan(0);
  expect(await findRoute('win-1.sandbox.test')).toEqual({ port });
  expect([await findRoute('win-9.sandbox.test'), await findRoute('10.9.9.9')]).toEqual(['unknown name', undefined]);
});

test('a silent host has a silent route', async () => {
  await using made = await scene();
  const host = made.fleet.add(newHost('win-1', { faults: ['unreachable'] }));
  await host.start();
  expect(await made.fleet.findRoute(host.spec.address)).toBe('silent');
});

test('reports hosts that start and hosts that are removed', async () => {
  await using made = await scene();
  const host = made.fleet.add(newHost('win-1'));
  await host.start();
  expect(made.changes()).toBe(1);
  await made.fleet.remove('win-1');
  expect(made.changes()).toBeGreaterThan(1);
  expect(made.fleet.hosts).toEqual([]);
});

test('removing an unknown host changes nothing', async () => {
  await using made = await scene();
  made.fleet.add(newHost('win-1'));
  await made.fleet.remove('missing');
  expect(made.fleet.hosts).toHaveLength(1);
});

test('a stop waits for all hosts, including those being removed', async () => {
  await using made = await scene();
  const hosts = await Promise.all(
    ['a', 'b', 'c'].map(async name => {
      const host = made.fleet.add(newHost(name));
      await host.start();
      return host;
    }),
  );
  void made.fleet.remove('a');
  await made.fleet.stop();
  expect(hosts.map(host => host.isOn)).toEqual([false, false, false]);
});

test('a host accepts connections to its kubelet while that runs', async () => {
  await using made = await scene();
  const host = made.fleet.add(newHost('win-1'));
  await host.start();
  const { address } = host.spec;
  const dial = (port: number, at = address) => made.fleet.dialTcp(at, port, new AbortController().signal);
  await expect(dial(10_250)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  const config = {
    command: 'k.exe',
    description: '',
    dependencies: [],
    startType: 'manual',
    recovery: undefined,
  } as const;
  const kubelet = { name: 'kubelet', config, pid: 1, isMarkedForDeletion: false, crashes: 0 };
  host.state.services.set('kubelet', { ...kubelet, state: 'running' });
  await dial(10_250);
  await expect(dial(9182)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await expect(dial(10_250, '10.9.9.9')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a host that moves has another address, to which its name resolves', async () => {
  await using made = await scene();
  const { fleet } = made;
  const { spec, state } = fleet.add(newHost('win-1', { hasDnsName: true }));
  const before = spec.address;
  const after = fleet.move('win-1');
  expect([fleet.at(before), fleet.at(after)?.spec.name]).toEqual([undefined, 'win-1']);
  expect(await fleet.names.addresses('win-1.sandbox.test')).toEqual([after]);
  expect(state.adapters.map(({ addresses }) => addresses)).toEqual([[`${after}/24`]]);
  expect(made.changes()).toBe(1);
});
