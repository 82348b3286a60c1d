import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { installProgram } from '../../src/cli/install/program.ts';
import { resourceOf } from '../../src/cli/install/kinds.ts';
import { main } from '../../src/cli/main.ts';
import { uninstallProgram } from '../../src/cli/uninstall/program.ts';
import { configMapName, defaultNamespace, namespaceName, operatorName } from '../../src/contract/names.ts';
import { installManifests } from '../../src/install/manifests.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { machines } from '../../src/kube/resources-openshift.ts';
import { allObjects, settledObjects } from '../kit/cluster/all-objects.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { installDefinitions } from '../kit/cluster/openshift-crds.ts';
import { findKubectls, kubectl } from '../kit/kubectl.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';
import { recordedTerminal } from '../kit/status-views.ts';

/** `wmco install` on a kube-apiserver with the kinds and namespaces of OpenShift, and with OLM. */

const namespace = defaultNamespace;
const subscriptions = kinds.ofNamespace<KubeResource & { spec: { name: string } }>(
  'operators.coreos.com/v1alpha1',
  'Subscription',
  'subscriptions',
);
const [binary = ''] = findKubectls();
let cluster: Cluster;
let client: Client;
let kubeconfig: string;
let untouched: string[];

beforeAll(async () => {
  cluster = await startCluster();
  client = createClient(cluster.adminConfig);
  kubeconfig = join(cluster.folder, 'kubeconfig');
  await installDefinitions(client);
  await client.delete(kinds.customResourceDefinitions, 'windowsinstances.windowsmachineconfig.openshift.io');
  await serve(subscriptions);
  for (const name of Object.values(namespaceName).filter(each => each !== namespaceName.clusterApi))
    await client.create(kinds.namespaces, { metadata: { name } });
  untouched = await settledObjects(client);
});
afterAll(async () => {
  await client?.close();
  await cluster?.stop();
});

/** A kind of which the API server checks nothing. */
async function serve(resource: Resource): Promise<void> {
  const { group, version, kind, plural } = resource;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.create(kinds.customResourceDefinitions, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  });
  const isServed = () => client.list(resource).then(() => true, unlessMissing);
  await vi.waitUntil(isServed, { timeout: 60_000, interval: 50 });
}

function unlessMissing(error: unknown): false {
  if (!isNotFound(error)) throw error;
  return false;
}

async function run(
  name: 'install' | 'uninstall',
  ...words: string[]
): Promise<{ code: number; out: string; err: string }> {
  const recorded = recordedTerminal(undefined, { KUBECONFIG: kubeconfig }, systemClock);
  const programs = { install: installProgram, uninstall: uninstallProgram };
  const act = (rest: readonly string[]) => programs[name](rest, { ...recorded, ask: undefined });
  const terminal = { ...recorded, stdin: () => Promise.resolve(''), runtime: '' };
  const code = await main([name, ...words], terminal, [{ name, summary: '', run: act }]);
  return { code, out: recorded.text(), err: recorded.errors() };
}

test('everything that deploy/openshift has is applied, but what this API server does not know', async () => {
  const { code, out, err } = await run('install', '--apply', '--no-wait');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^Operator \S+ for openshift, /);
  const all = installManifests({ kind: 'openshift', namespace, image: 'i' }) as KubeResource[];
  const missing: string[] = [];
  for (const { kind = '', metadata, ...rest } of all) {
    const place = metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
    const found = await client.find(resourceOf({ kind, metadata, ...rest }), metadata.name ?? '', place);
    if (found === undefined) missing.push(kind);
  }
  const isNew = (await client.raw<{ minor: string }>('GET', '/version')).minor >= '30';
  const policies = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'];
  expect([...new Set(missing)]).toEqual(isNew ? [] : policies);
});

test('both folders of deploy are built by kubectl kustomize', async () => {
  for (const platform of ['openshift', 'kubernetes']) {
    const { ok, text } = await kubectl(
      binary,
      kubeconfig,
      cluster.folder,
    )('kustomize', join(repositoryRoot, 'deploy', platform));
    expect(ok, text).toBe(true);
    const file = await readFile(join(repositoryRoot, 'deploy', platform, 'install.yaml'), 'utf8');
    const namesIn = (yaml: string) => yaml.match(/^kind: \w+$/gm)?.sort();
    expect(namesIn(text)).toEqual(namesIn(file));
  }
});

