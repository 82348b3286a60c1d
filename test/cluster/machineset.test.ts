import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { printPublicKey } from '../../src/host/keys/public-key.ts';
import { isAlreadyExists, isNotFound, unless } from '../../src/kube/api-error.ts';
import { infrastructures, machineSets, machines } from '../../src/kube/resources-openshift.ts';
import { namespaces, runtimeClasses, secrets } from '../../src/kube/resources.ts';
import { adminClient, sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import { findKubectls, kubectl, type Kubectl } from '../kit/kubectl.ts';
import { infrastructureName, infrastructureOf, linuxSet, linuxSpecs } from '../kit/machine-sets.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';
import { until } from '../kit/until.ts';
import { startOnTerminal, startWmco } from '../kit/wmco-process.ts';

/** What `wmco runtimeclass`, `machineset` and `prepare-host` print and write, by the rules of a real kube-apiserver. */

const client = adminClient();
const [binary = ''] = findKubectls();
let folder: string;
let run: Kubectl;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wmco-machineset-'));
  await writeFile(join(folder, 'kubeconfig'), sharedKubeconfig());
  run = kubectl(binary, join(folder, 'kubeconfig'), folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function wmco(...words: string[]): Promise<{ code: number | string; out: string; err: string }> {
  await using started = startWmco(words, { folder, environment: { KUBECONFIG: join(folder, 'kubeconfig') } });
  return { code: await started.ended(), out: started.out(), err: started.err() };
}

async function dryRun(text: string): Promise<string> {
  const file = join(folder, 'printed.yaml');
  await writeFile(file, text);
  const { ok, text: answer } = await run('apply', '--dry-run=server', '-f', file);
  expect(ok, answer).toBe(true);
  return answer;
}

test('the printed RuntimeClasses are valid, and --apply creates them once', async () => {
  const names = ['windows2019', 'windows2022', 'windows2025'];
  const { out } = await wmco('runtimeclass');
  const answer = await dryRun(out);
  for (const name of names) expect(answer).toContain(`runtimeclass.node.k8s.io/${name} created (server dry run)`);
  try {
    expect(await wmco('runtimeclass', '--apply')).toEqual({
      code: 0,
      err: '',
      out: names.map(name => `RuntimeClass ${name} created\n`).join(''),
    });
    expect((await wmco('runtimeclass', '--apply', '--release', '2022')).out).toBe(
      'RuntimeClass windows2022 unchanged\n',
    );
    const { handler } = await client.get(runtimeClasses, 'windows2022');
    expect(handler).toBe('runhcs-wcow-process');
  } finally {
    for (const name of names) await client.delete(runtimeClasses, name).catch(unless(isNotFound));
  }
});

test('the example of a workload is valid', async () => {
  const example = join(repositoryRoot, 'examples', 'windows-workload.yaml');
  // API servers before 1.24 do not know spec.os.
  const { ok, text } = await run('apply', '--dry-run=server', '--validate=false', '-f', example);
  expect([ok, text.match(/created/g)?.length], text).toEqual([true, 3]);
});

const namespace = 'openshift-machine-api';
const linuxName = `${infrastructureName}-worker`;
const role = { 'machine.openshift.io/cluster-api-machineset': 'winworker', 'machine.openshift.io/os-id': 'Windows' };
const template = ['--image', 'templates/windows-2022'];

/** An OpenShift cluster on vSphere, whose sets can only be told apart by their names. */
async function onVsphere(run: () => Promise<void>): Promise<void> {
  await client.create(namespaces, { metadata: { name: namespace } }).catch(unless(isAlreadyExists));
  const { status, ...infrastructure } = infrastructureOf('VSphere');
  await client.create(infrastructures, infrastructure);
  try {
    await client.patch(infrastructures, 'cluster', { type: 'merge', body: { status } }, { subresource: 'status' });
    await client.create(machineSets, linuxSet(linuxSpecs.VSphere), { namespace });
    await run();
  } finally {
    await client.delete(infrastructures, 'cluster');
    for (const resource of [machineSets, machines]) {
      const { items } = await client.listAll(resource, { namespace });
      for (const { metadata } of items) await remove(resource, metadata.name);
    }
    await remove(secrets, 'windows-user-data');
  }
}

async function remove(resource: typeof machineSets | typeof machines | typeof secrets, name = ''): Promise<void> {
  await client.delete(resource, name, { namespace }).catch(unless(isNotFound));
}

test('the printed MachineSet is valid; --apply creates it, and later changes all but its number of Machines', async () => {
  await onVsphere(async () => {
    const printed = await wmco('machineset', ...template);
    expect(await dryRun(printed.out)).toContain('machineset.machine.openshift.io/winworker created (server dry run)');
    expect(await client.find(machineSets, 'winworker', { namespace })).toBeUndefined();

    const created = await wmco('machineset', ...template, '--apply');
    expect([created.code, created.out]).toEqual([0, 'MachineSet winworker created\n']);
    expect(created.err).toMatch(/note: Secret openshift-machine-api\/windows-user-data is missing/);
    const { spec } = await client.get(machineSets, 'winworker', { namespace });
    expect(spec).toMatchObject({ replicas: 1, template: { metadata: { labels: role } } });

    await client.create(secrets, { metadata: { name: 'windows-user-data' } }, { namespace });
    const body = {
      spec: { replicas: 5, template: { spec: { providerSpec: { value: { cloneMode: 'linkedClone' } } } } },
    };
    await client.patch(machineSets, 'winworker', { type: 'merge', body }, { namespace });
    const changed = await wmco('machineset', '--apply', '--image', 'templates/new');
    expect([changed.code, changed.out]).toEqual([0, 'MachineSet winworker configured\n']);
    expect(changed.err).toMatch(/note: Machines that exist stay as they are/);
    expect(changed.err).not.toContain('windows-user-data');
    const after = await client.get(machineSets, 'winworker', { namespace });
    expect(after.spec).toMatchObject({
      replicas: 5,
      template: { spec: { providerSpec: { value: { template: 'templates/new' } } } },
    });
    expect(JSON.stringify(after.spec)).not.toContain('cloneMode');
    expect((await wmco('machineset', '--apply', '--image', 'templates/new')).out).toContain('winworker unchanged');
    await wmco('machineset', '--apply', '--image', 'templates/new', '--replicas', '0');
    expect((await client.get(machineSets, 'winworker', { namespace })).spec?.replicas).toBe(0);
  });
});

test('a MachineSet of Linux is neither changed nor deleted', async () => {
  await onVsphere(async () => {
    const { metadata } = await client.create(machineSets, linuxSet(linuxSpecs.VSphere, { name: 'linux' }), {
      namespace,
    });
    const from = ['--from', linuxName];
    const applied = await wmco('machineset', ...template, ...from, '--name', 'linux', '--apply');
    expect([applied.code, applied.out]).toEqual([1, '']);
    expect(applied.err).toMatch(/MACHINE_SET_REFUSED: MachineSet linux exists and is not one for Windows/);
    const deleted = await wmco('machineset', '--delete', '--yes', '--name', 'linux');
    expect([deleted.code, deleted.out]).toEqual([1, '']);
    expect(deleted.err).toMatch(/MACHINE_SET_REFUSED: .*os-id: Windows\n {2}-> Windows MachineSets there: none/);
    expect((await wmco('machineset', '--delete', '--yes')).err).toMatch(/OBJECT_MISSING: .* 0 Windows MachineSets/);
    expect((await wmco('machineset', '--delete', '--yes', '--name', 'x')).err).toMatch(/there is no MachineSet "x"/);
    const after = await client.get(machineSets, 'linux', { namespace });
    expect(after.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });
});

test('--delete says which Machines and Nodes go, asks, and waits until they are gone', async () => {
  await onVsphere(async () => {
    await wmco('machineset', ...template, '--apply');
    const { metadata } = await client.get(machineSets, 'winworker', { namespace });
    const owner = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', controller: true };
    const machineOf = ({ name: set = '', uid = '' }: typeof metadata, name: string) => ({
      metadata: { name, labels: role, ownerReferences: [{ ...owner, name: set, uid }] },
    });
    for (const name of ['win-a', 'win-b']) await client.create(machines, machineOf(metadata, name), { namespace });
    const { metadata: linux } = await client.get(machineSets, linuxName, { namespace });
    await client.create(machines, machineOf(linux, 'other'), { namespace });
    const status = { nodeRef: { kind: 'Node', name: 'node-a' } };
    await client.patch(machines, 'win-a', { type: 'merge', body: { status } }, { namespace, subresource: 'status' });

    const unasked = await wmco('machineset', '--delete');
    expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('Pass --yes')]);
    expect(unasked.out).toMatch(
      /deletes 2 Machines.*\n- Machine win-a, Node node-a\n- Machine win-b, without a Node\n/,
    );
    const environment = { KUBECONFIG: join(folder, 'kubeconfig') };
    {
      await using asked = startOnTerminal(['machineset', '--delete'], { environment, columns: 120, rows: 24 });
      await asked.until('Type winworker to delete it: ');
      asked.type('win-a\n');
      expect([await asked.ended(), asked.out()]).toEqual([
        1,
        expect.stringContaining('The MachineSet is not deleted.'),
      ]);
      expect(await client.find(machineSets, 'winworker', { namespace })).toBeDefined();
    }
    await using deletion = startWmco(['machineset', '--delete', '--yes'], { folder, environment });
    await deletion.until('MachineSet winworker deleted');
    expect(await client.find(machineSets, 'winworker', { namespace })).toBeUndefined();
    // The garbage collector of some clusters is faster.
    await remove(machines, 'win-a');
    await remove(machines, 'win-b');
    expect(await deletion.ended()).toBe(0);
    expect(deletion.out().match(/Machine win-[ab] is gone \([12] of 2\)\n/g)).toHaveLength(2);
    expect(await client.find(machines, 'other', { namespace })).toBeDefined();
  });
});

test('--delete that takes too long says what is left', async () => {
  await onVsphere(async () => {
    await wmco('machineset', ...template, '--apply');
    await client.create(machines, { metadata: { name: 'win-a', labels: role } }, { namespace });
    const deleted = await wmco('machineset', '--delete', '--yes', '--timeout', '1s');
    expect([deleted.code, deleted.err]).toEqual([1, expect.stringContaining('REMOVAL_UNFINISHED: 1 of 1 Machines')]);
    await until(async () => (await client.find(machineSets, 'winworker', { namespace })) === undefined);
  });
});

test('a cluster without OpenShift is told apart', async () => {
  const { code, err } = await wmco('machineset', ...template);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/OBJECT_MISSING: .*no Infrastructure object.*\n {2}-> .*windows-instances/),
  ]);
});

test('prepare-host authorizes the key of the Secret, and prints nothing else of it', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
  const { metadata } = await client.create(namespaces, { metadata: { generateName: 'prepare-host-' } });
  const { name = '' } = metadata;
  try {
    const missing = await wmco('prepare-host', '-n', name);
    expect([missing.code, missing.out]).toEqual([1, '']);
    expect(missing.err).toMatch(
      /PRIVATE_KEY_MISSING: Secret \S+\/cloud-private-key does not exist\n {2}-> .*--key-file/,
    );
    const secret = { metadata: { name: 'cloud-private-key' }, stringData: { 'private-key.pem': pem } };
    await client.create(secrets, secret, { namespace: name });
    const { code, out, err } = await wmco('prepare-host', '-n', name);
    expect([code, err]).toEqual([0, '']);
    const { publicKey } = parsePrivateKey(pem);
    expect(out).toContain(`$authorizedKey = '${printPublicKey(publicKey)} windows-machine-config-operator'\n`);
    expect(out).not.toContain(pem.split('\n')[1]);
  } finally {
    await client.delete(namespaces, name);
  }
});
