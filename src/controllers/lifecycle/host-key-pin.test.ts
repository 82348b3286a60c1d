import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import type { WindowsInstanceSpec } from '#contract/windows-instance/resource.ts';
import { printHostKey } from '#host/host-key.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { address, namespace, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { anyKey } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

/** The patch in the command of a remedy. */
function patchIn(message: string): { spec: WindowsInstanceSpec } {
  const [, patch = ''] = /kubectl patch windowsinstance win-5 -n wmco --type merge -p '([^']+)'/.exec(message) ?? [];
  return JSON.parse(patch) as { spec: WindowsInstanceSpec };
}

async function joinedLab() {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.start();
  await lab.add();
  const status = await lab.ready();
  return { lab, host, status };
}

test('a Node that is deleted does not take the pin along, and the command of the remedy pins a new key', async () => {
  const { lab, host, status } = await joinedLab();
  expect(status.hostKey).toBe(printPublicKey(host.hostKey));
  host.hostKey = anyKey();
  const commands = host.commands.length;
  await lab.client.delete(nodes, 'win-5');
  const message = await lab.failed('HOST_KEY_CHANGED');
  expect((await lab.instance()).status?.hostKey).toBe(status.hostKey);
  expect(host.commands).toHaveLength(commands);
  await until(async () => (await lab.events()).some(line => line.includes('SSHHostKeyChanged')));
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body: patchIn(message) }, { namespace });
  expect((await lab.ready()).hostKey).toBe(printPublicKey(host.hostKey));
});

test('a key that the Node names by itself is not demanded of the host', async () => {
  const { lab, host, status } = await joinedLab();
  const annotations = { 'windowsmachineconfig.openshift.io/ssh-host-key': printHostKey(anyKey()) };
  await lab.patchNode({ metadata: { annotations } });
  await lab.forgetVersion();
  await lab.statusWhen(({ step }) => step === 'wait for agent');
  lab.behavior.noVersion = false;
  lab.look();
  await lab.statusWhen(({ phase, step }) => phase === 'Ready' && step === undefined);
  expect((await lab.instance()).status?.hostKey).toBe(status.hostKey);
  // The annotation is output: it is put right.
  expect((await lab.node())?.metadata.annotations).toMatchObject({
    'windowsmachineconfig.openshift.io/ssh-host-key': printHostKey(host.hostKey),
  });
});

test('an instance that is deleted takes its pin along: another host at its address joins', async () => {
  const { lab, status } = await joinedLab();
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  lab.hosts.delete(address);
  const next = lab.host();
  next.model.state.hostName = 'next';
  await lab.add();
  const after = await lab.ready();
  expect(after).toMatchObject({ node: 'next', hostKey: printPublicKey(next.hostKey) });
  expect(after.hostKey).not.toBe(status.hostKey);
});

test('a key that an earlier operator has stored under the address is demanded, recorded, and then removed there', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const data = { [address]: printHostKey(host.hostKey), '10.0.0.6': printHostKey(anyKey()) };
  await lab.client.create(configMaps, { metadata: { name: configMapName.hostKeys, namespace }, data });
  lab.start();
  await lab.add();
  expect((await lab.ready()).hostKey).toBe(printPublicKey(host.hostKey));
  const left = (await lab.client.get(configMaps, configMapName.hostKeys, { namespace })).data;
  expect(left).toEqual({ '10.0.0.6': data['10.0.0.6'] });
});
