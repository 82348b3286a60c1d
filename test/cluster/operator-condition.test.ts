import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Condition, findCondition } from '../../src/base/condition.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName } from '../../src/contract/names.ts';
import { defaultRollout } from '../../src/contract/rollout.ts';
import type { TimelineStep } from '../../src/contract/windows-instance/resource.ts';
import { conditionController, permissions } from '../../src/controllers/condition/controller.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { runManager } from '../../src/kube/controller/manager.ts';
import { noMetrics } from '../../src/kube/controller/metrics.ts';
import { EventRecorder } from '../../src/kube/events/events.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import { configMaps, customResourceDefinitions, events, namespaces } from '../../src/kube/resources.ts';
import { type OperatorCondition, operatorConditions } from '../../src/kube/resources-openshift.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { installDefinitions } from '../kit/cluster/openshift-crds.ts';
import { grant } from '../kit/grant.ts';
import { recordedLog } from '../kit/recorded-log.ts';
import { skippingClock } from '../kit/skipping-clock.ts';

/** The OperatorCondition on a real kube-apiserver, with the permissions of the manifests. */

const name = 'windows-machine-config-operator.v11.0.0';
const definition = 'operatorconditions.operators.coreos.com';
const minuteMs = 60_000;
const time = new Date().toISOString();
const other: Condition = { type: 'Other', status: 'False', reason: 'x', message: 'y', lastTransitionTime: time };

let cluster: Cluster;
let admin: Client;
beforeAll(async () => {
  cluster = await startCluster();
  admin = createClient(cluster.adminConfig);
  await installDefinitions(admin, [definition, 'windowsinstances.windowsmachineconfig.openshift.io']);
});
afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
});

/** A namespace of its own; the controller runs there from `run` to the end of the test. */
async function scene() {
  const namespace = `condition-${randomUUID().slice(0, 8)}`;
  const inNamespace = { namespace };
  await admin.create(namespaces, { metadata: { name: namespace } });
  await admin.create(configMaps, { metadata: { name: configMapName.operatorStatus, namespace } });
  await grant(admin, namespace, namespace, permissions);
  const clock = skippingClock();
  const run = () => {
    const client = createClient(loadKubeconfig(cluster.kubeconfigFor(namespace)));
    const { log, messages } = recordedLog();
    const informers = new Informers({ client });
    const recorder = new EventRecorder({ client, component: 'test' });
    const rollout = { grants: { settings: () => defaultRollout } };
    const parts = { client, informers, recorder, namespace, version: 'v', clock, log, metrics: noMetrics };
    const controller = conditionController({ ...parts, conditionName: name, rollout });
    const stop = new AbortController();
    const running = runManager({ caches: [informers], others: [recorder], leaderOnly: [controller], log }, stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await running;
      await client.close();
    });
    return { messages };
  };
  const find = () => admin.find(operatorConditions, name, inNamespace);
  const statusOf = (object: OperatorCondition | undefined) =>
    findCondition(object?.spec?.conditions, 'Upgradeable')?.status;
  const host = { metadata: { name: 'win-1', namespace }, spec: { address: '10.0.0.1', username: 'Administrator' } };
  return {
    namespace,
    clock,
    run,
    find,
    upgradeable: async () => statusOf(await find()),
    create: (conditions: Condition[] = []) =>
      admin.create(operatorConditions, { metadata: { name, namespace }, spec: { conditions } }),
    change: (spec: OperatorCondition['spec']) =>
      admin.patch(operatorConditions, name, { type: 'merge', body: { spec } }, inNamespace),
    /** The host is at this point of its upgrade. */
    report: async (steps: readonly string[]) => {
      await admin.create(windowsInstances, host).catch(() => undefined);
      const finished = new Date().toISOString();
      const timeline = steps.map((step): TimelineStep => ({ name: step, started: finished, finished, attempts: 1 }));
      const body = { status: { phase: 'Upgrading', timeline } };
      await admin.patch(windowsInstances, 'win-1', { type: 'merge', body }, { namespace, subresource: 'status' });
    },
    warnings: async () =>
      (await admin.list(events, inNamespace)).items.map(
        ({ involvedObject, reason, message }) => `${involvedObject.kind} ${reason} ${message}`,
      ),
  };
}

