import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { installProgram } from '../../src/cli/install/program.ts';
import { main } from '../../src/cli/main.ts';
import { uninstallProgram } from '../../src/cli/uninstall/program.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, defaultNamespace, nodeAnnotation, operatorName, secretName } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import * as kinds from '../../src/kube/resources.ts';
import { allObjects, settledObjects } from '../kit/cluster/all-objects.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { findKubectls, kubectl, type Kubectl } from '../kit/kubectl.ts';
import { runOperatorPods } from '../kit/operator-pods.ts';
import { compileCache, repositoryRoot } from '../kit/run-wmco.ts';
import { recordedTerminal } from '../kit/status-views.ts';

/** `wmco install` on a real kube-apiserver with the real controllers of Deployments; only their pods are simulated. */

const namespace = defaultNamespace;
const crdName = 'windowsinstances.windowsmachineconfig.openshift.io';
const [binary = ''] = findKubectls();
let cluster: Cluster;
let client: Client;
let kubeconfig: string;
let tool: Kubectl;
/** Output at which somebody presses Ctrl-C. */
let stopAt: string | undefined;
let operatorPods: ReturnType<typeof runOperatorPods>;
let untouched: string[];

beforeAll(async () => {
  cluster = await startCluster({ controllers: ['replicaset', 'deployment'] });
  client = createClient(cluster.adminConfig);
  kubeconfig = join(cluster.folder, 'kubeconfig');
  tool = kubectl(binary, kubeconfig, cluster.folder);
  operatorPods = runOperatorPods(client, namespace);
  untouched = await settledObjects(client);
});
afterAll(async () => {
  await operatorPods?.[Symbol.asyncDispose]();
  await client?.close();
  await cluster?.stop();
});

interface Run {
  code: number;
  out: string;
  err: string;
}

const install = (...words: string[]) => run('install', words);
const uninstall = (...words: string[]) => run('uninstall', words);

/** As the command line calls it; nobody is at the terminal unless there is an answer. */
async function run(name: 'install' | 'uninstall', words: string[], answer?: string): Promise<Run> {
  const live = recordedTerminal(undefined, { KUBECONFIG: kubeconfig }, systemClock);
  const out: typeof live.out = (...words) => {
    live.out(...words);
    if (stopAt !== undefined && live.text().includes(stopAt)) live.stop();
  };
  const recorded = { ...live, out };
  const ask = answer === undefined ? undefined : () => Promise.resolve(answer);
  const programs = { install: installProgram, uninstall: uninstallProgram };
  const act = (rest: readonly string[]) => programs[name](rest, { ...recorded, ask });
  const terminal = { ...recorded, stdin: () => Promise.resolve(''), runtime: '' };
  const code = await main([name, ...words], terminal, [{ name, summary: '', run: act }]);
  return { code, out: recorded.text(), err: recorded.errors() };
}

/** The pipe of the page, with the shell and the programs that a user has. */
function dryRunOfKubectl(): { out: string; err: string; status: number | null } {
  const wmco = `'${process.execPath}' '${join(repositoryRoot, 'src', 'bin', 'wmco.ts')}'`;
  const line = `set -o pipefail; ${wmco} install --dry-run | ${binary} apply --dry-run=server -f -`;
  const env = { PATH: process.env['PATH'], HOME: cluster.folder, KUBECONFIG: kubeconfig, ...compileCache };
  const { stdout, stderr, status } = spawnSync('bash', ['-c', line], { env, encoding: 'utf8', timeout: 60_000 });
  return { out: stdout, err: stderr, status };
}

const untilGone = async () => {
  await expect.poll(() => client.find(kinds.namespaces, namespace)).toBeUndefined();
};
const imageOf = async () =>
  (await client.get(kinds.deployments, operatorName, { namespace })).spec?.template?.spec?.containers?.[0]?.image;

