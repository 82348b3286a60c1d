import { expect, test } from 'vitest';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { printHostKey } from '#host/host-key.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import { events, type Node, nodes } from '#kube/resources.ts';
import { address, type JoinLab, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import { anyKey, LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

/** A Node whose kubelet reports an address that is not its own. */
async function addImpostor(lab: JoinLab, name = 'evil'): Promise<Node> {
  const annotations = {
    [nodeAnnotation.sshHostKey]: printHostKey(anyKey()),
    [nodeAnnotation.sshHostKeyType]: 'ssh-ed25519',
    [nodeAnnotation.pubKeyHash]: 'hash-of-key',
    [nodeAnnotation.desiredVersion]: version,
    [nodeAnnotation.version]: version,
  };
  const labels = { [nodeLabel.os]: 'windows', [nodeLabel.byoh]: 'true' };
  const made = await lab.client.create<Node>(nodes, { metadata: { name, labels, annotations } });
  const status = {
    addresses: [{ type: 'InternalIP', address }],
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  return lab.client.replace(nodes, { ...made, status }, { subresource: 'status' });
}

test('a Node that claims the address of another host never becomes its Node', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const evil = await addImpostor(lab);
  lab.start();
  await lab.add();
  const status = await lab.ready();
  expect(status).toMatchObject({ node: 'win-5', host: { name: 'win-5', addresses: [address] } });
  expect(status.nodeUID).toBe((await lab.node())?.metadata.uid);
  // The key that the impostor names is demanded of nobody.
  expect(status.hostKey).toBe(printPublicKey(host.hostKey));
  expect(await lab.node('evil')).toEqual(evil);
});

test('a host whose Node is gone is not bound to a Node that claims its address', async () => {
  const lab = await startJoinLab();
  lab.host();
  lab.start();
  await lab.add();
  const { hostKey } = await lab.ready();
  const evil = await addImpostor(lab);
  await lab.client.delete(nodes, 'win-5');
  await until(async () => (await lab.node())?.metadata.annotations?.[nodeAnnotation.version] === version);
  expect(await lab.ready()).toMatchObject({ node: 'win-5', hostKey });
  expect(await lab.node('evil')).toEqual(evil);
});

test('a host with the name of a Node that has another host key is refused before anything is installed', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const evil = await addImpostor(lab, 'win-5');
  lab.start();
  await lab.add();
  expect(await lab.failed('HOST_NAME_TAKEN')).toContain('Node win-5 was configured with another SSH host key');
  expect(host.verbs().filter(verb => verb !== 'inventory')).toEqual([]);
  expect(await lab.node()).toEqual(evil);
  // The remedy helps.
  await lab.client.delete(nodes, 'win-5');
  await lab.ready();
});

test('two Nodes with one address are reported once on each object', async () => {
  const lab = await startJoinLab();
  lab.host();
  lab.start();
  await lab.add();
  await lab.ready();
  await addImpostor(lab);
  const conflicts = async () =>
    (await lab.client.list(events, { namespace: '' })).items.filter(({ reason }) => reason === 'NodeAddressConflict');
  await until(async () => (await conflicts()).length === 2);
  for (const name of ['win-5', 'evil']) {
    const body = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    await lab.client.patch(nodes, name, { type: 'merge', body }, { subresource: 'status' });
  }
  await lab.statusWhen(({ conditions }) => conditions?.some(({ reason }) => reason === 'NodeNotReady') === true);
  const found = await conflicts();
  expect(new Set(found.map(({ involvedObject }) => involvedObject.kind))).toEqual(
    new Set(['ConfigMap', 'WindowsInstance']),
  );
  expect(found).toHaveLength(2);
  for (const event of found) {
    expect(event).toMatchObject({
      count: 1,
      type: 'Warning',
      message: `Node evil reports the address ${address}, which belongs to Node win-5. Find out which of the two hosts has it`,
    });
  }
});

/** Has the host configured again, as after any change that needs it. */
async function joinAgain(lab: JoinLab): Promise<void> {
  await lab.forgetVersion();
  await lab.statusWhen(({ step }) => step === 'wait for agent');
  lab.behavior.noVersion = false;
  lab.look();
  await lab.statusWhen(({ phase, step }) => phase === 'Ready' && step === undefined);
}

test('a host whose address changes keeps instance, pin and Node', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.start();
  await lab.add();
  const before = await lab.ready();
  lab.hosts.set('10.0.0.77', host);
  lab.hosts.delete(address);
  await lab.patchSpec({ address: '10.0.0.77' });
  await joinAgain(lab);
  const { status: after, metadata } = await lab.instance();
  expect(metadata.generation).toBe(2);
  for (const kept of ['node', 'nodeUID', 'hostKey', 'agent'] as const) {
    expect(after?.[kept]).toMatchObject(
      kept === 'agent' ? { keyHash: before.agent?.keyHash } : (before[kept] as never),
    );
  }
  expect(after).toMatchObject({ ipv4: '10.0.0.77', host: { name: 'win-5', addresses: ['10.0.0.77', address] } });
});