test('UPG-05: is False between cordon and uncordon, and leaves status, overrides and other conditions alone', async () => {
  const { run, create, change, report, upgradeable, find, namespace, warnings } = await scene();
  await create([other]);
  const overrides = [{ type: 'Upgradeable', status: 'True', reason: 'a', message: 'b', lastTransitionTime: time }];
  await change({ overrides });
  const status = { conditions: [other] };
  await admin.patch(
    operatorConditions,
    name,
    { type: 'merge', body: { status } },
    { namespace, subresource: 'status' },
  );
  run();
  await expect.poll(upgradeable).toBe('True');
  await report(['connect', 'cordon']);
  await expect.poll(upgradeable).toBe('False');
  await report(['connect', 'cordon', 'drain', 'uncordon']);
  await expect.poll(upgradeable).toBe('True');
  const conditions = [other, expect.objectContaining({ type: 'Upgradeable', reason: 'upgradeIsSafe' })] as unknown;
  expect(await find()).toMatchObject({ spec: { conditions, overrides }, status });
  expect(await warnings()).toEqual([]);
});

test('UPG-05: keeps what another program writes into the list at the same time', async () => {
  const { run, create, change, report, upgradeable, find } = await scene();
  await create();
  run();
  await expect.poll(upgradeable).toBe('True');
  const types = Array.from({ length: 20 }, (_, index) => `Other${index}`);
  const write = async () => {
    for (const type of types) {
      const before = await find();
      const conditions = [...(before?.spec?.conditions ?? []), { ...other, type }];
      const metadata = { resourceVersion: before?.metadata.resourceVersion };
      const body = { metadata, spec: { conditions } };
      await admin.patch(
        operatorConditions,
        name,
        { type: 'merge', body },
        { namespace: before?.metadata.namespace ?? '' },
      );
    }
  };
  // Either of the two may have to write again.
  const writing = write().catch(() => undefined);
  for (const steps of [['cordon'], ['cordon', 'uncordon'], ['cordon']]) await report(steps);
  await writing;
  await expect.poll(upgradeable).toBe('False');
  const found = (await find())?.spec?.conditions?.map(({ type }) => type) ?? [];
  expect(found.filter(type => type === 'Upgradeable')).toHaveLength(1);
  const others = found.filter(type => type !== 'Upgradeable');
  expect(others).toEqual(types.slice(0, others.length));
  expect(others.length).toBeGreaterThan(0);
  await change({ conditions: [] });
});

test('UPG-05: repairs a change of another program within a minute', async () => {
  const { run, create, change, upgradeable, find, clock } = await scene();
  await create();
  run();
  await expect.poll(upgradeable).toBe('True');
  for (const conditions of [[], [{ ...other, type: 'Upgradeable' }]]) {
    await change({ conditions });
    clock.skip(minuteMs);
    await expect.poll(async () => (await find())?.spec?.conditions).toMatchObject([{ reason: 'upgradeIsSafe' }]);
  }
});

test('UPG-05: a missing OperatorCondition, or API, is reported once, and found when it comes', async () => {
  const { run, create, upgradeable, warnings, clock } = await scene();
  const { messages } = run();
  await expect
    .poll(warnings)
    .toEqual([
      expect.stringMatching(/^ConfigMap OperatorConditionError Failed to get OperatorCondition CR: .*not found/),
    ]);
  for (let look = 0; look < 5; look += 1) clock.skip(minuteMs);
  await create();
  clock.skip(minuteMs);
  await expect.poll(upgradeable).toBe('True');
  await admin.delete(customResourceDefinitions, definition);
  await expect.poll(() => admin.find(customResourceDefinitions, definition)).toBeUndefined();
  await expect
    .poll(() => {
      clock.skip(minuteMs);
      return messages('warn').length;
    })
    .toBe(2);
  await installDefinitions(admin, [definition]);
  await create();
  await expect
    .poll(async () => {
      clock.skip(minuteMs);
      return upgradeable();
    })
    .toBe('True');
  expect(messages('error')).toEqual([]);
});