test('on a fresh cluster the plan is checked by the API server, and nothing is written', async () => {
  const before = await allObjects(client);
  const { code, out, err } = await install();
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^Operator \S+ for kubernetes, namespace openshift-windows-machine-config-operator\n/);
  expect(out).toMatch(/^ {2}new CustomResourceDefinition windowsinstances/m);
  expect(out).toMatch(
    /^ {2}new Deployment openshift-windows-machine-config-operator\/windows-machine-config-operator/m,
  );
  expect(out).toMatch(
    /The API server accepts all \d+ objects; nothing is written yet\.\nTo apply it, run `\/opt\/wmco install --apply`\.\n$/,
  );
  expect(out.includes('Warning: the operator will not start: unsupported server version')).toBe(cluster.minor < 36);
  expect(await allObjects(client)).toEqual(before);
});

test('the dry run of kubectl is clean when the namespace exists, and a note says so when it does not', async () => {
  const fresh = dryRunOfKubectl();
  expect(fresh.status).not.toBe(0);
  const notes = fresh.err.split('\n').filter(line => line.startsWith('note: '));
  expect(notes).toEqual([expect.stringContaining(`kubectl create namespace ${namespace} --save-config`)]);
  const errors = fresh.err.split('\n').filter(line => line !== '' && !line.startsWith('note: '));
  expect(errors.filter(line => !line.includes(`namespaces "${namespace}" not found`))).toEqual([]);
  expect((await tool('create', 'namespace', namespace, '--save-config')).ok).toBe(true);
  const before = await allObjects(client);
  const { out, err, status } = dryRunOfKubectl();
  expect([status, err]).toEqual([0, '']);
  const lines = out.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter(line => !line.endsWith(' (server dry run)'))).toEqual([]);
  expect(await allObjects(client)).toEqual(before);
  await client.delete(kinds.namespaces, namespace);
  await untilGone();
}, 120_000);

test('--apply creates everything, shows progress, waits for the operator and says what to do next', async () => {
  const { code, out, err } = await install('--apply');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^ {2}created Namespace openshift-windows-machine-config-operator$/m);
  expect(out).toMatch(/^The operator runs: 1 of 1 pod available, 1 of this version\.$/m);
  expect(out).toContain(
    `kubectl create secret generic cloud-private-key -n ${namespace} --from-file=private-key.pem=FILE`,
  );
  expect(out).toContain(`kubectl create configmap windows-instances -n ${namespace} --from-literal=10.0.0.5=`);
  const again = await install();
  expect(again.out).toMatch(/Everything is installed as it should be\.\n$/);
  expect(again.out).not.toMatch(/^ {2}(new|changed)/m);
});

test('an upgrade shows what changes, keeps the number of pods, and names what is not needed any more', async () => {
  await client.patch(
    kinds.deployments,
    operatorName,
    { type: 'merge', body: { spec: { replicas: 2 } } },
    { namespace },
  );
  const metadata = { name: `${operatorName}-former`, labels: { 'app.kubernetes.io/name': operatorName } };
  const former = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules: [] };
  const file = join(cluster.folder, 'former.yaml');
  await writeFile(file, JSON.stringify(former));
  const apply = ['apply', '--server-side', '--field-manager', 'wmco-install', '-f', file];
  expect((await tool(...apply)).ok).toBe(true);
  const image = 'registry.example.com/operator:v12.0.0';
  const plan = await install('--image', image);
  expect(plan.out).toMatch(/^ {2}changed +Deployment \S+: \.spec\.template\.spec\.containers\[0\]\.image$/m);
  const former1 = `  kubectl delete clusterroles.rbac.authorization.k8s.io ${operatorName}-former\n`;
  expect(plan.out).toContain(`1 object of a former version is not needed any more. To delete:\n${former1}`);
  const { code, out } = await install('--apply', '--image', image);
  expect([code, await imageOf()], out).toEqual([0, image]);
  expect(out).toMatch(/^The operator runs: 2 of 2 pods available, 2 of this version\.$/m);
  expect(await client.find(kinds.clusterRoles, metadata.name)).toBeDefined();
  await client.delete(kinds.clusterRoles, metadata.name);
});