test('a name that resolves elsewhere leads to the same host, with its pin and Node', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.hosts.set('win.example.com', host);
  let resolved = address;
  lab.start({ resolver: { addresses: async () => [resolved] } });
  await lab.add({ address: 'win.example.com' });
  const before = await lab.ready();
  resolved = '10.0.0.88';
  await joinAgain(lab);
  const { status: after } = await lab.instance();
  expect([after?.ipv4, after?.host?.addresses]).toEqual(['10.0.0.88', ['10.0.0.88', address]]);
  expect([after?.nodeUID, after?.hostKey]).toEqual([before.nodeUID, before.hostKey]);
});

test('a name that leads to another host changes nothing in the record', async () => {
  const lab = await startJoinLab();
  lab.hosts.set('win.example.com', lab.host());
  let resolved = address;
  lab.start({ resolver: { addresses: async () => [resolved] } });
  await lab.add({ address: 'win.example.com' });
  const before = await lab.ready();
  resolved = '10.0.0.77';
  lab.hosts.set('win.example.com', new LabHost(resolved));
  await lab.forgetVersion();
  await lab.failed('HOST_KEY_CHANGED');
  const { status: after } = await lab.instance();
  expect([after?.ipv4, after?.host, after?.hostKey]).toEqual([address, before.host, before.hostKey]);
});

test('another host at the new address is refused: the pin goes with the instance', async () => {
  const lab = await startJoinLab();
  lab.host();
  const other = new LabHost('10.0.0.77');
  lab.hosts.set('10.0.0.77', other);
  lab.start();
  await lab.add();
  const { hostKey } = await lab.ready();
  await lab.patchSpec({ address: '10.0.0.77' });
  await lab.forgetVersion();
  await lab.failed('HOST_KEY_CHANGED');
  expect([other.commands, other.uploads, (await lab.instance()).status?.hostKey]).toEqual([[], [], hostKey]);
});

test('a host that was renamed is refused while its Node exists, and joins under the new name without it', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const operator = lab.start();
  await lab.add();
  await lab.ready();
  await operator.stop();
  await lab.forgetVersion();
  // Of a configured host the name is in the command line of its kubelet.
  host.faults.answer = (verb, data) => (verb === 'inventory' ? { ...data, nodeName: host.model.state.hostName } : data);
  host.model.state.hostName = 'renamed';
  // Its certificate is for the former name, so that the kubelet cannot register under the new one.
  lab.behavior.noNode = true;
  lab.start();
  expect(await lab.failed('NODE_NAME_CHANGED')).toContain('the host name is renamed, but the host joined as win-5');
  lab.behavior = { noNode: true };
  host.faults.exec = command => {
    if (command.includes(' bootstrap ')) lab.behavior = {};
    return undefined;
  };
  await lab.client.delete(nodes, 'win-5');
  expect(await lab.ready()).toMatchObject({ node: 'renamed', host: { name: 'renamed' } });
});

test('a host that has got a kubelet certificate keeps its name, also without a Node, until it is removed and added', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.state.hostName = 'worker-7';
  lab.behavior.noNode = true;
  host.faults.exec = command => {
    if (command.includes(' bootstrap ')) throw new Error('the host does not want to');
    return undefined;
  };
  lab.start();
  await lab.add();
  await lab.statusWhen(({ host: known }) => known?.name === 'worker-7');
  await lab.patchStatus({ certifiedName: 'worker-7' });
  host.model.state.hostName = 'win-2';
  const message = await lab.failed('NODE_NAME_CHANGED');
  expect(message).toContain('host name is win-2, but the host joined as worker-7');
  expect((await lab.instance()).status?.host?.name).toBe('worker-7');
});

test('a Node that appears under the claimed name before the host is recorded is not taken for its Node', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.state.containersFeature = 'disabled';
  host.faults.exec = async command => {
    if (command.includes(' reboot ')) await lab.client.create<Node>(nodes, { metadata: { name: 'win-5' } });
    return undefined;
  };
  lab.start();
  await lab.add();
  await lab.failed('HOST_NAME_TAKEN');
  const { status } = await lab.instance();
  expect([status?.node, status?.host, status?.tokens]).toEqual([undefined, undefined, undefined]);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
});
