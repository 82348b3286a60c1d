import { expect, test } from 'vitest';
import { configMapName, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';
import { printHostKey } from '#host/host-key.ts';
import { fingerprint, printPublicKey } from '#host/keys/public-key.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { adoptSteps } from '#node/lifecycle/configure/steps.ts';
import { address, type JoinLab, namespace, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import { anyKey, type LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

const old = '10.0.0-old';

/** A host that another version or operator has set up, and that is not upgraded yet. */
async function configuredLab(annotations: Record<string, string> = {}): Promise<{ lab: JoinLab; host: LabHost }> {
  const lab = await startJoinLab();
  await lab.pauseRollout();
  const host = lab.host();
  host.model.services.install('kubelet', { command: 'old.exe', description: 'OpenShift managed kubelet' });
  const made = await lab.client.create<Node>(nodes, {
    metadata: {
      name: 'win-5',
      labels: { [nodeLabel.os]: 'windows', [nodeLabel.byoh]: 'true' },
      annotations: {
        [nodeAnnotation.pubKeyHash]: 'h',
        [nodeAnnotation.desiredVersion]: old,
        [nodeAnnotation.version]: old,
        [nodeAnnotation.sshHostKey]: printHostKey(host.hostKey),
        ...annotations,
      },
    },
  });
  const status = { addresses: [{ type: 'InternalIP', address }], conditions: [{ type: 'Ready', status: 'True' }] };
  await lab.client.replace(nodes, { ...made, status }, { subresource: 'status' });
  return { lab, host };
}

function expectUntouched(host: LabHost): void {
  expect(host.verbs().filter(verb => verb !== 'inventory')).toEqual([]);
  expect(host.uploads.filter(path => path.startsWith(dir.incoming))).toEqual([]);
  expect([host.model.services.calls, host.boots]).toEqual([[], 1]);
}

test('a host whose Node another version has finished is recorded and left as it is', async () => {
  const { lab, host } = await configuredLab();
  const before = await lab.node();
  lab.start();
  await lab.add();
  const status = await lab.ready();
  expect(status).toMatchObject({
    node: 'win-5',
    host: { name: 'win-5', addresses: [address] },
    hostKey: printPublicKey(host.hostKey),
    version: old,
  });
  expect([status.tokens, status.agent, status.journey, lab.tokens]).toEqual([undefined, undefined, undefined, 0]);
  expect(status.timeline?.map(({ name }) => name)).toEqual(adoptSteps.map(({ name }) => name));
  expect(status.conditions?.find(({ type }) => type === 'Configured')).toMatchObject({
    status: 'True',
    reason: 'OtherVersion',
    message: `Node win-5 runs version ${old}, and this operator is ${version}`,
  });
  expectUntouched(host);
  expect((await lab.node())?.metadata).toEqual(before?.metadata);
  await until(async () => (await lab.events()).length >= 2);
  const text = `Adopted Node win-5 of version ${old} as the instance with address ${address}; its host is unchanged`;
  expect((await lab.events()).toSorted()).toEqual([
    `ConfigMap windows-instances: InstanceAdopted: ${text}`,
    `WindowsInstance win-5: InstanceAdopted: ${text}`,
  ]);
});

test('a Node without an SSH host key, as the Go operator configured it, has the key shown pinned, with an event', async () => {
  const { lab, host } = await configuredLab({ [nodeAnnotation.sshHostKey]: '' });
  lab.start();
  await lab.add();
  expect(await lab.ready()).toMatchObject({ node: 'win-5', hostKey: printPublicKey(host.hostKey) });
  const text = `; pinned its SSH host key ${fingerprint(host.hostKey)}`;
  await until(async () => (await lab.events()).filter(event => event.endsWith(text)).length === 2);
  expectUntouched(host);
});

const cordons: [name: string, label: boolean, annotations: Record<string, string>, stays: boolean][] = [
  ['of the Go operator, which was ended in an upgrade, is removed', true, {}, false],
  ['of an administrator stays', false, {}, true],
  [
    'of an administrator stays in an upgrade of this operator',
    true,
    { [nodeAnnotation.desiredServices]: `${old}:a:b` },
    true,
  ],
];
test.each(cordons)('the cordon of a Node that is adopted: one %s', async (_, hasLabel, annotations, stays) => {
  const { lab } = await configuredLab(annotations);
  const labels = hasLabel ? { [nodeLabel.upgrading]: 'true' } : {};
  const body = { metadata: { labels }, spec: { unschedulable: true } };
  await lab.client.patch(nodes, 'win-5', { type: 'merge', body });
  lab.start();
  await lab.add();
  await lab.ready();
  const isMarked = async () => (await lab.node())?.metadata.labels?.[nodeLabel.upgrading] !== undefined;
  await until(async () => !(await isMarked()));
  const { spec, metadata } = (await lab.node()) ?? { metadata: {} };
  expect([spec?.unschedulable ?? false, metadata.annotations?.[nodeAnnotation.cordoned]]).toEqual([stays, undefined]);
});

test('it is adopted once: another operator only reports it', async () => {
  const { lab, host } = await configuredLab();
  const first = lab.start();
  await lab.add();
  await lab.ready();
  await first.stop();
  const { connectionCount } = host;
  await lab.patchStatus({ phase: 'Pending' });
  lab.start();
  await lab.ready();
  expect(host.connectionCount).toBe(connectionCount);
});

test('an instance of an earlier operator, which recorded the Node only, is adopted, too', async () => {
  const { lab, host } = await configuredLab();
  await lab.add();
  await lab.patchStatus({ phase: 'Ready', node: 'win-5', version: old });
  lab.start();
  const status = await lab.statusWhen(({ phase, host: known }) => phase === 'Ready' && known !== undefined);
  expect(status).toMatchObject({ node: 'win-5', hostKey: printPublicKey(host.hostKey), version: old });
  expectUntouched(host);
});

test('a Node that was set up with another host key is not adopted', async () => {
  const { lab, host } = await configuredLab({ [nodeAnnotation.sshHostKey]: printHostKey(anyKey()) });
  lab.start();
  await lab.add();
  expect(await lab.failed('HOST_NAME_TAKEN')).toContain('Node win-5 was configured with another SSH host key');
  const { status } = await lab.instance();
  expect([status?.node, status?.host, status?.version]).toEqual([undefined, undefined, undefined]);
  expectUntouched(host);
});

test('a host that has its key on the Node of another instance, and says its name, is not adopted as that one', async () => {
  const { lab, host } = await configuredLab();
  const other = '10.0.0.6';
  lab.hosts.set(other, host);
  const data = { [address]: 'username=a', [other]: 'username=a' };
  await lab.client.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
  await lab.add({ paused: true });
  lab.start();
  await lab.add({ address: other, source: { kind: 'ConfigMap', name: other } }, 'liar');
  expect(await lab.failed('HOST_NAME_TAKEN', 'liar')).toContain(
    'Node win-5 is not at this address, but at that of WindowsInstance win-5',
  );
  const { status } = await lab.instance('liar');
  expect([status?.node, status?.host, status?.version]).toEqual([undefined, undefined, undefined]);
  expectUntouched(host);
});

test('what the Node says of its version later changes no record', async () => {
  const { lab } = await configuredLab();
  lab.start();
  await lab.add();
  await lab.ready();
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: 'other' } } });
  const { version: recorded } = await lab.statusWhen(
    ({ conditions }) => conditions?.some(({ message }) => message?.includes('claims version other')) === true,
  );
  expect(recorded).toBe(old);
});

test('a host of the operator that calls itself one of another version is not recorded as such', async () => {
  const lab = await startJoinLab();
  await lab.pauseRollout();
  lab.host();
  lab.start();
  await lab.add();
  await lab.ready();
  lab.behavior.noVersion = true;
  await lab.report({ version: old });
  const { version: recorded } = await lab.statusWhen(
    ({ conditions }) => conditions?.some(({ reason }) => reason === 'OtherVersion') === true,
  );
  expect(recorded).toBe(version);
});

test('a host that joins and calls itself one of another version is not recorded as such', async () => {
  const lab = await startJoinLab();
  await lab.pauseRollout();
  const host = lab.host();
  const operator = lab.start();
  host.faults.exec = async command => {
    if (command.includes(' install ')) await operator.kill();
    return undefined;
  };
  await lab.add();
  await until(() => host.verbs().includes('install') && host.openConnections === 0);
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: old } } });
  host.faults.exec = () => undefined;
  lab.start();
  const status = await lab.ready();
  expect([status.version, status.conditions?.[0]?.reason]).toEqual([undefined, 'OtherVersion']);
});