test('a name with a meaning in a shell is quoted in the commands that delete what is not needed', async () => {
  const file = join(cluster.folder, 'shell.yaml');
  const metadata = { name: 'x; touch $HOME', namespace: 'default', labels: { 'app.kubernetes.io/name': operatorName } };
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules: [] };
  await writeFile(file, JSON.stringify(role));
  expect((await tool('apply', '--server-side', '--field-manager', 'wmco-install', '-f', file)).ok).toBe(true);
  expect((await install()).out).toMatch(/^ {2}kubectl delete roles\.rbac\.\S+ 'x; touch \$HOME' -n default$/m);
  await client.delete(kinds.roles, metadata.name, { namespace: 'default' });
});

test('a Deployment without pods is not installed: the operator runs again, unless the number is of somebody else', async () => {
  const scale = (replicas: number) =>
    tool('scale', 'deployment', operatorName, '-n', namespace, `--replicas=${replicas}`);
  expect((await scale(0)).ok).toBe(true);
  const { code, err } = await install('--apply');
  expect([code, err]).toEqual([1, expect.stringMatching(/INSTALL_CONFLICT: .*: \.spec\.replicas is set by /)]);
  const forced = await install('--apply', '--force-conflicts', '--image', 'registry.example.com/operator:v12.0.0');
  expect([forced.code, forced.out]).toEqual([0, expect.stringMatching(/^The operator runs: 1 of 1 pod available/m)]);
});

test('a field that somebody else has set is a conflict, and nothing is written', async () => {
  const file = join(cluster.folder, 'other.yaml');
  const spec = { template: { spec: { priorityClassName: 'system-node-critical' } } };
  const change = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: operatorName, namespace }, spec };
  await writeFile(file, JSON.stringify(change));
  const other = [
    'apply',
    '--server-side',
    '--validate=false',
    '--force-conflicts',
    '--field-manager',
    'gitops',
    '-f',
    file,
  ];
  expect((await tool(...other)).ok).toBe(true);
  const refused = await install('--apply', '--image', 'registry.example.com/operator:v13.0.0');
  expect([refused.code, refused.err]).toEqual([
    1,
    `error: INSTALL_CONFLICT: Deployment ${namespace}/${operatorName}: .spec.template.spec.priorityClassName is set by gitops\n` +
      '  -> Pass --force-conflicts to overwrite these fields; nothing is written yet.\n',
  ]);
  expect(await imageOf()).toBe('registry.example.com/operator:v12.0.0');
  expect((await install('--apply', '--force-conflicts')).code).toBe(0);
  const { spec: now } = await client.get(kinds.deployments, operatorName, { namespace });
  expect(now?.template?.spec).toMatchObject({ priorityClassName: 'system-cluster-critical' });
});

const troubles = [
  ['hasNoImage', /has no image: ImagePullBackOff: Back-off pulling image "registry\/none:v1"\n {2}-> Set --image/],
  [
    'crashes',
    /ends with exit code 1, 3 restarts: error: proxy http:\/\/<redacted>@proxy:80 refuses\n {2}-> Fix what its log/,
  ],
] as const;
for (const [state, message] of troubles) {
  test(`when its pod ${state}, the wait ends with the reason`, async () => {
    operatorPods.become(state);
    const { code, err, out } = await install(
      '--apply',
      '--timeout',
      '3s',
      '--image',
      `registry.example.com/operator:${state}`,
    );
    operatorPods.become('runs');
    expect([code, err]).toEqual([1, expect.stringMatching(message)]);
    expect(err).toContain(
      `\`/opt/wmco install --apply --timeout 3s --image registry.example.com/operator:${state}\` waits again.`,
    );
    expect(out + err).not.toContain('planted-login');
  });
}

test('Ctrl-C ends the wait; without --image a note says that the image of another registry is replaced', async () => {
  operatorPods.become('hasNoImage');
  stopAt = 'has no image';
  const { code, err } = await install('--apply', '--image', 'registry.example.com/operator:none');
  stopAt = undefined;
  operatorPods.become('runs');
  expect([code, err]).toEqual([1, 'Stopped. What is applied stays; run the command again to continue.\n']);
  expect((await install()).err).toMatch(
    /^note: The operator runs from registry\.example\.com\/operator:none; without --image .* by quay\.io\//,
  );
});

