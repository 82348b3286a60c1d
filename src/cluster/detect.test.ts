import { expect, test } from 'vitest';
import { nodes } from '#kube/resources.ts';
import { infrastructures, machineConfigs, machines } from '#kube/resources-openshift.ts';
import { MemoryApi, refused } from '../../test/kit/memory-api.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { detectCluster } from './detect.ts';
import { windowsInstances } from './windows-instance-resource.ts';

const { signal } = new AbortController();

/** A server that has these resources, by group and version. */
function serverWith(resources: Record<string, string[]>, version: unknown = { gitVersion: 'v1.36.2' }): MemoryApi {
  const api = new MemoryApi();
  const groups = Map.groupBy(Object.keys(resources), each => each.split('/')[0] ?? '');
  api.paths.set('/version', version);
  api.paths.set('/apis', {
    groups: [...groups].map(([name, versions]) => ({
      name,
      versions: versions.map(groupVersion => ({ groupVersion, version: groupVersion.split('/')[1] })),
    })),
  });
  for (const [groupVersion, names] of Object.entries(resources)) {
    api.paths.set(`/apis/${groupVersion}`, { resources: names.map(name => ({ name })) });
  }
  return api;
}

const openshift = {
  'apps/v1': ['deployments', 'deployments/status'],
  'config.openshift.io/v1': ['infrastructures', 'networks'],
  'machine.openshift.io/v1beta1': ['machines', 'machines/status'],
};
const asked = [machines, machineConfigs, windowsInstances, infrastructures];

test('knows OpenShift by its own objects', async () => {
  const found = await detectCluster(serverWith(openshift), asked, signal);
  expect(found).toMatchObject({ kind: 'openshift', serverVersion: 'v1.36.2' });
});

const plain: [name: string, resources: Record<string, string[]>][] = [
  ['without any group of OpenShift', { 'apps/v1': ['deployments'] }],
  ['without any group at all', {}],
  ['with Machines only', { 'machine.openshift.io/v1beta1': ['machines'] }],
  ['with another version of the group', { 'config.openshift.io/v2': ['infrastructures'] }],
  ['with the group, but not the resource', { 'config.openshift.io/v1': ['projects'] }],
];
for (const [name, resources] of plain) {
  test(`takes a cluster ${name} for plain Kubernetes`, async () => {
    expect((await detectCluster(serverWith(resources), asked, signal)).kind).toBe('kubernetes');
  });
}

const served: [name: string, resource: (typeof asked)[number] | typeof nodes, want: boolean][] = [
  ['a resource that is there', machines, true],
  ['a resource of a group that is not there', machineConfigs, false],
  ['our own resource, not installed', windowsInstances, false],
  ['a resource of the core', nodes, true],
];
for (const [name, resource, want] of served) {
  test(`reports whether the server knows ${name}`, async () => {
    expect((await detectCluster(serverWith(openshift), asked, signal)).serves(resource)).toBe(want);
  });
}

test('reports no for what it was not asked about', async () => {
  const { serves } = await detectCluster(serverWith(openshift), [], signal);
  expect([serves(machines), serves(infrastructures)]).toEqual([false, true]);
});

test('asks only for groups that are there and wanted, each once', async () => {
  const api = serverWith(openshift);
  await detectCluster(api, [...asked, machines], signal);
  expect(api.calls.map(({ name }) => name).sort()).toEqual([
    'GET /apis',
    'GET /apis/config.openshift.io/v1',
    'GET /apis/machine.openshift.io/v1beta1',
    'GET /version',
  ]);
});

test('passes on that the server cannot be asked', async () => {
  const api = serverWith(openshift);
  api.before = ({ name }) => {
    if (name.includes('machine')) throw refused(503, 'ServiceUnavailable');
  };
  await expect(detectCluster(api, asked, signal)).rejects.toMatchObject({ code: 503 });
});

const strange: [name: string, version: unknown, want: string][] = [
  ['has no version', {}, ''],
  ['has another version', { gitVersion: 'v1.37.0+abc' }, 'v1.37.0+abc'],
];
for (const [name, version, want] of strange) {
  test(`copes with a server that ${name}`, async () => {
    expect((await detectCluster(serverWith({}, version), asked, signal)).serverVersion).toBe(want);
  });
}

test.each([[{ gitVersion: 4 }], ['text'], [[]]])('refuses a version that is %j', async version => {
  expect(await rejectionOf(detectCluster(serverWith({}, version), asked, signal))).toMatchObject({
    code: 'FIELD_INVALID',
    message: expect.stringContaining('/version'),
  });
});

test('stops when the signal is aborted', async () => {
  const stopped = AbortSignal.abort(new Error('enough'));
  const api = serverWith(openshift);
  const raw: typeof api.raw = (method, path) =>
    stopped.aborted ? Promise.reject(stopped.reason) : api.raw(method, path);
  await expect(detectCluster({ raw }, asked, stopped)).rejects.toThrow('enough');
});