test('a Windows Machine keeps --remove-nodes from deleting anything', async () => {
  const labels = { 'machine.openshift.io/os-id': 'Windows' };
  const ownerReferences = [
    { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', name: 'winworker', uid: 'u' },
  ];
  const place = { namespace: namespaceName.machineApi };
  await client.create(machines, { metadata: { name: 'winworker-1', ...place, labels, ownerReferences } });
  const before = await allObjects(client);
  expect(await run('uninstall', '--remove-nodes', '--yes')).toEqual({
    code: 1,
    out: '',
    err:
      'error: UNINSTALL_REFUSED: 1 Windows Machine must be deleted first: winworker-1\n' +
      '  -> Run `kubectl delete machineset winworker -n openshift-machine-api`, wait until they are gone, and run the command again.\n',
  });
  expect(await allObjects(client)).toEqual(before);
  const kept = await run('uninstall', '--dry-run');
  expect(kept.out).toMatch(/^1 Machine stays: winworker-1\. Their MachineSets still create Machines/m);
  await client.delete(machines, 'winworker-1', place);
});

test('an operator of OLM is neither installed over nor uninstalled', async () => {
  await client.create(subscriptions, {
    metadata: { name: 'windows', namespace: 'default' },
    spec: { name: operatorName },
  });
  const before = await allObjects(client);
  const message = 'OLM manages the operator: subscription default/windows\n';
  const remedy = '`kubectl delete subscription.operators.coreos.com windows -n default`; nodes stay';
  const installed = await run('install', '--apply');
  expect([installed.code, installed.err]).toEqual([1, expect.stringContaining(`INSTALL_REFUSED: ${message}`)]);
  expect(installed.err).toContain(remedy);
  const uninstalled = await run('uninstall', '--yes');
  expect([uninstalled.code, uninstalled.err]).toEqual([1, expect.stringContaining(`UNINSTALL_REFUSED: ${message}`)]);
  expect(uninstalled.err).toContain(remedy);
  expect(await allObjects(client)).toEqual(before);
  await client.delete(subscriptions, 'windows', { namespace: 'default' });
});

test('the Go operator is not installed over', async () => {
  expect((await run('uninstall', '--yes')).code).toBe(0);
  const spec = { containers: [{ name: 'manager', image: 'go' }] };
  const { metadata } = await client.create(kinds.pods, { metadata: { name: 'go-1', namespace }, spec });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'go-1', uid: metadata.uid ?? '' }];
  await client.create(kinds.configMaps, { metadata: { name: configMapName.leaderLock, namespace, ownerReferences } });
  const before = await allObjects(client);
  const { code, err } = await run('install', '--apply');
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/INSTALL_REFUSED: the Go operator runs in .*: pod "go-1" has the lock/),
  ]);
  expect(await allObjects(client)).toEqual(before);
  for (const words of [['--yes'], ['--remove-nodes', '--yes']]) {
    const uninstalled = await run('uninstall', ...words);
    expect([uninstalled.code, uninstalled.err]).toEqual([
      1,
      expect.stringMatching(/UNINSTALL_REFUSED: the Go operator runs in .*: pod "go-1" has the lock/),
    ]);
  }
  expect(await allObjects(client)).toEqual(before);
  await client.delete(kinds.pods, 'go-1', { namespace, gracePeriodSeconds: 0 });
  await expect.poll(() => client.find(kinds.configMaps, configMapName.leaderLock, { namespace })).toBeUndefined();
});

test('a Deployment of the Go operator is not uninstalled', async () => {
  const labels = { name: operatorName };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'manager', image: 'go' }] } };
  const spec = { replicas: 0, selector: { matchLabels: labels }, template };
  await client.create(kinds.deployments, { metadata: { name: operatorName, namespace }, spec });
  const before = await allObjects(client);
  const { code, err } = await run('uninstall', '--remove-nodes', '--yes');
  expect([code, err]).toEqual([1, expect.stringContaining('is that of the Go operator\n')]);
  expect(await allObjects(client)).toEqual(before);
  await client.delete(kinds.deployments, operatorName, { namespace });
});

test('everything is deleted again', async () => {
  expect((await run('install', '--apply', '--no-wait')).code).toBe(0);
  // As the registry of OpenShift makes one for each account.
  const annotations = { 'openshift.io/internal-registry-auth-token.service-account': operatorName };
  await client.create(kinds.secrets, { metadata: { name: 'operator-dockercfg-x7k2q', namespace, annotations } });
  const { code, err } = await run('uninstall', '--remove-nodes', '--yes');
  expect([code, err]).toEqual([0, '']);
  await expect.poll(() => allObjects(client)).toEqual(untouched);
});
