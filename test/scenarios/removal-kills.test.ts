import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { configMapName } from '../../src/contract/names.ts';
import { configMaps, nodes } from '../../src/kube/resources.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { hostTraces } from '../kit/host-traces.ts';
import { instancesOf, killOperators } from '../kit/killed-journey.ts';
import { administratorOf, startOperator } from '../kit/sandbox-operator.ts';
import { objectsNaming } from '../kit/secret-check.ts';
import { operatorProcesses } from '../kit/spawned-operator.ts';

/** Eight hosts are removed while the operator is killed twenty times: the end is that of a removal without kills. */

const [hosts, kills] = [8, 20];
const wanted = process.env['WMCO_KILL_SEED'];
const seed = wanted === undefined ? randomInt(1, 2 ** 31) : Number(wanted);
const lease = { leaseDurationMs: 3000, renewDeadlineMs: 2500, retryPeriodMs: 500 };

test(`twenty kills do not keep eight hosts from being removed (WMCO_KILL_SEED=${seed})`, {
  timeout: 300_000,
}, async () => {
  await using sandbox = await startSandbox({ hosts, speed: 10 });
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  const { namespace } = sandbox;
  const traces = () => Promise.all(sandbox.hosts.map(host => hostTraces(host)));
  const before = await traces();
  {
    await using operator = startOperator(sandbox, { payloadBytes: 200_000 });
    await operator.allReady(hosts);
  }
  await client.create(configMaps, {
    metadata: { name: configMapName.rollout, namespace },
    data: { maxUnavailable: '100%' },
  });
  await client.delete(configMaps, configMapName.instances, { namespace });
  await using processes = operatorProcesses(sandbox, { payloadBytes: 200_000, settings: { lease } });
  const done = await killOperators({ client, namespace, hosts, kills, seed, journey: 'removal' }, processes);
  await expect.poll(() => instancesOf({ client, namespace })).toEqual([]);
  console.log(`seed ${seed}: killed in ${[...new Set(done.flatMap(({ steps }) => steps))].join(', ')}`);
  expect(await traces()).toEqual(before);
  const { items } = await client.list(nodes, { labelSelector: 'kubernetes.io/os=windows' });
  expect(items).toEqual([]);
  for (const { spec } of sandbox.hosts) await expect.poll(() => objectsNaming(client, spec.name)).toEqual([]);
});