test('an installation in another namespace is refused', async () => {
  expect((await install('--apply', '-n', 'elsewhere')).err).toBe(
    `error: INSTALL_REFUSED: the operator is installed in namespace "${namespace}"\n` +
      `  -> Use --namespace ${namespace}, or uninstall it there first with \`wmco uninstall -n ${namespace}\`.\n`,
  );
});

/** A configured host, with what an operator and an agent have written. */
async function addHost(): Promise<void> {
  const annotations = { [nodeAnnotation.version]: '11.0.0' };
  const node = await client.create(kinds.nodes, {
    metadata: { name: 'win-1', labels: { 'kubernetes.io/os': 'windows' }, annotations },
  });
  const { uid = '' } = node.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'win-1', uid }];
  const labels = {
    'app.kubernetes.io/name': operatorName,
    'app.kubernetes.io/part-of': 'wicd',
    'app.kubernetes.io/managed-by': operatorName,
  };
  const ofAgent = { name: 'windows-instance-config-daemon:win-1', labels, ownerReferences };
  await client.create(kinds.clusterRoles, { metadata: ofAgent, rules: [] });
  await client.create(kinds.serviceAccounts, {
    metadata: { name: 'windows-instance-config-daemon', namespace, labels },
  });
  await client.create(windowsInstances, {
    metadata: { name: '10.0.0.5', namespace },
    spec: { address: '10.0.0.5', username: 'Administrator', source: { kind: 'ConfigMap', name: '10.0.0.5' } },
  });
  const status = {
    phase: 'Ready',
    node: 'win-1',
    nodeUID: uid,
    host: { name: 'win-1', addresses: ['10.0.0.5'] },
  } as const;
  const place = { namespace, subresource: 'status' };
  await client.patch(windowsInstances, '10.0.0.5', { type: 'merge', body: { status } }, place);
  await writeMap(configMapName.instances, { '10.0.0.5': 'username=Administrator' });
  await writeMap('wicd-report-win-1', {});
  await client.create(kinds.services, {
    metadata: { name: 'windows-exporter', namespace },
    spec: { ports: [{ name: 'metrics', port: 9182 }] },
  });
  await client.create(kinds.secrets, { metadata: { name: secretName.privateKey, namespace } });
}
const writeMap = (name: string, data: Record<string, string>) =>
  client.create(kinds.configMaps, { metadata: { name, namespace }, data });

/** Of the operator alone: its account has tokens, and the controllers of the cluster made them. */
const ofOperator = (name: string) =>
  /^(Secret|ServiceAccount) \S+\/windows-machine-config-operator(-token-\w+)?$/.test(name) ||
  /^(Deployment|ReplicaSet|Pod|ControllerRevision|Lease)\b/.test(name) ||
  /^(Cluster)?Role(Binding)? \S*\/windows-machine-config-operator(-exporter|-discovery|-bootstrap)?$/.test(name);

test('uninstall keeps the nodes and says so, and a new installation has them again', async () => {
  expect((await install('--apply')).code).toBe(0);
  await addHost();
  const before = await allObjects(client);
  expect((await uninstall()).err).toBe(
    'error: there is no terminal to confirm the deletion\n  -> Pass --yes to uninstall without a question.\n',
  );
  expect(await run('uninstall', [], 'no')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/Nothing is deleted\.\n$/),
  });
  const shown = await uninstall('--dry-run');
  expect(shown.out).toMatch(/^1 Windows node stays in service: win-1\. To remove hosts, too, use --remove-nodes\.$/m);
  expect(shown.out).toMatch(
    /^Kept: Namespace \S+ with WindowsInstances, ConfigMaps and Secrets, among them cloud-private-key/m,
  );
  expect(await allObjects(client)).toEqual(before);
  const { code, out, err } = await run('uninstall', [], 'yes');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^To be deleted:\n {2}Deployment /m);
  expect(out).toMatch(
    /\nThe operator is uninstalled\. To continue, run `\/opt\/wmco install --apply -n \S+ --image quay\.io\/\S+`\.\n$/,
  );
  const kept = before.filter(name => !ofOperator(name));
  expect(kept).toContain('ClusterRole /windows-instance-config-daemon:win-1');
  await expect.poll(() => allObjects(client)).toEqual(kept);
  expect(await uninstall('--yes')).toMatchObject({ code: 0, out: `Nothing to uninstall in namespace ${namespace}.\n` });
  const { metadata } = await client.get(windowsInstances, '10.0.0.5', { namespace });
  expect((await install('--apply')).code).toBe(0);
  expect((await client.get(windowsInstances, '10.0.0.5', { namespace })).metadata.uid).toBe(metadata.uid);
});

