import { expect, test } from 'vitest';
import {
  joinedLab,
  isGone,
  annotate,
  remains,
  removalRequest,
  untilGone,
} from '../../../test/kit/lifecycle/removal-lab.ts';
import { KillBeforeAct } from '../../../test/kit/lifecycle/kill-before-act.ts';
import { until } from '../../../test/kit/until.ts';

/** Kills the operator right before its act of a number, counting all it does to host and cluster; then starts another. */
async function killAt(number: number): Promise<'killed' | 'was done before'> {
  const { lab, host, operator: first } = await joinedLab();
  await first.stop();
  host.faults.answer = (verb, data) =>
    verb === 'cleanup' && host.boots === 1 ? { ...data, rebootNeeded: true } : data;
  const kill = new KillBeforeAct(lab, host, number, ['patch', 'delete']);
  await annotate(lab, removalRequest);
  kill.operator = lab.start({ client: kill.client });
  await until(async () => kill.isReached || (await isGone(lab)));
  const outcome = kill.isReached ? 'killed' : 'was done before';
  await kill.operator.kill();
  lab.start();
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
  expect(await remains(host)).toEqual([]);
  expect(host.boots).toBe(2);
  await until(() => host.openConnections === 0);
  return outcome;
}

test('wherever the operator is killed, the next one ends the removal with one reboot', async () => {
  const outcomes: string[] = [];
  for (let first = 1; first < 28; first += 4) {
    const batch = Array.from({ length: 4 }, (_, index) => killAt(first + index));
    outcomes.push(...(await Promise.all(batch)));
  }
  expect(outcomes.filter(outcome => outcome === 'killed').length).toBeGreaterThan(15);
});

test('twenty kills at any moment of five removals: all hosts end clean', async () => {
  const { lab, operator } = await joinedLab();
  const names = ['win-5', 'win-6', 'win-7', 'win-8', 'win-9'];
  for (const name of names.slice(1)) {
    const at = `10.0.0.${name.slice(4)}`;
    lab.host(at);
    await lab.add({ address: at, source: { kind: 'ConfigMap', name: at } }, name);
  }
  for (const name of names) await lab.ready(name);
  await operator.stop();
  for (const host of lab.hosts.values()) {
    host.faults.exec = async () => void (await new Promise(resolve => setTimeout(resolve, 10)));
  }
  for (const name of names) await annotate(lab, removalRequest, name);
  for (let kills = 0; kills < 20; kills += 1) {
    const next = lab.start();
    await new Promise(resolve => setTimeout(resolve, 10 + ((kills * 37) % 90)));
    await next.kill();
  }
  lab.start();
  for (const name of names) await untilGone(lab, name);
  for (const host of lab.hosts.values()) expect(await remains(host)).toEqual([]);
  for (const name of names) expect(await lab.node(name)).toBeUndefined();
});
