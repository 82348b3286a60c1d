import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { makeKey } from '../../../test/kit/ssh-server.ts';
import { scaledClock } from './clocks.ts';
import { type FaultName, faults } from './faults.ts';
import { Fleet } from './fleet.ts';
import { ContentStore } from './host/content-store.ts';
import type { SimulatedHost } from './host/host.ts';
import { defaultTimes } from './times.ts';
import { defaultTraits } from './traits.ts';

const authorizedKeys = [makeKey().key.publicKey];
const all = Object.keys(faults) as FaultName[];
let store: ContentStore;
let fleet: Fleet;

beforeAll(async () => {
  store = await ContentStore.open();
  const delays = scaledClock(systemClock, 100);
  fleet = new Fleet({ store, clock: systemClock, delays, agentVersion: 'x', onChange: () => undefined });
});
afterAll(async () => {
  await fleet.stop();
  await store.close();
});

async function hostWith(name: string, ...given: FaultName[]): Promise<SimulatedHost> {
  const host = fleet.add({ name, user: 'Administrator', authorizedKeys, faults: given });
  await host.start();
  return host;
}

/** What an operator can find out about a host, without what differs between any two hosts. */
function visible({ spec, state, isOn }: SimulatedHost): unknown {
  const { id: _id, adapters: _adapters, services, hostName, ...others } = state;
  return { isOn, ...others, services: [...services.keys()].toSorted(), isNamedBySandbox: hostName === spec.name };
}

test.each(all)('a host without its fault %s is like any other', async name => {
  const [host, healthy] = [await hostWith(`a-${name}`, name), await hostWith(`b-${name}`)];
  expect(fleet.faultsOf(host.spec.name)).toEqual([name]);
  fleet.endFault(host.spec.name, name);
  expect(fleet.faultsOf(host.spec.name)).toEqual([]);
  await expect.poll(() => visible(host), { interval: 20 }).toEqual(visible(healthy));
  expect([host.spec.traits, host.spec.times]).toEqual([defaultTraits, defaultTimes]);
});

test('the other faults of a host stay', async () => {
  const host = await hostWith('several', 'no-containers', 'lost-in-reboot', 'german');
  fleet.endFault('several', 'lost-in-reboot');
  expect(host.spec.traits).toMatchObject({
    containersFeature: 'disabled',
    returnsFromReboot: true,
    language: 'german',
  });
  expect(fleet.faultsOf('several')).toEqual(['no-containers', 'german']);
});

test('a fault that the host does not have cannot be ended', async () => {
  await hostWith('sound', 'german');
  expect(() => fleet.endFault('sound', 'wrong-key')).toThrow('host "sound" does not have the fault wrong-key');
});