test('--remove-nodes is refused while no operator runs that could remove the hosts', async () => {
  const before = await allObjects(client);
  const { code, err } = await uninstall('--remove-nodes', '--yes');
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(
      /^error: UNINSTALL_REFUSED: no operator is running that could remove 1 host\n {2}-> Run `wmco install --apply`/,
    ),
  ]);
  expect(await allObjects(client)).toEqual(before);
});

test('without the CRD --remove-nodes deletes nothing while Windows nodes are configured', async () => {
  const place = { namespace };
  const { spec, status } = await client.get(windowsInstances, '10.0.0.5', place);
  await client.delete(kinds.customResourceDefinitions, crdName);
  await expect.poll(() => client.find(kinds.customResourceDefinitions, crdName)).toBeUndefined();
  const before = await settledObjects(client);
  const { code, err } = await uninstall('--remove-nodes', '--yes');
  expect([code, err]).toEqual([
    1,
    'error: UNINSTALL_REFUSED: 1 Windows node is configured, but the CustomResourceDefinition is missing: win-1\n' +
      '  -> Run `wmco install --apply`, which takes the nodes over, and run the command again.\n',
  ]);
  expect((await uninstall('--dry-run')).out).toMatch(/^1 Windows node stays in service: win-1\./m);
  expect(await settledObjects(client)).toEqual(before);
  expect((await install('--apply')).code).toBe(0);
  await client.create(windowsInstances, { metadata: { name: '10.0.0.5', ...place }, ...(spec && { spec }) });
  const body = { status };
  await client.patch(windowsInstances, '10.0.0.5', { type: 'merge', body }, { ...place, subresource: 'status' });
});

test('a pod whose Deployment is gone already is waited for', async () => {
  const labels = { name: operatorName };
  const container = { name: 'manager', image: 'x' };
  await client.create(kinds.pods, { metadata: { name: 'late', namespace, labels }, spec: { containers: [container] } });
  const { code, err } = await uninstall('--yes', '--timeout', '2s');
  expect([code, err]).toEqual([1, expect.stringMatching(/UNINSTALL_UNFINISHED: a pod of Deployment \S+ still exists/)]);
  expect(await client.find(kinds.clusterRoleBindings, operatorName)).toBeDefined();
  const again = await uninstall('--yes', '--timeout', '2s');
  expect([again.code, await client.find(kinds.clusterRoleBindings, operatorName)]).toEqual([1, expect.anything()]);
  await client.delete(kinds.pods, 'late', { namespace, gracePeriodSeconds: 0 });
  expect((await install('--apply')).code).toBe(0);
});

test('without hosts --remove-nodes leaves nothing behind, but a namespace that others use', async () => {
  await client.delete(windowsInstances, '10.0.0.5', { namespace });
  await client.delete(kinds.nodes, 'win-1');
  await client.patch(kinds.configMaps, configMapName.instances, { type: 'merge', body: { data: null } }, { namespace });
  await writeMap('of-a-user', {});
  const first = await uninstall('--remove-nodes', '--yes');
  expect([first.code, first.err]).toEqual([0, '']);
  expect(first.out).toMatch(
    /^Namespace \S+ stays, because others use it: ConfigMap \S+\/of-a-user\.\nThe operator is uninstalled\.\n$/m,
  );
  await client.delete(kinds.configMaps, 'of-a-user', { namespace });
  const second = await uninstall('--remove-nodes', '--yes');
  expect([second.code, second.err]).toEqual([0, '']);
  await expect.poll(() => allObjects(client)).toEqual(untouched);
  expect((await uninstall('--remove-nodes', '--yes')).out).toMatch(/^Nothing to uninstall/);
});
