import { expect } from 'vitest';
import { toBase64 } from '../../src/base/bytes.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import {
  agentName,
  configMapName,
  exporterService,
  namespaceName,
  nodeAnnotation,
  operatorName,
  secretKey,
  secretName,
} from '../../src/contract/names.ts';
import * as kinds from '../../src/kube/resources.ts';
import { machines, operatorConditions } from '../../src/kube/resources-openshift.ts';
import { installDefinitions } from './cluster/openshift-crds.ts';
import { makeNamespace, makePod, running, setPodStatus } from './cluster-pods.ts';
import type { FreshCluster } from './fresh-cluster.ts';
import { type InstalledOperator, installedOperator } from './installed-operator.ts';
import { newPrivateKey } from './new-private-key.ts';
import { ask } from './running-server.ts';
import { createMachine, createMachineSet } from './winhost/real-machine.ts';

/** A story in which the operator uses each of its rights on OpenShift. */

const rbac = 'rbac.authorization.k8s.io';
const machineName = 'winworker-1';
const patience = { timeout: 60_000, interval: 100 };

/** What earlier versions, the Go operator and administrators with good intentions left behind. */
export async function leaveTraces({ admin, namespace }: FreshCluster): Promise<void> {
  const wrong = { apiGroup: rbac, kind: 'ClusterRole', name: 'view' };
  const group = [{ kind: 'Group', name: 'strangers', apiGroup: rbac }];
  const stale = { name: `${agentName}:gone`, labels: { 'app.kubernetes.io/part-of': 'wicd' } };
  const inNamespace = (name: string) => ({ metadata: { name, namespace } });
  // Without labels, with other rules and for others.
  await admin.create(kinds.clusterRoles, { metadata: { name: agentName }, rules: [] });
  await admin.create(kinds.clusterRoleBindings, { metadata: { name: agentName }, roleRef: wrong, subjects: group });
  await admin.create(kinds.roles, { ...inNamespace('system-wicd-nodes'), rules: [] });
  const ownRole = { apiGroup: rbac, kind: 'Role', name: 'system-wicd-nodes' };
  await admin.create(kinds.roleBindings, { ...inNamespace('system-wicd-nodes'), roleRef: ownRole, subjects: group });
  const clusterRole = { apiGroup: rbac, kind: 'ClusterRole', name: 'system-wicd-nodes' };
  await admin.create(kinds.clusterRoleBindings, {
    metadata: { name: 'system-wicd-nodes' },
    roleRef: clusterRole,
    subjects: group,
  });
  await admin.create(kinds.roleBindings, { ...inNamespace(agentName), roleRef: wrong, subjects: group });
  // Of a Node that does not exist any more.
  await admin.create(kinds.clusterRoles, { metadata: stale, rules: [] });
  await admin.create(kinds.clusterRoleBindings, {
    metadata: stale,
    roleRef: { ...wrong, name: stale.name },
    subjects: [],
  });
  await admin.create(kinds.roles, { metadata: { ...stale, namespace }, rules: [] });
  await admin.create(kinds.roleBindings, {
    metadata: { ...stale, namespace },
    roleRef: { apiGroup: rbac, kind: 'Role', name: stale.name },
    subjects: [],
  });
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'earlier', uid: '00000000-0000-4000-8000-000000000000' };
  await admin.create(kinds.configMaps, {
    metadata: { name: configMapName.leaderLock, namespace, ownerReferences: [owner] },
  });
  const annotations = { [nodeAnnotation.pubKeyHash]: 'of-a-linux-node' };
  await admin.patch(kinds.nodes, 'east-master-0', { type: 'merge', body: { metadata: { annotations } } });
}

/** As OLM makes it for a version. */
export async function makeOperatorCondition({ admin, namespace }: FreshCluster): Promise<string> {
  await installDefinitions(admin, ['operatorconditions.operators.coreos.com']);
  const name = `${operatorName}.v11.0.0`;
  await admin.create(operatorConditions, { metadata: { name, namespace }, spec: {} });
  return name;
}

/** Two listed hosts, a Machine, and an instance with a key of its own whose host does not exist. */
export async function join(fresh: FreshCluster, operator: InstalledOperator): Promise<void> {
  const { admin, namespace } = fresh;
  await fresh.givePrivateKey();
  const hosts = [await fresh.addHost('win-1'), await fresh.addHost('win-2')];
  await fresh.list(hosts);
  const machine = await fresh.addHost(machineName, 'capi');
  const owner = await createMachineSet(admin);
  await createMachine(admin, { name: machineName, address: machine.spec.address, owner, boot: async () => undefined });
  await expectReady(fresh, operator, [...hosts.map(({ spec }) => spec.address), machineName]);
  const spec = { address: '10.99.99.99', username: 'Administrator', keySecret: { name: 'own-key' } };
  await admin.create(windowsInstances, { metadata: { name: 'with-own-key', namespace }, spec });
}

async function expectReady(
  { admin, namespace }: FreshCluster,
  operator: InstalledOperator,
  names: readonly string[],
): Promise<void> {
  const ready = async () => {
    const { items } = await admin.list(windowsInstances, { namespace });
    return items.flatMap(({ metadata, status }) => (status?.phase === 'Ready' ? (metadata.name ?? '') : []));
  };
  try {
    await expect.poll(async () => (await ready()).toSorted(), patience).toEqual([...names].toSorted());
  } catch (cause) {
    const warnings = operator.log.lines.filter(({ level }) => level !== 'info' && level !== 'debug');
    throw new Error(
      `not Ready:\n${warnings.map(({ message, fields }) => `${message}: ${String(fields['error'])}`).join('\n')}`,
      { cause },
    );
  }
}

