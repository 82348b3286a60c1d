import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findCondition } from '../../src/base/condition.ts';
import type { PayloadRelease } from '../../src/bin/sandbox-factory.ts';
import { configMapName } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource, WatchEvent } from '../../src/kube/resource.ts';
import { configMaps, type Node } from '../../src/kube/resources.ts';
import { type OperatorCondition, operatorConditions } from '../../src/kube/resources-openshift.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { installDefinitions } from '../kit/cluster/openshift-crds.ts';
import { fastClock } from '../kit/fast-clock.ts';
import { recordNodes } from '../kit/node-history.ts';
import { recordObjects } from '../kit/object-history.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** What OLM is told while hosts are upgraded, compared with what happens to their Nodes. */

const old: PayloadRelease = { version: '11.0.0-a' };
const next: PayloadRelease = { version: '11.0.1-b', since: old.version };
const timeout = 300_000;
const hosts = 3;
const speed = 30;
const clock = fastClock(speed);
const conditionName = 'windows-machine-config-operator.v11.0.1';
const settings = { lease: { leaseDurationMs: 3e6, renewDeadlineMs: 2e6, retryPeriodMs: 2000 }, conditionName };
const operatorOf = (sandbox: Sandbox, release: PayloadRelease) =>
  startOperator(sandbox, { payloadBytes: 400_000, release, clock, settings });

async function joined() {
  const sandbox = await startSandbox({ hosts, listsNames: true, speed: 2, clock });
  const administrator = administratorOf(sandbox);
  const { client } = administrator;
  const { namespace } = sandbox;
  await installDefinitions(client, ['operatorconditions.operators.coreos.com']);
  await client.create(operatorConditions, { metadata: { name: conditionName, namespace }, spec: { conditions: [] } });
  // Wall time, unlike waits of the operator.
  const data = { first: '1', soak: '2s' };
  await client.create(configMaps, { metadata: { name: configMapName.rollout, namespace }, data });
  {
    await using operator = operatorOf(sandbox, old);
    await operator.allReady(hosts);
    await expect.poll(() => upgradeable(client, namespace), { timeout: 30_000 }).toBe('True');
  }
  return {
    sandbox,
    client,
    namespace,
    pause: (paused: 'true' | 'false') =>
      client.patch(configMaps, configMapName.rollout, { type: 'merge', body: { data: { paused } } }, { namespace }),
    async [Symbol.asyncDispose]() {
      await administrator[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}

async function upgradeable(client: Client, namespace: string): Promise<string | undefined> {
  return statusOf(await client.get(operatorConditions, conditionName, { namespace }));
}

const statusOf = ({ spec }: OperatorCondition) => findCondition(spec?.conditions, 'Upgradeable')?.status;

const upgraded = async (operator: SandboxOperator) =>
  (await operator.instances()).filter(({ status }) => status?.upgrade?.soaked !== undefined).length;

/** Changes of both in the order in which the API server made them: `cordon`, `False`, `uncordon`, `True`. */
function changesOf(nodes: readonly WatchEvent<Node>[], conditions: readonly WatchEvent<OperatorCondition>[]): string[] {
  const states = [
    ...nodes.map(({ object }) => ({ object, state: object.spec?.unschedulable === true ? 'cordon' : 'uncordon' })),
    ...conditions.map(({ object }) => ({ object, state: statusOf(object) ?? 'none' })),
  ];
  const last = new Map<string, string>();
  return states
    .sort((one, other) => versionOf(one.object) - versionOf(other.object))
    .flatMap(({ object, state }) => {
      const name = object.metadata.name ?? '';
      const before = last.get(name);
      last.set(name, state);
      return before === undefined || before === state ? [] : [state];
    });
}

const versionOf = ({ metadata }: KubeResource) => Number(metadata.resourceVersion);

async function record(client: Client, namespace: string) {
  const nodes = await recordNodes(client);
  const conditions = await recordObjects(client, operatorConditions, { namespace });
  return {
    changes: () => changesOf(nodes.events, conditions.events),
    conditions: () => conditions.events.map(({ object }) => statusOf(object)),
    async [Symbol.asyncDispose]() {
      await nodes[Symbol.asyncDispose]();
      await conditions[Symbol.asyncDispose]();
    },
  };
}

test('UPG-05: Upgradeable is False only between cordon and uncordon of each host, also when the operator is restarted there', {
  timeout,
}, async () => {
  await using scene = await joined();
  const { sandbox, client, namespace } = scene;
  await using history = await record(client, namespace);
  {
    await using operator = operatorOf(sandbox, next);
    await expect.poll(() => upgraded(operator), { timeout: 120_000 }).toBeGreaterThanOrEqual(1);
    await expect.poll(() => upgradeable(client, namespace), { timeout: 120_000, interval: 20 }).toBe('False');
  }
  await using operator = operatorOf(sandbox, next);
  await expect.poll(() => upgraded(operator), { timeout: 120_000 }).toBe(hosts);
  await expect.poll(() => upgradeable(client, namespace), { timeout: 30_000 }).toBe('True');
  const one = ['cordon', 'False', 'uncordon', 'True'];
  expect(history.changes()).toEqual([...one, ...one, ...one]);
});

test('UPG-05: Upgradeable is True while the roll-out is stopped, so that the fixed version can come', {
  timeout,
}, async () => {
  await using scene = await joined();
  const { sandbox, client, namespace } = scene;
  await using history = await record(client, namespace);
  {
    await using operator = operatorOf(sandbox, { ...next, kubelet: 'broken' });
    const isBack = async () =>
      (await operator.instances()).filter(({ status }) => status?.upgrade?.rolledBack !== undefined).length;
    await expect.poll(isBack, { timeout: 120_000 }).toBe(1);
    // Time for mistakes.
    await delay(2000);
  }
  // True comes before the uncordon: the roll-out is stopped as soon as the host has to go back.
  expect(history.changes()).toEqual(['cordon', 'False', 'True', 'uncordon']);
  await using operator = operatorOf(sandbox, { version: '11.0.2-c', since: next.version });
  await expect.poll(() => upgraded(operator), { timeout: 120_000 }).toBe(hosts);
  await expect.poll(() => upgradeable(client, namespace), { timeout: 30_000 }).toBe('True');
});

test('UPG-05: Upgradeable is True while the roll-out is paused', { timeout }, async () => {
  await using scene = await joined();
  const { sandbox, client, namespace, pause } = scene;
  await using operator = operatorOf(sandbox, next);
  await expect.poll(() => upgradeable(client, namespace), { timeout: 120_000, interval: 20 }).toBe('False');
  await pause('true');
  await expect.poll(() => upgradeable(client, namespace), { timeout: 30_000, interval: 20 }).toBe('True');
  {
    await using history = await record(client, namespace);
    await delay(3000);
    expect(new Set(history.conditions())).toEqual(new Set(['True']));
  }
  await pause('false');
  await expect.poll(() => upgraded(operator), { timeout: 120_000 }).toBe(hosts);
  await expect.poll(() => upgradeable(client, namespace), { timeout: 30_000 }).toBe('True');
});
