import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation } from '../../src/contract/names.ts';
import { upgradeState } from '../../src/contract/windows-instance/upgrade-state.ts';
import { type FleetLab, nodeOf, startFleet } from '../kit/lifecycle/fleet-lab.ts';
import { namespace } from '../kit/lifecycle/join-lab.ts';
import { newer, newerParts } from '../kit/lifecycle/upgrade-lab.ts';

const upgradeOf = (fleet: FleetLab, host: number) => fleet.instanceOf(host)?.status?.upgrade;

/** Its Node runs the new version, is in service and has soaked. */
function isUpgraded(fleet: FleetLab, host: number): boolean {
  const node = fleet.watch.nodes.get(nodeOf(host));
  const isNew = node?.metadata.annotations?.[nodeAnnotation.version] === newer;
  return isNew && fleet.state(host) === 'Ready' && upgradeOf(fleet, host)?.soaked !== undefined;
}

/** UPG-02: the label is on no more Nodes than the budget allows. */
function labeled(fleet: FleetLab): number {
  return [...fleet.watch.nodes.values()].filter(({ metadata }) =>
    Object.keys(metadata.labels ?? {}).some(key => key.endsWith('/upgrading')),
  ).length;
}

const someKills = fc.array(
  fc.record({ end: fc.constantFrom('kill' as const, 'stop' as const), changes: fc.integer({ min: 1, max: 60 }) }),
  { minLength: 3, maxLength: 5 },
);

test('UPG-02: with a budget of 2 of 8 nodes, never more are upgraded at once, and all are in the end, though operators are killed', async () => {
  await fc.assert(
    fc.asyncProperty(someKills, async kills => {
      const fleet = await startFleet(8, { maxUnavailable: '2', limit: 2, soak: '30s' });
      await fleet.lab.addServices(newer);
      fleet.version = newerParts;
      let most = 0;
      for (const { end, changes } of kills) {
        await fleet.lead(end);
        await fleet.progress(changes);
        most = Math.max(most, labeled(fleet));
      }
      await fleet.until(
        () => fleet.all().every(host => isUpgraded(fleet, host)),
        async () => void (most = Math.max(most, labeled(fleet))),
      );
      expect(most).toBeLessThanOrEqual(2);
      expect(fleet.watch.problems).toEqual([]);
      for (const host of fleet.all()) expect(fleet.host(host).activator.swaps).toEqual([newer]);
      fleet.killOperator();
    }),
    { numRuns: 1 },
  );
});

test('a Node that claims another version again and again is set up again once, and the others have their turn', async () => {
  const fleet = await startFleet(4, { maxUnavailable: '1', limit: 1, soak: '30s' });
  await fleet.lab.addServices(newer);
  fleet.version = newerParts;
  await fleet.lead('stop');
  const lie = async () => {
    const isNew = fleet.watch.nodes.get(nodeOf(1))?.metadata.annotations?.[nodeAnnotation.version] === newer;
    if (isNew)
      await fleet.lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: '9.9.9' } } }, nodeOf(1));
  };
  const taken = () => [1, 2, 3, 4].map(host => fleet.watch.taken.filter(name => name === nodeOf(host)).length);
  await fleet.until(() => [2, 3, 4].every(host => isUpgraded(fleet, host)), lie);
  expect(taken()).toEqual([1, 1, 1, 1]);
  // An hour after its soak.
  await fleet.until(() => readyText(fleet, 1).includes('already; this is done once in 24 h'), lie);
  expect(taken()).toEqual([2, 1, 1, 1]);
  expect(fleet.watch.problems).toEqual([]);
});

test('a host that waits says within a minute that it waits for another node now', async () => {
  const fleet = await startFleet(3, { maxUnavailable: '1', limit: 1, soak: '4m' });
  await fleet.lab.addServices(newer);
  fleet.version = newerParts;
  await fleet.lead('stop');
  const soaking = () => fleet.all().filter(host => upgradeState(upgradeOf(fleet, host)) === 'soaking');
  await fleet.until(() => soaking().length === 1);
  const [first = 0] = soaking();
  await fleet.until(() => soaking().length === 1 && !soaking().includes(first));
  const sinceMs = fleet.clock.now();
  const [second = 0] = soaking();
  const third = fleet.all().find(host => host !== first && host !== second) ?? 0;
  await fleet.until(() => readyText(fleet, third).includes(`out of service: ${nodeOf(second)} (upgrade)`));
  expect(fleet.clock.now() - sinceMs).toBeLessThan(90_000);
  await fleet.until(() => fleet.all().every(host => isUpgraded(fleet, host)));
});

