import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import { kubeletVersionKey, versionKey } from '#contract/operator-status.ts';
import * as kinds from '#kube/resources.ts';
import { type StatusCluster, statusCluster } from '../../../../test/kit/status-cluster.ts';
import { instanceOf, recordedTerminal, statuses } from '../../../../test/kit/status-views.ts';
import { main } from '../../main.ts';
import { checkUpgradeProgram } from './program.ts';

const reader = 'reader';
let folder: string;
let cluster: StatusCluster;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-check-upgrade-'));
  cluster = await statusCluster();
  const { sandbox, client, namespace } = cluster;
  writeFileSync(join(folder, 'kubeconfig'), sandbox.kubeconfig);
  writeFileSync(join(folder, reader), sandbox.kubeconfigFor({ commonName: reader }));
  await cluster.lead(systemClock.now());
  await cluster.putInstance(instanceOf('win-1', { ...structuredClone(statuses.ready), version: 'v2' }));
  await cluster.putNode('win-1', {
    metadata: {
      name: 'win-1',
      labels: { 'kubernetes.io/os': 'windows', 'node-role.kubernetes.io/worker': '' },
      annotations: { [nodeAnnotation.version]: 'v2' },
    },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kubeletVersion: 'v1.36.2' },
    },
  });
  await cluster.list({ 'win-1': 'username=a' });
  const metadata = { name: configMapName.operatorStatus, namespace };
  await cluster.put(kinds.configMaps, { metadata, data: { [versionKey]: 'v2', [kubeletVersionKey]: 'v1.36.2' } });
  await client.create(kinds.clusterRoles, {
    metadata: { name: reader },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['list'] }],
  });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function run(
  words: string[],
  kubeconfig = 'kubeconfig',
): Promise<{ code: number; text: string; errors: string }> {
  const recorded = recordedTerminal(undefined, { KUBECONFIG: join(folder, kubeconfig) }, systemClock);
  const program = {
    name: 'upgrade',
    group: 'check',
    summary: '',
    run: (rest: readonly string[]) => checkUpgradeProgram(rest, recorded),
  } as const;
  const terminal = { ...recorded, stdin: () => Promise.resolve(''), runtime: '' };
  const code = await main(['check', 'upgrade', ...words], terminal, [program]);
  return { code, text: recorded.text(), errors: recorded.errors() };
}

const goText = `Go: nothing on Windows nodes stands against an upgrade of the cluster to v1.38.
  ok   reading   all objects can be read
  ok   operator  operator v2 runs, and reports no problem of the cluster
  ok   hosts     the only one is Ready
  ok   version   v2 on all hosts
  ok   roll-out  nothing is being upgraded, paused or stopped
  ok   now       API server v1.36.2, kubelets v1.36.2
  ok   target    API server v1.38, kubelets v1.36.2
  --   way       v1.37, then v1.38; run this check again before each
  ok   payload   kubelet v1.36.2, for API servers v1.36 to v1.39
`;

for (const version of ['v1.38', '1.38']) {
  test(`--to ${version} prints a line for each check, and go`, async () => {
    expect(await run(['--to', version])).toEqual({ code: 0, text: goText, errors: '' });
  });
}

test('a target that is too far exits with 1, and errors have codes and remedies', async () => {
  const { code, text, errors } = await run(['--to', 'v1.40']);
  expect(code).toBe(1);
  expect(text).toMatch(/^Do not start an upgrade of the cluster to v1\.40: 2 of 9 checks failed\.$/m);
  expect(text).toMatch(/^ {2}BAD {2}target/m);
  expect(errors).toMatch(/^error: KUBELET_SKEW: host win-1: .*\n {2}-> Upgrade the cluster to v1\.39 at most/m);
  expect(errors).toMatch(/^error: SERVER_VERSION_UNSUPPORTED: .*\n {2}-> Uninstall the operator/m);
});

for (const [form, read] of [
  ['json', (text: string): unknown => JSON.parse(text)],
  ['yaml', (text: string): unknown => parse(text)],
] as const) {
  test(`-o ${form} has the same as data`, async () => {
    const { code, text, errors } = await run(['--to', 'v1.40', '-o', form]);
    expect([code, errors]).toEqual([1, '']);
    expect(read(text)).toMatchObject({
      go: false,
      server: 'v1.36.2',
      target: 'v1.40',
      payloadKubelet: 'v1.36.2',
      checks: expect.arrayContaining([
        { check: 'hosts', level: 'ok', detail: 'the only one is Ready', findings: [] },
        expect.objectContaining({ check: 'target', findings: [expect.objectContaining({ code: 'KUBELET_SKEW' })] }),
      ]),
      hosts: [{ name: 'win-1', phase: 'Ready', node: 'win-1', isReady: true, version: 'v2', kubelet: 'v1.36.2' }],
    });
  });
}

