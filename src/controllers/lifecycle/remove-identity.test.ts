import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import { address, namespace } from '../../../test/kit/lifecycle/join-lab.ts';
import {
  annotate,
  direct,
  force,
  joinedLab,
  remains,
  removalRequest,
  untilGone,
} from '../../../test/kit/lifecycle/removal-lab.ts';

/** A Node whose instance was deleted while no operator ran. */
async function orphanLab() {
  const { lab, host, operator } = await joinedLab({}, { source: direct });
  await operator.stop();
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  return { lab, host };
}

const spec = { address, username: 'Administrator', source: direct };
const request = { metadata: { name: 'orphan', namespace, annotations: removalRequest }, spec };

test('an instance that requests the removal of an orphan Node has its host cleaned', async () => {
  const { lab, host } = await orphanLab();
  await lab.client.create(windowsInstances, request);
  lab.start();
  await untilGone(lab, 'orphan');
  expect(await lab.node()).toBeUndefined();
  expect(await remains(host)).toEqual([]);
});

test('a Node that was configured with another host key stays, and so does its host', async () => {
  const { lab, host } = await orphanLab();
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.sshHostKey]: 'other' } } });
  await lab.client.create(windowsInstances, request);
  lab.start();
  expect(await lab.failed('HOST_NAME_TAKEN', 'orphan')).toContain('was configured with another SSH host key');
  expect(host.verbs()).not.toContain('cleanup');
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
});

const forced: [about: string, hostKey: (own: string) => string | undefined, isGone: boolean][] = [
  ['is deleted by a forced request with its host key', own => own, true],
  ['stays when a forced request has another host key', () => 'ssh-ed25519 BBBB', false],
  ['stays when a forced request has no host key', () => undefined, false],
];
test.each(forced)('an orphan Node %s', async (_, keyOf, isGone) => {
  const { lab, host } = await orphanLab();
  const { metadata } = (await lab.node()) ?? {};
  const hostKey = keyOf(`ssh-ed25519 ${metadata?.annotations?.[nodeAnnotation.sshHostKey]}`);
  await lab.client.create(windowsInstances, {
    metadata: { name: 'win-5', namespace, annotations: { ...removalRequest, ...force } },
    spec: { ...spec, ...(hostKey !== undefined && { hostKey }) },
  });
  const before = host.connectionCount;
  lab.start();
  await untilGone(lab);
  expect((await lab.node()) === undefined).toBe(isGone);
  expect(host.connectionCount).toBe(before);
});

test('a host that runs a kubelet of another name is not cleaned', async () => {
  const { lab, host } = await joinedLab();
  host.faults.answer = (verb, data) => (verb === 'inventory' ? { ...data, nodeName: 'win-9' } : data);
  await annotate(lab, removalRequest);
  expect(await lab.failed('NODE_NAME_CHANGED')).toContain('the host name is win-9, but it joined as win-5');
  expect(host.verbs()).not.toContain('cleanup');
});

test('a host that another instance lists stays as it is; only the instance is deleted', async () => {
  const { lab, host } = await joinedLab();
  await lab.add({ source: direct }, 'other');
  await lab.statusWhen(({ phase }) => phase === 'Failed', 'other');
  await annotate(lab, removalRequest);
  await untilGone(lab);
  expect(await lab.node()).toBeDefined();
  expect(host.verbs()).not.toContain('cleanup');
  await lab.ready('other');
  expect(await remains(host)).toContain('kubelet');
});

test('a forged record about the Node of another instance removes neither its Node nor its host', async () => {
  const { lab, host } = await joinedLab();
  const [uid, before] = [(await lab.node())?.metadata.uid, host.verbs()];
  const hostKey = 'ssh-ed25519 AAAA';
  const record = JSON.stringify({ host: { name: 'win-5', addresses: ['10.9.9.9'] }, hostKey });
  const annotations = { ...removalRequest, ...force, [instanceAnnotation.record]: record };
  const forged = { address: '10.9.9.9', username: 'x', source: direct, hostKey };
  await lab.client.create(windowsInstances, { metadata: { name: 'forged', namespace, annotations }, spec: forged });
  await untilGone(lab, 'forged');
  const node = await lab.node();
  expect([node?.metadata.uid, node?.spec?.unschedulable, host.verbs()]).toEqual([uid, undefined, before]);
});
