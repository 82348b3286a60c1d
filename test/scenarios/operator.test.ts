import { afterAll, beforeAll, expect, test } from 'vitest';
import { nodeAnnotation, nodeLabel, windowsTaint } from '../../src/contract/names.ts';
import { findCondition } from '../../src/base/condition.ts';
import { certificateSigningRequests, type Node, nodes } from '../../src/kube/resources.ts';
import { machineSets, machines } from '../../src/kube/resources-openshift.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** The real operator in a sandbox, as in `wmco sandbox`. */

let sandbox: Sandbox;
let operator: SandboxOperator;
let windows: Node[];
const namespace = 'openshift-machine-api';

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 3, machines: 1, speed: 10 });
  operator = startOperator(sandbox);
  await operator.allReady(4);
  windows = (await operator.client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` })).items;
}, 120_000);
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
});

test('listed hosts and a Machine become Nodes with the names of their hosts', () => {
  expect(
    windows.map(({ metadata }) => metadata.name).toSorted((one = '', other = '') => (one < other ? -1 : 1)),
  ).toEqual(['win-1', 'win-2', 'win-3', expect.stringMatching(/^winworker-/)]);
});

test('every Node is ready, schedulable and has all labels and annotations', () => {
  for (const { metadata, spec, status } of windows) {
    expect(findCondition(status?.conditions, 'Ready')?.status).toBe('True');
    expect(spec).toEqual({ taints: [windowsTaint] });
    expect(metadata.annotations).toMatchObject({
      [nodeAnnotation.version]: operator.version,
      [nodeAnnotation.desiredVersion]: operator.version,
      [nodeAnnotation.pubKeyHash]: expect.stringMatching(/^[0-9a-f]{64}$/),
      [nodeAnnotation.username]: expect.any(String),
      [nodeAnnotation.sshHostKey]: expect.any(String),
      [nodeAnnotation.hybridOverlaySubnet]: expect.any(String),
    });
    expect(metadata.labels).toMatchObject({ [nodeLabel.worker]: '' });
  }
});

test('the operator approves certificates of listed hosts, the cluster those of the Machine', async () => {
  const { items } = await operator.client.list(certificateSigningRequests);
  const reasons = new Set(items.flatMap(({ status }) => (status?.conditions ?? []).map(({ reason }) => reason)));
  expect(reasons).toEqual(new Set(['WMCOApprove', 'WICDAutoApproved', 'NodeCSRApprove']));
});

test('a join needs at most eight sessions, one upload and no reboot', () => {
  for (const { stats } of sandbox.hosts) {
    expect(stats.execSessions + stats.sftpSessions).toBeLessThanOrEqual(8);
    expect(stats.reboots).toBe(0);
    expect(stats.uploadedBytes).toBeLessThan(1_200_000);
  }
});

test('the operator logs no secret', async () => {
  const output = operator.lines.join('');
  expect(output).toContain('Detected cluster');
  expect(output).not.toContain(sandbox.privateKey.reveal().split('\n')[1]);
  expect(output).not.toMatch(/PRIVATE KEY|eyJhbGciOi/);
});

test('scaling a MachineSet adds and removes Nodes', async () => {
  const replicas = async (count: number) => {
    await operator.client.patch(
      machineSets,
      'winworker',
      { type: 'merge', body: { spec: { replicas: count } } },
      { namespace },
    );
    await operator.allReady(3 + count);
  };
  await replicas(2);
  await expect
    .poll(async () => (await operator.client.list(machines, { namespace })).items.map(({ status }) => status?.phase))
    .toEqual(['Running', 'Running']);
  expect(sandbox.hosts).toHaveLength(5);
  await operator.client.patch(
    machineSets,
    'winworker',
    { type: 'merge', body: { spec: { replicas: 0 } } },
    { namespace },
  );
  await expect.poll(() => sandbox.hosts.length).toBe(3);
  await expect.poll(async () => (await operator.client.list(nodes)).items.length).toBe(3 + 2);
});

test('renames the host of a Machine on Nutanix with one reboot', async () => {
  await using own = await startSandbox({ machines: 1, speed: 10, platform: 'Nutanix' });
  await using other = startOperator(own, { platform: 'Nutanix' });
  const [instance] = await other.allReady(1);
  const [host] = own.hosts;
  expect(instance?.status?.node).toBe(host?.spec.name);
  expect([host?.state.hostName, host?.stats.reboots]).toEqual([host?.spec.name, 1]);
});

test('a host without the Containers feature is rebooted once and joins', async () => {
  await using own = await startSandbox({ hosts: 1, speed: 20, faults: ['no-containers'] });
  await using other = startOperator(own);
  await other.allReady(1);
  expect(own.host('win-1').stats.reboots).toBe(1);
});
