import { expect, onTestFinished, test } from 'vitest';
import { findCondition } from '#base/condition.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { kubeletSettings, readConditions, rolloutSettings } from '#contract/operator-status.ts';
import { configMaps } from '#kube/resources.ts';
import { benchSettings as settings, fixedFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { networkConfig, openshiftCluster, readObjects } from '../../../test/kit/openshift-objects.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { clusterChecksController } from './controller.ts';

const name = 'windows-machine-config-operator-status';
const good = readObjects(openshiftCluster());
const classE = readObjects(
  openshiftCluster({ networkConfig: networkConfig({ clusterNetwork: [{ cidr: '240.0.0.0/8', hostPrefix: 23 }] }) }),
);
const noWorker = readObjects(openshiftCluster({ machineConfig: null }));

function begin(initial = good) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api } = bench;
  const version = (gitVersion: string) => api.paths.set('/version', { gitVersion });
  version('v1.33.0');
  let objects = initial;
  const facts = { ...fixedFacts(), objects: () => objects };
  const parts = { ...bench.parts, facts, settings, kind: 'openshift', kubeletVersion: 'v1.33.0' } as const;
  const map = () => api.peek(configMaps, name, namespace);
  return {
    ...bench,
    version,
    map,
    /** Each time as a new process. */
    run: () => bench.start(clusterChecksController(parts)),
    condition: () => readConditions(map()?.data)[0],
    become: async (next: typeof good) => {
      objects = next;
      facts.become({});
      await settle();
    },
  };
}

test('a cluster that supports Windows nodes has the condition True and no event', async () => {
  const { run, condition, events } = begin();
  await run();
  expect(condition()).toMatchObject({ type: 'ClusterSuitable', status: 'True' });
  expect(events).toEqual([]);
});

test('writes its version and that of the kubelet in its payload', async () => {
  const { run, map, parts } = begin();
  await run();
  expect(map()?.data).toMatchObject({ version: parts.version, kubeletVersion: 'v1.33.0' });
});

test('reports a problem once, and that it is fixed', async () => {
  const { run, condition, events, become, clock } = begin(classE);
  await run();
  expect(condition()).toMatchObject({ status: 'False', reason: 'NETWORK_CLASS_E' });
  const warning = expect.stringMatching(
    `^ConfigMap/${name} ClusterUnsuitable NETWORK_CLASS_E: .*Choose another`,
  ) as string;
  expect(events).toEqual([warning]);
  await clock.advance(600_000);
  await become(classE);
  expect(events).toEqual([warning]);
  await become(good);
  expect(condition()).toMatchObject({ status: 'True' });
  expect(events).toEqual([warning, expect.stringContaining('ClusterSuitable')]);
});

test('reports invalid settings of the disruption budget, until they are fixed', async () => {
  const bench = begin();
  const { run, map, events } = bench;
  const rollout = (data: Record<string, string>) =>
    bench.put(configMaps, { metadata: { name: 'windows-rollout', namespace, uid: 'r' }, data });
  const condition = () => findCondition(readConditions(map()?.data), rolloutSettings);
  await run();
  expect(condition()).toMatchObject({ status: 'True' });
  await rollout({ maxUnavailable: 'some', soak: '1m' });
  expect(condition()).toMatchObject({
    status: 'False',
    reason: 'ROLLOUT_SETTING_INVALID',
    message: expect.stringContaining('maxUnavailable is "some"') as string,
  });
  expect(events).toEqual([expect.stringMatching(/^ConfigMap\/windows-rollout RolloutSettingInvalid ROLLOUT_SETTING/)]);
  await rollout({ maxUnavailable: '2' });
  expect(condition()).toMatchObject({ status: 'True' });
});

test('reports profiles of kubelet settings that are ignored, until they are fixed', async () => {
  const bench = begin();
  const { run, map, events } = bench;
  const profiles = (data: Record<string, string>) =>
    bench.put(configMaps, { metadata: { name: 'windows-kubelet-config', namespace, uid: 'k' }, data });
  const condition = () => findCondition(readConditions(map()?.data), kubeletSettings);
  await run();
  expect(condition()).toMatchObject({ status: 'True' });
  await profiles({ a: 'kubelet: {maxPods: 0}', b: 'kubelet: {maxPods: 9}' });
  expect(condition()).toMatchObject({
    status: 'False',
    reason: 'KUBELET_SETTING_INVALID',
    message: expect.stringContaining('"a": kubelet.maxPods is 0') as string,
  });
  const reported = [expect.stringMatching(/^ConfigMap\/windows-kubelet-config KubeletSettingInvalid KUBELET_SETTING/)];
  expect(events).toEqual(reported);
  await profiles({ a: 'kubelet: {maxPods: 0}', b: 'kubelet: {maxPods: 8}' });
  expect(events).toEqual(reported);
  await profiles({ b: 'kubelet: {maxPods: 9}' });
  expect(condition()).toMatchObject({ status: 'True' });
});

test('reports profiles that conflict on a host', async () => {
  const bench = begin();
  const metadata = { name: 'win', namespace, uid: 'w' };
  bench.api.put(windowsInstances, {
    metadata,
    spec: { address: '10.0.0.1', username: 'a', labels: { pool: 'large' } },
  });
  await bench.put(configMaps, {
    metadata: { name: 'windows-kubelet-config', namespace, uid: 'k' },
    data: {
      a: 'kubelet: {imageGCLowThresholdPercent: 20, imageGCHighThresholdPercent: 40}',
      b: 'selector: {pool: large}\nkubelet: {imageGCLowThresholdPercent: 60}',
    },
  });
  await bench.run();
  expect(bench.events).toEqual([expect.stringContaining('"b": with a, which apply to the same hosts')]);
});

test('writes nothing while nothing changes', async () => {
  const { run, api, become, clock } = begin(classE);
  await run();
  const writes = () => api.calls.filter(({ verb }) => verb === 'create' || verb === 'patch').length;
  expect(writes()).toBe(1);
  await clock.advance(600_000);
  await become(classE);
  expect(writes()).toBe(1);
});

test('gives the cluster half a minute for what it provides itself', async () => {
  const { run, condition, events, clock } = begin(noWorker);
  await run();
  expect([condition(), events]).toEqual([undefined, []]);
  await clock.advance(30_000);
  expect(condition()).toMatchObject({ status: 'False', reason: 'RENDERED_WORKER_MISSING' });
  expect(events).toHaveLength(1);
});

test('what was reported before a restart is not withdrawn while it may go away', async () => {
  const { run, condition, events, clock } = begin(noWorker);
  await run();
  await clock.advance(30_000);
  const before = condition();
  await run();
  expect([condition(), events.filter(event => event.includes('ClusterSuitable '))]).toEqual([before, []]);
});

test('notices an API server that is upgraded beyond the payload', async () => {
  const { run, condition, version, clock } = begin();
  await run();
  version('v1.40.0');
  await clock.advance(300_000);
  expect(condition()).toMatchObject({ status: 'False', reason: 'SERVER_VERSION_UNSUPPORTED' });
});

test('restores a ConfigMap that a user deletes or changes, and keeps keys of others', async () => {
  const bench = begin(classE);
  const { api, condition, map } = bench;
  await bench.run();
  api.remove(configMaps, name, namespace);
  await settle();
  expect(condition()).toMatchObject({ status: 'False' });
  await bench.put(configMaps, { metadata: { name, namespace, uid: 'u' }, data: { conditions: 'x', mine: 'y' } });
  expect(condition()).toMatchObject({ status: 'False' });
  expect(map()?.data?.['mine']).toBe('y');
});
