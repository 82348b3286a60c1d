import { expect, test } from 'vitest';
import { findCondition } from '../../src/base/condition.ts';
import { readCluster } from '../../src/cli/status/cluster-reader.ts';
import { systemClock } from '../../src/base/clock.ts';
import { configMapName } from '../../src/contract/names.ts';
import { clusterSuitable, readConditions } from '../../src/contract/operator-status.ts';
import { configMaps, events } from '../../src/kube/resources.ts';
import { networkConfigs } from '../../src/kube/resources-openshift.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startOperator } from '../kit/sandbox-operator.ts';

test('an invalid setting of the disruption budget is shown by wmco status until it is fixed', async () => {
  await using sandbox = await startSandbox({ hosts: 0, speed: 10 });
  await using operator = startOperator(sandbox);
  const { client } = operator;
  const { namespace } = sandbox;
  const problems = async () => {
    const view = await readCluster({ client, namespace, clock: systemClock }, new AbortController().signal);
    return view.clusterProblems.map(({ code }) => code);
  };
  const metadata = { name: configMapName.rollout, namespace };
  const map = await client.create(configMaps, { metadata, data: { maxUnavailable: 'some', sook: '1m' } });
  await expect.poll(problems).toEqual(['ROLLOUT_SETTING_INVALID', 'ROLLOUT_SETTING_UNKNOWN']);
  await client.replace(configMaps, { ...map, data: { maxUnavailable: '10%', soak: '1m' } });
  await expect.poll(problems).toEqual([]);
}, 120_000);

test('a network that Windows cannot use is reported before any host joins, and no longer when it is fixed', async () => {
  await using sandbox = await startSandbox({ hosts: 0, speed: 10 });
  await using operator = startOperator(sandbox);
  const { client } = operator;
  const { namespace } = sandbox;
  const condition = async () => {
    const map = await client.find(configMaps, configMapName.operatorStatus, { namespace });
    const found = findCondition(readConditions(map?.data), clusterSuitable);
    return found && [found.status, found.reason];
  };
  const reasons = async () =>
    (await client.list(events, { namespace })).items
      .filter(({ involvedObject }) => involvedObject.name === configMapName.operatorStatus)
      .map(({ type, reason, message = '' }) => [type, reason, message.split(':')[0]]);
  const setNetwork = (cidr: string) => {
    const body = { spec: { clusterNetwork: [{ cidr, hostPrefix: 23 }] } };
    return client.patch(networkConfigs, 'cluster', { type: 'merge', body });
  };

  await expect.poll(condition).toEqual(['True', 'AllChecksPassed']);
  await setNetwork('240.0.0.0/8');
  await expect.poll(condition).toEqual(['False', 'NETWORK_CLASS_E']);
  await expect.poll(reasons).toEqual([['Warning', 'ClusterUnsuitable', 'NETWORK_CLASS_E']]);
  const view = await readCluster({ client, namespace, clock: systemClock }, new AbortController().signal);
  expect(view.clusterProblems).toMatchObject([{ code: 'NETWORK_CLASS_E', remedy: expect.stringContaining('Choose') }]);

  await setNetwork('10.128.0.0/14');
  await expect.poll(condition).toEqual(['True', 'AllChecksPassed']);
  await expect.poll(reasons).toHaveLength(2);
}, 120_000);