/** Prometheus asks for metrics with its token. */
export async function scrape({ log }: InstalledOperator, token: string): Promise<number> {
  const line = log.lines.find(({ message }) => message === 'Starting metrics server');
  const [, port] = /:(\d+)$/.exec(String(line?.fields['address'])) ?? [];
  return (
    await ask(`https://127.0.0.1:${port}/metrics`, {
      headers: { authorization: `Bearer ${token}` },
      rejectUnauthorized: false,
    })
  ).code;
}

/** Somebody changes what the operator keeps. */
export async function tamper({ admin, namespace }: FreshCluster): Promise<void> {
  const { machineApi, clusterApi } = namespaceName;
  const textIn = async (place: string) =>
    (await admin.get(kinds.secrets, secretName.userData, { namespace: place })).data?.[secretKey.userData];
  const text = await textIn(machineApi);
  for (const place of [clusterApi, machineApi]) {
    const body = { data: { [secretKey.userData]: toBase64('other') } };
    await admin.patch(kinds.secrets, secretName.userData, { type: 'merge', body }, { namespace: place });
  }
  await spoilService(admin, namespace);
  const withoutLabels = { type: 'merge', body: { metadata: { labels: null } } } as const;
  await admin.patch(kinds.serviceAccounts, agentName, withoutLabels, { namespace });
  for (const place of [machineApi, clusterApi]) await expect.poll(() => textIn(place), patience).toBe(text);
  const label = async () =>
    (await admin.get(kinds.services, exporterService.name, { namespace })).metadata.labels?.['name'];
  await expect.poll(label, patience).toBe(exporterService.name);
  const account = async () => (await admin.get(kinds.serviceAccounts, agentName, { namespace })).metadata.labels;
  await expect.poll(account, patience).toBeDefined();
  await expectTokenDeleted(admin, namespace);
}

/** A token that never expires, as agents of the Go operator share one. */
async function expectTokenDeleted(admin: FreshCluster['admin'], namespace: string): Promise<void> {
  const annotations = { 'kubernetes.io/service-account.name': agentName };
  const metadata = { name: secretName.agentToken, namespace, annotations };
  await admin.create(kinds.secrets, { metadata, type: 'kubernetes.io/service-account-token' });
  await expect.poll(() => admin.find(kinds.secrets, secretName.agentToken, { namespace }), patience).toBeUndefined();
}

/** Takes from the Service of the exporters what the operator has to put back. */
export async function spoilService(admin: FreshCluster['admin'], namespace: string): Promise<void> {
  const body = { metadata: { labels: { name: 'other' } } };
  await admin.patch(kinds.services, exporterService.name, { type: 'merge', body }, { namespace });
}

const shop = 'shop';

/** A pod on each listed host, which a budget holds there until `letGo`. */
export async function holdPods({ admin, cluster }: FreshCluster): Promise<{ letGo(): Promise<void> }> {
  await makeNamespace(admin, shop);
  const labels = { app: 'web' };
  for (const nodeName of ['win-1', 'win-2']) {
    const pod = await makePod(admin, { name: `web-${nodeName}`, namespace: shop, labels }, { nodeName });
    await setPodStatus(admin, pod, running);
  }
  const budgets = cluster.minor >= 21 ? kinds.podDisruptionBudgets : kinds.podDisruptionBudgetsV1beta1;
  const spec = { minAvailable: 2, selector: { matchLabels: labels } };
  await admin.create(budgets, { metadata: { name: 'web', namespace: shop }, spec });
  return { letGo: () => admin.delete(budgets, 'web', { namespace: shop }) };
}

/** A new release, whose drain has to wait for a budget. */
export async function upgrade(fresh: FreshCluster, version: string, since: string): Promise<InstalledOperator> {
  const { admin, namespace } = fresh;
  const data = { first: '1', soak: '1s' };
  await admin.create(kinds.configMaps, { metadata: { name: configMapName.rollout, namespace }, data });
  const held = await holdPods(fresh);
  const operator = await installedOperator(fresh, { release: { version, since } });
  await expect.poll(() => operator.log.messages('info'), patience).toContain('Eviction rejected');
  await held.letGo();
  const upgraded = async () => {
    const { items } = await admin.list(windowsInstances, { namespace });
    return items.filter(({ status }) => status?.version === version && status.upgrade?.soaked !== undefined).length;
  };
  await expect.poll(upgraded, patience).toBe(2);
  return operator;
}

/** One listed host leaves, and a new private key makes the Machine useless. */
export async function leave(fresh: FreshCluster): Promise<void> {
  const { admin, namespace, fleet } = fresh;
  await fresh.list([fleet.host('win-1')]);
  await expect.poll(() => admin.find(kinds.nodes, 'win-2'), patience).toBeUndefined();
  const body = { data: { [secretKey.privateKey]: toBase64(newPrivateKey()) } };
  await admin.patch(kinds.secrets, secretName.privateKey, { type: 'merge', body }, { namespace });
  const place = { namespace: namespaceName.machineApi };
  await expect.poll(() => admin.find(machines, machineName, place), patience).toBeUndefined();
  const isLeaving = async () => {
    const found = await admin.find(windowsInstances, machineName, { namespace });
    return found === undefined || found.metadata.deletionTimestamp !== undefined;
  };
  await expect.poll(isLeaving, patience).toBe(true);
}