const failures: [about: string, words: string[], code: number, says: RegExp][] = [
  ['a target that is none', ['--to', 'latest'], 2, /^error: --to is "latest", not a version of Kubernetes/],
  ['an empty target', ['--to', ''], 2, /^error: --to is "", not a version of Kubernetes/],
  ['a release of OpenShift', ['--to', '4.20'], 2, /^error: --to is "4\.20", not a version of Kubernetes/],
  ['a minor version with a zero', ['--to', '1.038'], 2, /^error: --to is "1\.038", not a version of Kubernetes/],
  ['an unknown form', ['-o', 'wide'], 2, /^error: --output is "wide", not text, json or yaml/],
  ['a namespace without an operator', ['-n', 'default'], 1, /^error: OPERATOR_MISSING: .*\n {2}-> Use --namespace /],
  ['a kubeconfig that is missing', ['--kubeconfig', '/nonexistent'], 1, /^error: INPUT_UNREADABLE: kubeconfig /],
];
for (const [about, words, code, says] of failures) {
  test(`${about} is an error with a remedy`, async () => {
    const result = await run(words);
    expect([result.code, result.text]).toEqual([code, '']);
    expect(result.errors).toMatch(says);
  });
}

test('help says what the exit codes mean', async () => {
  expect((await run(['--help'])).text).toContain('Exit code: 0 go, 1 do not upgrade');
});

async function bind(subject: string): Promise<void> {
  const name = `${reader}-${subject}`;
  await cluster.client.create(kinds.clusterRoleBindings, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: reader },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: subject }],
  });
}

test('permission to list is enough, and without it nobody gets a go', async () => {
  const refused = await run(['--to', 'v1.38'], reader);
  expect([refused.code, refused.text]).toEqual([1, '']);
  expect(refused.errors).toMatch(/^error: API_REFUSED: .*forbidden/);
  await bind(reader);
  expect(await run(['--to', 'v1.38'], reader)).toEqual({ code: 0, text: goText, errors: '' });
});

test('an operator that has not written its kubelet is known by its version, or not at all', async () => {
  const { client, namespace } = cluster;
  const name = configMapName.operatorStatus;
  const write = (data: Record<string, string | null>) =>
    client.patch(kinds.configMaps, name, { type: 'merge', body: { data } }, { namespace });
  await write({ [kubeletVersionKey]: null });
  const unknown = await run(['--to', 'v1.38', '-o', 'json']);
  expect([unknown.code, JSON.parse(unknown.text)]).toEqual([
    0,
    expect.not.objectContaining({ payloadKubelet: expect.anything() }),
  ]);
  await write({ [versionKey]: '11.0.3-abc' });
  const known = JSON.parse((await run(['--to', 'v1.38', '-o', 'json'])).text) as { payloadKubelet: string };
  expect(known.payloadKubelet).toBe('v1.36.2');
  await write({ [versionKey]: 'v2' });
});

test('without an operator and its objects the Nodes are checked, but not in another namespace by mistake', async () => {
  const { client, namespace } = cluster;
  const place = { namespace };
  const mistaken = await run(['--to', 'v1.38', '-n', 'kube-system']);
  expect(mistaken.errors).toContain(`Use --namespace ${namespace}.`);
  await client.delete(windowsInstances, 'win-1', place);
  await client.delete(kinds.configMaps, configMapName.instances, place);
  await client.delete(kinds.configMaps, configMapName.operatorStatus, place);
  const { items } = await client.list(kinds.leases, place);
  for (const { metadata } of items) await client.delete(kinds.leases, metadata.name ?? '', place);
  const { code, text } = await run(['--to', 'v1.38']);
  expect(code).toBe(0);
  expect(text).toMatch(/^ {2}-- {3}operator {2}none is installed/m);
  expect(text).toMatch(/^ {2}ok {3}version {3}v2, as the Nodes say$/m);
  await client.delete(kinds.nodes, 'win-1');
  const empty = await run(['--to', 'v1.38']);
  expect(empty.code).toBe(1);
  expect(empty.errors).toMatch(/^error: OPERATOR_MISSING: .*\n.* Without a Windows node there is nothing to check\.$/m);
});
