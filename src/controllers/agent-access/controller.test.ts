import { expect, onTestFinished, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { printManifest } from '#contract/services/print.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { servicesManifest } from '#node/desired/services.ts';
import { benchSettings, fixedFacts, unknownFacts, usualFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { benchNamespace as namespace, benchVersion, sourceBench } from '../../../test/kit/source-bench.ts';
import { agentAccessController } from './controller.ts';
import type { AccessObject } from './desired.ts';

const access: readonly Resource<AccessObject>[] = [
  kinds.serviceAccounts,
  kinds.roles,
  kinds.roleBindings,
  kinds.clusterRoles,
  kinds.clusterRoleBindings,
];

function begin(facts = fixedFacts(), makesBootstrapper = false) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api } = bench;
  const controller = agentAccessController({ ...bench.parts, facts, makesBootstrapper });
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

const windowsNode = (
  name: string,
  annotations: Record<string, string> = { [nodeAnnotation.pubKeyHash]: 'x' },
  uid = `uid-${name}`,
) => ({
  metadata: { name, uid, labels: { 'kubernetes.io/os': 'windows' }, annotations },
});
const roleOf = (node: string) => `windows-instance-config-daemon:${node}`;

test('makes everything that agents share', async () => {
  const { run, all } = begin();
  await run();
  expect(all()).toHaveLength(11);
  expect(all()).toContain('clusterrolebindings /system-wicd-nodes');
  expect(all()).toContain('roles default/system-wicd-nodes');
  expect(all()).toContain(`serviceaccounts ${namespace}/windows-instance-config-daemon`);
});

test('makes the account of kubelets where nobody else does', async () => {
  const { run, all } = begin(fixedFacts(), true);
  await run();
  expect(all()).toContain(`serviceaccounts ${namespace}/node-bootstrapper`);
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

test('gives the agent of a marked Windows node its role, as soon as it is marked', async () => {
  const { run, api, all } = begin();
  api.put(kinds.nodes, windowsNode('win-1', {}));
  await run();
  expect(all().join()).not.toContain(roleOf('win-1'));
  api.put(kinds.nodes, windowsNode('win-1'));
  await settle();
  expect(api.peek(kinds.clusterRoles, roleOf('win-1'))).toMatchObject({
    rules: [{ resources: ['nodes'], resourceNames: ['win-1'], verbs: ['get', 'list', 'watch', 'patch'] }],
    metadata: { ownerReferences: [{ kind: 'Node', name: 'win-1', uid: 'uid-win-1' }] },
  });
  expect(api.peek(kinds.clusterRoleBindings, roleOf('win-1'))?.subjects).toMatchObject([
    { name: 'system:wicd-node:win-1' },
  ]);
});

test('gives Linux nodes nothing', async () => {
  const { run, api, all } = begin();
  const node = windowsNode('linux-1');
  api.put(kinds.nodes, { metadata: { ...node.metadata, labels: { 'kubernetes.io/os': 'linux' } } });
  await run();
  expect(all()).toHaveLength(11);
});

test('gives the cloud node manager of Azure what it needs', async () => {
  const { run, api } = begin(fixedFacts({ platform: 'Azure' }));
  api.put(kinds.nodes, windowsNode('win-1'));
  await run();
  expect(api.peek(kinds.clusterRoles, roleOf('win-1'))?.rules).toHaveLength(2);
});

test('waits for the platform, and then knows', async () => {
  const { run, api, facts, clock } = begin(unknownFacts());
  api.put(kinds.nodes, windowsNode('win-1'));
  await run();
  expect(api.peek(kinds.clusterRoles, roleOf('win-1'))).toBeUndefined();
  facts.become({ platform: 'Azure' });
  await clock.advance(10_000);
  expect(api.peek(kinds.clusterRoles, roleOf('win-1'))?.rules).toHaveLength(2);
});

const ends: [name: string, end: (api: ReturnType<typeof begin>['api']) => void][] = [
  ['is gone', api => api.remove(kinds.nodes, 'win-1')],
  ['has lost its marks', api => void api.put(kinds.nodes, windowsNode('win-1', {}))],
];
for (const [name, end] of ends) {
  test(`takes the role back when the Node ${name}`, async () => {
    const { run, api, all } = begin();
    api.put(kinds.nodes, windowsNode('win-1'));
    api.put(kinds.nodes, windowsNode('win-2'));
    await run();
    end(api);
    await settle();
    expect(all().filter(each => each.includes('daemon:'))).toEqual([
      `clusterroles /${roleOf('win-2')}`,
      `clusterrolebindings /${roleOf('win-2')}`,
    ]);
  });
}

test('takes roles back of Nodes that went while nobody looked', async () => {
  const { run, api, all } = begin();
  const labels = { 'app.kubernetes.io/part-of': 'wicd' };
  api.put(kinds.clusterRoles, { metadata: { name: roleOf('gone'), labels } });
  await run();
  expect(all().join()).not.toContain('daemon:gone');
});

test('makes the role over to a Node that was made anew', async () => {
  const { run, api } = begin();
  api.put(kinds.nodes, windowsNode('win-1'));
  await run();
  api.put(kinds.nodes, windowsNode('win-1', { [nodeAnnotation.pubKeyHash]: 'y' }, 'uid-2'));
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
  ['the deletion of a role in default', api => api.remove(kinds.roles, 'system-wicd-nodes', 'default')],
  ['a role that was widened', api => edit(api, kinds.clusterRoles, roleOf('win-1'), { rules: [] })],
  ['a role of all that was widened', api => edit(api, kinds.clusterRoles, 'system-wicd-nodes', { rules: null })],
  ['a binding for somebody else', api => edit(api, kinds.clusterRoleBindings, roleOf('win-1'), { subjects: [] })],
];
for (const [name, harm] of harms) {
  test(`repairs ${name}`, async () => {
    const { run, api } = begin();
    api.put(kinds.nodes, windowsNode('win-1'));
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

test('puts right what the Go operator has left, though it bears no label of ours', async () => {
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

test('narrows the rights of all when the last agent of the Go operator is gone', async () => {
  const { run, api } = begin();
  const services = (name: string, data: Record<string, string>) =>
    api.put(kinds.configMaps, { metadata: { name: `windows-services-${name}`, namespace }, data });
  services('go', { services: '[]', files: '[]' });
  services(benchVersion, printManifest(servicesManifest(usualFacts, benchSettings)));
  const at = (version: string) => api.put(kinds.nodes, windowsNode('win-1', { [nodeAnnotation.version]: version }));
  const mayListNodes = () =>
    JSON.stringify(api.peek(kinds.clusterRoles, 'system-wicd-nodes')?.rules).includes('"nodes"');
  at('go');
  await run();
  expect(mayListNodes()).toBe(true);
  at(benchVersion);
  await settle();
  expect(mayListNodes()).toBe(false);
});

test('does not look at every heartbeat of a Node', async () => {
  const { run, api, parts } = begin();
  api.put(kinds.nodes, windowsNode('win-1'));
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

test('tries again when the server refuses, and one Node does not hold up another', async () => {
  const { run, api, clock, log } = begin();
  api.put(kinds.nodes, windowsNode('bad'));
  api.put(kinds.nodes, windowsNode('good'));
  let isBroken = true;
  api.before = ({ verb, name }) => {
    if (isBroken && verb === 'create' && name === roleOf('bad')) throw refused(403, 'Forbidden');
  };
  await run();
  expect(api.peek(kinds.clusterRoles, roleOf('good'))).toBeDefined();
  expect(log.messages('error')).toContain('Pass failed');
  isBroken = false;
  await clock.advance(60_000);
  expect(api.peek(kinds.clusterRoles, roleOf('bad'))).toBeDefined();
});
