import { expect, onTestFinished, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { printManifest } from '#contract/services/print.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { servicesManifest } from '#node/desired/services.ts';
import { benchSettings, fixedFacts, unknownFacts, defaultFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { benchNamespace as namespace, benchVersion, sourceBench } from '../../../test/kit/source-bench.ts';
import { agentAccessController } from './controller.ts';
import { type AccessObject, kubeProxyBinding } from './desired.ts';

const access: readonly Resource<AccessObject>[] = [
  kinds.serviceAccounts,
  kinds.roles,
  kinds.roleBindings,
  kinds.clusterRoles,
  kinds.clusterRoleBindings,
];

const settings = { allowLastingTokens: false };

function begin(facts = fixedFacts(), kind: 'openshift' | 'kubernetes' = 'openshift') {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api } = bench;
  const controller = agentAccessController({ ...bench.parts, facts, kind, settings });
  const all = () =>
    access.flatMap(resource =>
      api
        .all<KubeResource>(resource)
        .map(({ metadata }) => `${resource.plural} ${metadata.namespace ?? ''}/${metadata.name}`),
    );
  const writes = () =>
    api.calls
      .filter(({ verb }) => verb !== 'get' && verb !== 'list')
      .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
  return { ...bench, facts, all, writes, run: () => bench.start(controller) };
}

const agent = { keyHash: 'a', installed: '2026-03-01T12:00:00Z' };
const windowsNode = (name: string, annotations: Record<string, string> = {}, uid = `uid-${name}`) => ({
  metadata: { name, uid, labels: { 'kubernetes.io/os': 'windows' }, annotations },
});
const at = (version: string) => ({ [nodeAnnotation.version]: version });
const instanceOf = (node: string, status: WindowsInstanceStatus = { agent }): WindowsInstance => ({
  metadata: { name: `instance-${node}`, namespace },
  spec: { address: '10.0.0.5', username: 'Administrator' },
  status: { host: { name: node, addresses: [] }, ...status },
});
/** A Node with the instance that is bound to it. */
function join({ api }: Pick<ReturnType<typeof begin>, 'api'>, name: string, status?: WindowsInstanceStatus): void {
  api.put(windowsInstances, instanceOf(name, status));
  api.put(kinds.nodes, windowsNode(name));
}
const roleOf = (node: string) => `windows-instance-config-daemon:${node}`;
const cloudRoleOf = (node: string) => `windows-instance-config-daemon-cloud:${node}`;

test('makes everything that agents share', async () => {
  const { run, all } = begin();
  await run();
  expect(all()).toHaveLength(9);
  expect(all()).toContain('clusterrolebindings /system-wicd-nodes');
  expect(all()).toContain(`serviceaccounts ${namespace}/windows-instance-config-daemon`);
});

test('makes the account of kubelets on clusters without one', async () => {
  const { run, all } = begin(fixedFacts(), 'kubernetes');
  await run();
  expect(all()).toContain(`serviceaccounts ${namespace}/node-bootstrapper`);
});

test('lets kube-proxy read Services where OpenShift does not, and repairs the binding', async () => {
  const { run, api } = begin(fixedFacts(), 'kubernetes');
  const binding = () => api.peek(kinds.clusterRoleBindings, kubeProxyBinding);
  await run();
  const made = binding() as kinds.RoleBindingObject;
  expect(made).toMatchObject({ roleRef: { name: 'system:node-proxier' }, subjects: [{ name: 'system:nodes' }] });
  api.put(kinds.clusterRoleBindings, { ...made, subjects: [] });
  await settle();
  expect(binding()?.subjects).toEqual(made.subjects);
  api.remove(kinds.clusterRoleBindings, kubeProxyBinding);
  await settle();
  expect(binding()?.subjects).toEqual(made.subjects);
});

test('does nothing the second time', async () => {
  const { run, writes, api, facts } = begin();
  await run();
  const before = writes().length;
  facts.become({});
  api.put(kinds.configMaps, { metadata: { name: 'windows-instances', namespace } });
  await settle();
  expect(writes()).toHaveLength(before);
});

test('gives the agent of a Node its role as soon as an instance is bound to it, whatever the Node says', async () => {
  const { run, api, all } = begin();
  api.put(kinds.nodes, windowsNode('win-1', { [nodeAnnotation.pubKeyHash]: 'x', ...at('v1') }));
  await run();
  expect(all().join()).not.toContain(roleOf('win-1'));
  api.put(windowsInstances, instanceOf('win-1', {}));
  await settle();
  expect(api.peek(kinds.clusterRoles, roleOf('win-1'))).toMatchObject({
    rules: [{ resources: ['nodes'], resourceNames: ['win-1'], verbs: ['get', 'list', 'watch'] }],
    metadata: { ownerReferences: [{ kind: 'Node', name: 'win-1', uid: 'uid-win-1' }] },
  });
  expect(api.peek(kinds.roles, roleOf('win-1'), namespace)?.rules).toMatchObject([
    { resources: ['configmaps'], resourceNames: ['wicd-report-win-1'], verbs: ['get', 'update', 'patch'] },
  ]);
  expect(api.peek(kinds.clusterRoleBindings, roleOf('win-1'))?.subjects).toMatchObject([
    { name: 'system:wicd-node:win-1' },
  ]);
});

test('gives Linux nodes nothing', async () => {
  const { run, api, all } = begin();
  const node = windowsNode('linux-1');
  api.put(kinds.nodes, { metadata: { ...node.metadata, labels: { 'kubernetes.io/os': 'linux' } } });
  await run();
  expect(all()).toHaveLength(9);
});

test('gives the cloud node manager of Azure what it needs', async () => {
  const bench = begin(fixedFacts({ platform: 'Azure' }));
  join(bench, 'win-1');
  await bench.run();
  expect(bench.api.peek(kinds.clusterRoles, cloudRoleOf('win-1'))?.rules).toHaveLength(2);
  expect(bench.api.peek(kinds.clusterRoles, roleOf('win-1'))?.rules).toHaveLength(1);
});

test('waits for the platform, and then knows', async () => {
  const bench = begin(unknownFacts());
  const { run, api, facts, clock } = bench;
  join(bench, 'win-1');
  await run();
  expect(api.peek(kinds.clusterRoles, roleOf('win-1'))).toBeUndefined();
  facts.become({ platform: 'Azure' });
  await clock.advance(10_000);
  expect(api.peek(kinds.clusterRoles, cloudRoleOf('win-1'))?.rules).toHaveLength(2);
});

const ends: [name: string, end: (api: ReturnType<typeof begin>['api']) => void][] = [
  ['is gone', api => api.remove(kinds.nodes, 'win-1')],
  ['belongs to no instance any more', api => api.remove(windowsInstances, 'instance-win-1', namespace)],
];
for (const [name, end] of ends) {
  test(`takes the role back when the Node ${name}`, async () => {
    const bench = begin(fixedFacts({ platform: 'Azure' }));
    const { run, api, all } = bench;
    join(bench, 'win-1');
    join(bench, 'win-2');
    await run();
    end(api);
    await settle();
    expect(all().filter(each => each.includes('win-1'))).toEqual([]);
    expect(all().filter(each => each.includes('win-2'))).toHaveLength(6);
  });
}

test('takes roles back of Nodes that went while the operator was down', async () => {
  const { run, api, all } = begin();
  const labels = { 'app.kubernetes.io/part-of': 'wicd' };
  api.put(kinds.clusterRoles, { metadata: { name: roleOf('gone'), labels } });
  await run();
  expect(all().join()).not.toContain('daemon:gone');
});

test('makes the role over to a Node that was created again', async () => {
  const bench = begin();
  const { run, api } = bench;
  join(bench, 'win-1');
  await run();
  api.put(kinds.nodes, windowsNode('win-1', {}, 'uid-2'));
  await settle();
  expect(api.peek(kinds.clusterRoles, roleOf('win-1'))?.metadata.ownerReferences?.[0]?.uid).toBe('uid-2');
});

const harms: [name: string, harm: (api: ReturnType<typeof begin>['api']) => void][] = [
  ['the deletion of a role', api => api.remove(kinds.clusterRoles, roleOf('win-1'))],
  ['the deletion of a binding', api => api.remove(kinds.clusterRoleBindings, roleOf('win-1'))],
  [
    'the deletion of the account',
    api => api.remove(kinds.serviceAccounts, 'windows-instance-config-daemon', namespace),
  ],
  ['the deletion of a role of the namespace', api => api.remove(kinds.roles, 'system-wicd-nodes', namespace)],
  ['the deletion of the role for a report', api => api.remove(kinds.roles, roleOf('win-1'), namespace)],
  ['a role that was widened', api => edit(api, kinds.clusterRoles, roleOf('win-1'), { rules: [] })],
  ['a role of all that was widened', api => edit(api, kinds.clusterRoles, 'system-wicd-nodes', { rules: null })],
  ['a binding for somebody else', api => edit(api, kinds.clusterRoleBindings, roleOf('win-1'), { subjects: [] })],
];
for (const [name, harm] of harms) {
  test(`repairs ${name}`, async () => {
    const bench = begin();
    const { run, api } = bench;
    join(bench, 'win-1');
    await run();
    const good = snapshot(api);
    harm(api);
    expect(snapshot(api)).not.toEqual(good);
    await settle();
    expect(snapshot(api)).toEqual(good);
  });
}

function edit(
  api: ReturnType<typeof begin>['api'],
  resource: Resource<AccessObject>,
  name: string,
  more: Partial<AccessObject>,
) {
  const object = api.peek(resource, name);
  if (object !== undefined) api.put(resource, { ...object, ...more });
}

/** Everything that decides about rights, without what changes with each write. */
function snapshot(api: ReturnType<typeof begin>['api']): string[] {
  return access
    .flatMap(resource =>
      api
        .all<AccessObject>(resource)
        .map(({ metadata: { name, namespace: place, labels, ownerReferences }, rules, subjects, roleRef }) =>
          JSON.stringify([resource.kind, place, name, labels, ownerReferences, rules, subjects, roleRef]),
        ),
    )
    .sort();
}

test('repairs what the Go operator has left, though it bears no label of the operator', async () => {
  const { run, api, writes } = begin();
  const metadata = { name: 'windows-instance-config-daemon' };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  api.put(kinds.clusterRoleBindings, { metadata, roleRef, subjects: [] });
  api.put(kinds.clusterRoles, { metadata: { name: 'system-wicd-nodes' }, rules: [] });
  await run();
  expect(api.peek(kinds.clusterRoleBindings, metadata.name)).toMatchObject({
    roleRef: { name: 'windows-instance-config-daemon' },
    subjects: [{ kind: 'ServiceAccount' }],
    metadata: { labels: { 'app.kubernetes.io/part-of': 'wicd' } },
  });
  expect(api.peek(kinds.clusterRoles, 'system-wicd-nodes')?.rules).not.toEqual([]);
  expect(writes()).toContain('delete clusterrolebindings windows-instance-config-daemon');
  expect(writes()).toContain('replace clusterroles system-wicd-nodes');
});

test('lets agents read each services ConfigMap as it comes, and no longer when it goes', async () => {
  const { run, api } = begin();
  await run();
  const names = () => api.peek(kinds.roles, 'system-wicd-nodes', namespace)?.rules?.[0]?.resourceNames;
  api.put(kinds.configMaps, { metadata: { name: 'windows-services-old', namespace } });
  await settle();
  expect(names()).toEqual([`windows-services-${benchVersion}`, 'windows-services-old']);
  api.remove(kinds.configMaps, 'windows-services-old', namespace);
  await settle();
  expect(names()).toEqual([`windows-services-${benchVersion}`]);
});

/** A cluster with a services ConfigMap of the Go operator. */
function beginWithGo() {
  const bench = begin();
  const { api } = bench;
  const services = (name: string, data: Record<string, string>) =>
    api.put(kinds.configMaps, { metadata: { name: `windows-services-${name}`, namespace }, data });
  services('go', { services: '[]', files: '[]' });
  services(benchVersion, printManifest(servicesManifest(defaultFacts, benchSettings)));
  const text = (resource: Resource<AccessObject>, name: string) =>
    JSON.stringify(api.peek(resource, name, resource.namespaced ? namespace : '')?.rules);
  return {
    ...bench,
    accountSeesNodes: () => text(kinds.clusterRoles, 'windows-instance-config-daemon').includes('"nodes"'),
    patchesNodes: (node: string) => text(kinds.clusterRoles, roleOf(node)).includes('"patch"'),
    readsAllMaps: (node: string) => !text(kinds.roles, roleOf(node)).includes('resourceNames'),
  };
}

test('a Node that calls itself one of the Go operator gets no agent wider rights', async () => {
  const bench = beginWithGo();
  join(bench, 'win-1');
  join(bench, 'win-2');
  await bench.run();
  const before = snapshot(bench.api);
  bench.api.put(kinds.nodes, windowsNode('win-1', at('go')));
  await settle();
  expect(snapshot(bench.api)).toEqual(before);
  expect([bench.accountSeesNodes(), bench.patchesNodes('win-1'), bench.readsAllMaps('win-1')]).toEqual([
    false,
    false,
    false,
  ]);
});

test('agents of the Go operator have their rights per node, until they are replaced', async () => {
  const bench = beginWithGo();
  join(bench, 'win-1', { version: 'go' });
  join(bench, 'win-2');
  await bench.run();
  const rights = () =>
    ['win-1', 'win-2'].map(node => [bench.patchesNodes(node), bench.readsAllMaps(node)].every(Boolean));
  expect([rights(), bench.accountSeesNodes()]).toEqual([[true, false], true]);
  bench.api.put(windowsInstances, instanceOf('win-1', { version: 'go', agent }));
  await settle();
  expect([rights(), bench.accountSeesNodes()]).toEqual([[false, false], false]);
});

test('a Node of the Go operator that has yet to be adopted keeps its rights', async () => {
  const bench = beginWithGo();
  bench.api.put(kinds.nodes, windowsNode('win-1', at('go')));
  await bench.run();
  expect([bench.patchesNodes('win-1'), bench.accountSeesNodes()]).toEqual([true, true]);
  bench.api.remove(kinds.configMaps, 'windows-services-go', namespace);
  await settle();
  expect(bench.api.peek(kinds.clusterRoles, roleOf('win-1'))).toBeUndefined();
  expect(bench.accountSeesNodes()).toBe(false);
});

test('does not look at every heartbeat of a Node', async () => {
  const bench = begin();
  const { run, api, parts } = bench;
  join(bench, 'win-1');
  await run();
  const before = api.calls.length;
  api.put(kinds.nodes, { ...windowsNode('win-1'), status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  await settle();
  expect(api.calls).toHaveLength(before);
  expect(parts.namespace).toBe(namespace);
});

const races: [name: string, verb: string, code: number, reason: string][] = [
  ['one that was changed a moment ago', 'replace', 409, 'Conflict'],
  ['one that is gone already', 'replace', 404, 'NotFound'],
  ['one that nobody finds to delete', 'delete', 404, 'NotFound'],
];
for (const [name, verb, code, reason] of races) {
  test(`is not troubled by ${name}`, async () => {
    const { run, api, log } = begin();
    const labels = { 'app.kubernetes.io/part-of': 'wicd' };
    api.put(kinds.clusterRoles, { metadata: { name: 'system-wicd-nodes', labels }, rules: [] });
    api.put(kinds.clusterRoles, { metadata: { name: roleOf('gone'), labels }, rules: [] });
    api.before = call => {
      if (call.verb === verb) throw refused(code, reason);
    };
    await run();
    expect(log.messages('error')).toEqual([]);
  });
}

test('retries when the server refuses, and one Node does not hold up another', async () => {
  const bench = begin();
  const { run, api, clock, log } = bench;
  join(bench, 'bad');
  join(bench, 'good');
  let isBroken = true;
  api.before = ({ verb, name }) => {
    if (isBroken && verb === 'create' && name === roleOf('bad')) throw refused(403, 'Forbidden');
  };
  await run();
  expect(api.peek(kinds.clusterRoles, roleOf('good'))).toBeDefined();
  expect(log.messages('error')).toContain('Reconcile failed; retrying');
  isBroken = false;
  await clock.advance(60_000);
  expect(api.peek(kinds.clusterRoles, roleOf('bad'))).toBeDefined();
});

test('creates a binding later when the API server does not see its new role yet', async () => {
  const bench = begin();
  const { run, api, clock, log } = bench;
  join(bench, 'win-1');
  let refusals = 0;
  api.before = ({ verb, resource }) => {
    if (verb !== 'create' || resource !== kinds.roleBindings.plural || refusals > 0) return;
    refusals += 1;
    throw refused(404, 'NotFound');
  };
  await run();
  await clock.advance(500);
  expect([refusals, log.messages('error')]).toEqual([1, []]);
  expect(api.all(kinds.roleBindings)).toHaveLength(api.all(kinds.roles).length);
});
