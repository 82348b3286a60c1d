import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { reportName } from '../../src/contract/agent-report.ts';
import { configMapName, namespaceName } from '../../src/contract/names.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { ApiError, isNotFound, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { leases } from '../../src/kube/resources.ts';
import { machines } from '../../src/kube/resources-openshift.ts';
import { startCluster } from '../kit/cluster/cluster.ts';
import { installedRights } from '../kit/install-manifests.ts';
import * as hosts from '../kit/installed-hosts.ts';
import { infrastructure, openshiftCluster } from '../kit/openshift-objects.ts';
import { type OperatorScene, operatorScene, type RunningOperator } from '../kit/operator-scene.ts';

interface Setup {
  scene: OperatorScene;
  admin: Client;
  namespace: string;
  operator: RunningOperator;
  /** Reports the changes that late caches have not seen. */
  release: () => void;
  /** Connections to hosts. */
  opened: () => number;
  /** Nodes without what heartbeats change. */
  nodes: () => Promise<unknown>;
  instances: () => Promise<string[]>;
  /** Cluster roles of the agents' own Nodes. */
  agentRoles: () => Promise<string[]>;
}

/** The operator with five configured hosts, after its first passes. */
async function setUp(caches: 'current' | 'late' = 'current'): Promise<Setup> {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const objects = openshiftCluster({ infrastructure: infrastructure('None') });
  const { url, ca, kubeconfigText: kubeconfig } = cluster;
  const scene = await operatorScene({ url, ca, kubeconfig, objects });
  onTestFinished(() => scene[Symbol.asyncDispose]());
  const { admin, namespace } = scene;
  await hosts.addConfiguredHosts(scene);
  const { connect, opened } = hosts.countConnections();
  const late = caches === 'late' ? hosts.withLateWatches(await scene.asOperator()) : undefined;
  if (late !== undefined) onTestFinished(() => late.client.close());
  const operator = await scene.start({}, { connect, ...(late && { client: late.client }) });
  const agentRoles = async () => namesOf(await admin.list(kinds.clusterRoles)).filter(name => /:win-\d$/.test(name));
  const reports = async () => namesOf(await admin.list(kinds.configMaps, { namespace })).filter(isReport);
  await expect.poll(agentRoles).toHaveLength(hosts.nodeNames.length);
  await expect.poll(reports).toHaveLength(hosts.nodeNames.length);
  return {
    scene,
    admin,
    namespace,
    operator,
    release: late?.release ?? (() => undefined),
    opened,
    agentRoles,
    nodes: async () =>
      (await admin.list(kinds.nodes)).items.map(({ metadata: { name, uid, labels, annotations }, spec }) => {
        return { name, uid, labels, annotations, spec };
      }),
    instances: async () => namesOf(await admin.list(windowsInstances, { namespace })),
  };
}

const namesOf = ({ items }: { items: readonly KubeResource[] }) => items.map(({ metadata }) => metadata.name ?? '');
const isReport = (name: string) => hosts.nodeNames.some(node => reportName(node) === name);
const fromSources = [...hosts.listed, hosts.machine].sort();

async function isGone(admin: Client, resource: Resource, name: string, place: object = {}): Promise<boolean> {
  return (await admin.find(resource, name, place)) === undefined;
}
const deleteNamespace = async ({ admin, namespace }: Setup) => {
  await admin.delete(kinds.namespaces, namespace);
  await expect.poll(() => isGone(admin, kinds.namespaces, namespace)).toBe(true);
};
const deleteDefinition = async ({ admin }: Setup) => {
  await admin.delete(kinds.customResourceDefinitions, hosts.crdName);
  await expect.poll(() => isGone(admin, kinds.customResourceDefinitions, hosts.crdName)).toBe(true);
};
async function deletePermissions({ admin }: Setup): Promise<void> {
  const byKind = new Map<string, Resource>(
    [kinds.roles, kinds.roleBindings, kinds.clusterRoles, kinds.clusterRoleBindings].map(each => [each.kind, each]),
  );
  for (const { kind, metadata } of installedRights('openshift')) {
    const resource = byKind.get(kind);
    const { name, namespace } = metadata;
    if (resource === undefined) continue;
    const place = namespace === undefined ? {} : { namespace };
    await admin.delete(resource, name ?? '', place).catch(unless(isNotFound));
  }
}

/** Nodes, their agents' permissions and Machines are as before, and no host was touched. */
async function expectUntouched({ admin, nodes, opened, agentRoles }: Setup, before: unknown): Promise<void> {
  expect(await nodes()).toEqual(before);
  expect(await agentRoles()).toHaveLength(hosts.nodeNames.length);
  expect(namesOf(await admin.list(machines, { namespace: namespaceName.machineApi }))).toEqual([hosts.machine]);
  expect(opened()).toBe(0);
}

