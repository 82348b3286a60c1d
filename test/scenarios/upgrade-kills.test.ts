import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { configMapName } from '../../src/contract/names.ts';
import { configMaps, nodes } from '../../src/kube/resources.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { setOf } from '../kit/host-set.ts';
import { instancesOf, killOperators } from '../kit/killed-journey.ts';
import { administratorOf, startOperator } from '../kit/sandbox-operator.ts';
import { operatorProcesses } from '../kit/spawned-operator.ts';

/** Four hosts are upgraded while the operator is killed twenty times: the end is that of an upgrade without kills. */

const [hosts, kills] = [4, 20];
const [old, next] = [{ version: '11.0.0-a' }, { version: '11.0.1-b', since: '11.0.0-a' }];
const wanted = process.env['WMCO_KILL_SEED'];
const seed = wanted === undefined ? randomInt(1, 2 ** 31) : Number(wanted);
const lease = { leaseDurationMs: 3000, renewDeadlineMs: 2500, retryPeriodMs: 500 };

test(`twenty kills do not keep four hosts from being upgraded (WMCO_KILL_SEED=${seed})`, {
  timeout: 300_000,
}, async () => {
  await using sandbox = await startSandbox({ hosts, speed: 10 });
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  const { namespace } = sandbox;
  const data = { maxUnavailable: '100%', first: '4', soak: '1s' };
  await client.create(configMaps, { metadata: { name: configMapName.rollout, namespace }, data });
  {
    await using operator = startOperator(sandbox, { payloadBytes: 200_000, release: old });
    await operator.allReady(hosts);
  }
  const { version } = next;
  await using processes = operatorProcesses(sandbox, { release: next, payloadBytes: 200_000, settings: { lease } });
  const order = { client, namespace, hosts, kills, seed, journey: 'upgrade', version } as const;
  const done = await killOperators(order, processes);
  const soaked = async () => (await instancesOf(order)).filter(({ status }) => status?.upgrade?.soaked !== undefined);
  await expect.poll(soaked, { timeout: 120_000, interval: 200 }).toHaveLength(hosts);
  console.log(`seed ${seed}: killed in ${[...new Set(done.flatMap(({ steps }) => steps))].join(', ')}`);
  for (const host of sandbox.hosts) {
    expect(await setOf(host)).toEqual({ runs: version, keeps: old.version, agent: version, wrong: [] });
    expect(host.stats.reboots).toBe(0);
  }
  const { items } = await client.list(nodes, { labelSelector: 'kubernetes.io/os=windows' });
  expect(items.filter(({ spec }) => spec?.unschedulable === true)).toEqual([]);
});