test('a roll-out stops after the first node that fails, which goes back; a retry goes on with all', async () => {
  const fleet = await startFleet(4, { maxUnavailable: '1', limit: 1, soak: '30s' });
  await fleet.lab.addServices(newer);
  fleet.lab.behavior.brokenVersion = newer;
  fleet.version = newerParts;
  await fleet.lead('stop');
  const rolledBack = () => fleet.all().filter(host => upgradeOf(fleet, host)?.rolledBack !== undefined);
  await fleet.until(() => rolledBack().length > 0);
  await fleet.lead();
  await fleet.progress(Number.POSITIVE_INFINITY);
  await fleet.progress(Number.POSITIVE_INFINITY);
  const swapped = fleet.all().filter(host => fleet.host(host).activator.swaps.length > 0);
  expect(swapped).toEqual(rolledBack());
  expect(swapped).toHaveLength(1);
  expect(fleet.watch.outOfService()).toEqual([]);
  const [failed = 0] = swapped;
  const others = fleet.all().filter(host => host !== failed);
  await fleet.until(() => others.every(host => readyText(fleet, host).includes('roll-out')));
  for (const host of others) expect(readyText(fleet, host)).toContain(`it failed on ${nameOf(fleet, failed)}`);
  delete fleet.lab.behavior.brokenVersion;
  const body = { metadata: { annotations: { [instanceAnnotation.retry]: 'again' } } };
  await fleet.lab.client.patch(windowsInstances, nameOf(fleet, failed), { type: 'merge', body }, { namespace });
  await fleet.until(() => fleet.all().every(host => isUpgraded(fleet, host)));
  expect(fleet.watch.problems).toEqual([]);
});

const minute = 60_000;
for (const [maxUnavailable, atLeastMs, atMostMs] of [
  ['2', 0, 30 * minute],
  ['1', 50 * minute, 80 * minute],
] as const) {
  test(`a roll-out with a budget of ${maxUnavailable} goes on without a host that died in its swap, once that is accepted; it is tried again all the time`, async () => {
    const fleet = await startFleet(3, { maxUnavailable, limit: 2, soak: '30s' });
    await fleet.lab.addServices(newer);
    let dead = 0;
    for (const host of fleet.all())
      fleet.host(host).faults.exec = async command => {
        if (dead !== 0 || !command.includes(' activate ')) return undefined;
        dead = host;
        fleet.breakHost(host);
        await fleet.reportReady(host, false);
        throw new AppError('HOST_CONNECTION_LOST', 'the connection broke', { remedy: 'Try again.' });
      };
    fleet.version = newerParts;
    await fleet.lead('stop');
    const failure = () => fleet.instanceOf(dead)?.status;
    await fleet.until(() => failure()?.journey?.name === 'rollback' && failure()?.phase === 'Failed');
    const others = fleet.all().filter(host => host !== dead);
    expect(others.filter(host => fleet.host(host).activator.swaps.length > 0)).toEqual([]);
    const body = { metadata: { annotations: { [instanceAnnotation.acceptedRollback]: newer } } };
    await fleet.lab.client.patch(windowsInstances, nameOf(fleet, dead), { type: 'merge', body }, { namespace });
    const sinceMs = fleet.clock.now();
    await fleet.until(() => others.every(host => isUpgraded(fleet, host)));
    const tookMs = fleet.clock.now() - sinceMs;
    expect(tookMs).toBeGreaterThan(atLeastMs);
    expect(tookMs).toBeLessThan(atMostMs);
    fleet.repair(dead);
    await fleet.reportReady(dead, true);
    await fleet.until(() => upgradeOf(fleet, dead)?.rolledBack !== undefined && fleet.state(dead) === 'Ready');
    expect(fleet.watch.problems).toEqual([]);
  });
}

function nameOf(fleet: FleetLab, host: number): string {
  return fleet.instanceOf(host)?.metadata.name ?? '';
}

function readyText(fleet: FleetLab, host: number): string {
  const { conditions = [] } = fleet.instanceOf(host)?.status ?? {};
  return conditions.find(({ type }) => type === 'Ready')?.message ?? '';
}