/** Errors beside those of an operator whose account and permissions were deleted with the namespace. */
function unexpectedErrors({ log }: RunningOperator): string[] {
  const errors = log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields['error']);
  return errors
    .filter(error => !(error instanceof ApiError && [401, 403].includes(error.code)))
    .map(error => String(error));
}

async function expectInstancesBack({ scene, instances }: Setup): Promise<void> {
  await hosts.installAgain(scene);
  await expect.poll(async () => (await instances()).sort()).toEqual(fromSources);
}

/** What a user does to remove the operator, with the operator running unless it is stopped first. */
const uninstalls: [about: string, caches: 'current' | 'late', uninstall: (setup: Setup) => Promise<void>][] = [
  ['the namespace is deleted', 'current', deleteNamespace],
  [
    'operator, permissions, CRD and namespace are deleted in this order',
    'current',
    async setup => {
      await setup.operator.stop();
      await deletePermissions(setup);
      await deleteDefinition(setup);
      await deleteNamespace(setup);
    },
  ],
  [
    'ConfigMap, CRD and namespace are deleted and the caches are late',
    'late',
    async setup => {
      const { admin, namespace } = setup;
      await admin.delete(kinds.configMaps, configMapName.instances, { namespace });
      await deleteDefinition(setup);
      await deleteNamespace(setup);
      setup.release();
    },
  ],
];
/** Shows that nothing happens: what the operator does after a change takes much less. */
const quietMs = 2000;
for (const [about, caches, uninstall] of uninstalls) {
  test(`Nodes stay untouched when ${about}, and instances come back after a new installation`, async () => {
    const setup = await setUp(caches);
    const before = await setup.nodes();
    await uninstall(setup);
    await delay(quietMs);
    await expectUntouched(setup, before);
    expect(unexpectedErrors(setup.operator)).toEqual([]);
    await setup.operator.stop();
    await hosts.installAgain(setup.scene);
    await setup.scene.start({}, { connect: hosts.countConnections().connect });
    await expectInstancesBack(setup);
  });
}

test('a CRD that is deleted while the operator runs changes no Node, and the operator continues when it is back', async () => {
  const setup = await setUp();
  const before = await setup.nodes();
  await deleteDefinition(setup);
  await expect.poll(() => setup.operator.log.messages('warn')).toContain('List or watch failed; retrying');
  await expectUntouched(setup, before);
  await expectInstancesBack(setup);
  const failed = setup.operator.ended.then(
    () => 'ended',
    () => 'failed',
  );
  expect(await Promise.race([failed, Promise.resolve('running')])).toBe('running');
});

test('only Nodes own objects of the operator', async () => {
  const { admin, namespace } = await setUp();
  const own: readonly Resource[] = [
    kinds.configMaps,
    kinds.secrets,
    kinds.services,
    kinds.serviceAccounts,
    kinds.roles,
    kinds.roleBindings,
    leases,
    windowsInstances,
  ];
  const lists = await Promise.all([
    ...own.map(resource => admin.list(resource, { namespace })),
    ...[kinds.clusterRoles, kinds.clusterRoleBindings].map(resource => admin.list<KubeResource>(resource)),
    admin.list(kinds.secrets, { namespace: namespaceName.machineApi }),
  ]);
  const owners = lists.flatMap(({ items }) => items.flatMap(({ metadata }) => metadata.ownerReferences ?? []));
  expect(new Set(owners.map(({ kind }) => kind))).toEqual(new Set(['Node']));
});

test('a deleted Machine leaves nothing behind', async () => {
  const { admin, namespace, agentRoles, instances, opened } = await setUp();
  const keys = { metadata: { name: configMapName.hostKeys, namespace }, data: { '10.0.0.4': 'ssh-ed25519 AAAA' } };
  await admin.create(kinds.configMaps, keys);
  await admin.delete(machines, hosts.machine, { namespace: namespaceName.machineApi });
  await expect.poll(instances).not.toContain(hosts.machine);
  await admin.delete(kinds.nodes, 'win-4');
  await expect.poll(agentRoles).toHaveLength(4);
  await expect.poll(() => isGone(admin, kinds.configMaps, reportName('win-4'), { namespace })).toBe(true);
  expect((await admin.get(kinds.configMaps, configMapName.hostKeys, { namespace })).data ?? {}).toEqual({});
  const permissions = async () => {
    const lists = await Promise.all([
      admin.list(kinds.roles, { namespace }),
      admin.list(kinds.roleBindings, { namespace }),
      admin.list<KubeResource>(kinds.clusterRoleBindings),
    ]);
    return lists.flatMap(namesOf).filter(name => name.endsWith(':win-4'));
  };
  await expect.poll(permissions).toEqual([]);
  expect(opened()).toBe(0);
});
