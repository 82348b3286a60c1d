import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { namespaces } from '#kube/resources.ts';
import { address, namespace, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import {
  annotate,
  direct,
  force,
  isGone,
  joinedLab,
  remains,
  removalRequest,
  untilGone,
} from '../../../test/kit/lifecycle/removal-lab.ts';
import { until } from '../../../test/kit/until.ts';
import { parseRecord } from './act/deleted-instances.ts';

test('the host of a deleted Direct instance is cleaned, and the instance is gone for good', async () => {
  const { lab, host } = await joinedLab({}, { source: direct });
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await until(async () => (await lab.node()) === undefined && (await isGone(lab)), 'Node and instance are deleted');
  expect(await remains(host)).toEqual([]);
});

test('a deleted Direct instance comes back with its record while its host does not answer', async () => {
  const { lab, host } = await joinedLab({}, { source: direct });
  const before = await lab.instance();
  host.stopAnswering();
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await lab.failed('HOST_UNREACHABLE');
  const { metadata, spec, status } = await lab.instance();
  expect(metadata.uid).not.toBe(before.metadata.uid);
  expect(metadata.annotations).toHaveProperty([instanceAnnotation.removal]);
  expect(spec).toMatchObject({ ...before.spec, hostKey: before.status?.hostKey });
  expect(status?.host).toEqual(before.status?.host);
  expect(status?.journey).toMatchObject({ name: 'remove', cause: 'it was deleted' });
  expect(await lab.node()).toBeDefined();
  await annotate(lab, force);
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
});

test('an instance that is deleted while its host is removed is removed to the end', async () => {
  const { lab, host } = await joinedLab();
  host.stopAnswering();
  await annotate(lab, removalRequest);
  await lab.failed('HOST_UNREACHABLE');
  const { metadata } = await lab.instance();
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await until(async () => !(await isGone(lab)) && (await lab.instance()).metadata.uid !== metadata.uid);
  host.faults = {};
  await annotate(lab, { [instanceAnnotation.retry]: 'now' });
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
  expect(await remains(host)).toEqual([]);
});

const stays: [why: string, problem: string][] = [
  ['the namespace is being deleted', `Namespace ${namespace} is being deleted`],
  ['the server cannot be read', 'Namespace and CustomResourceDefinition cannot be read: timeout'],
];
test.each(stays)('a deleted Direct instance leaves Node and host unchanged when %s', async (_, problem) => {
  let isUninstalling = false;
  const now = async () => (isUninstalling ? problem : undefined);
  const installation = { problem: now, recentProblem: now };
  const { lab, host } = await joinedLab({ installation }, { source: direct });
  const before = await remains(host);
  isUninstalling = true;
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await until(() => lab.logged.messages('info').includes('Leaving host of a deleted WindowsInstance unchanged'));
  expect(await isGone(lab)).toBe(true);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  expect(await remains(host)).toEqual(before);
});

test('deleting the namespace removes no host', async () => {
  const { lab, host } = await joinedLab({}, { source: direct });
  const before = await remains(host);
  await lab.client.delete(namespaces, namespace);
  await until(() => isGone(lab));
  await until(() => lab.logged.messages('info').includes('Leaving host of a deleted WindowsInstance unchanged'));
  expect(await lab.node()).toBeDefined();
  expect(await remains(host)).toEqual(before);
});

test('a deleted Direct instance does not come back when another instance has taken over its host', async () => {
  const { lab, host } = await joinedLab({}, { source: direct });
  const { status } = await lab.instance();
  await lab.add({ address: '10.0.0.6', source: direct }, 'other');
  await lab.failed('HOST_UNREACHABLE', 'other');
  await lab.patchStatus({ hostKey: status?.hostKey, host: status?.host }, 'other');
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await until(() => lab.logged.messages('info').includes('Leaving host of a deleted WindowsInstance unchanged'));
  expect(await isGone(lab)).toBe(true);
  expect(await remains(host)).toContain('kubelet');
});

test('a Direct instance that was never connected to does not come back', async () => {
  const lab = await startJoinLab();
  lab.start();
  await lab.add({ source: direct });
  await lab.failed('HOST_UNREACHABLE');
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  // Processed after the deletion.
  await lab.add({ address: '10.0.0.6', source: direct }, 'win-6');
  await lab.failed('HOST_UNREACHABLE', 'win-6');
  expect(await isGone(lab)).toBe(true);
});

const key = 'ssh-ed25519 AAAA';
const host = { name: 'win-5', addresses: [address] };
const agent = { keyHash: 'ab', installed: '2026-03-01T12:00:00Z' };
const records: [about: string, text: string, want: object | undefined][] = [
  [
    'a full record',
    JSON.stringify({ hostKey: key, host, agent, nodeUID: 'u' }),
    { hostKey: key, host, agent, nodeUID: 'u' },
  ],
  ['unknown fields, which are dropped', JSON.stringify({ hostKey: key, host, phase: 'Ready' }), { hostKey: key, host }],
  ['another host key', JSON.stringify({ hostKey: 'ssh-ed25519 BBBB', host }), undefined],
  ['no host', JSON.stringify({ hostKey: key }), undefined],
  ['a wrong type', JSON.stringify({ hostKey: key, host: { name: 5, addresses: [] } }), undefined],
  ['an identity without a time', JSON.stringify({ hostKey: key, host, agent: { keyHash: 'ab' } }), undefined],
  ['no JSON', 'record', undefined],
  ['too much', JSON.stringify({ hostKey: key, host, more: 'x'.repeat(20_000) }), undefined],
];
test.each(records)('reads %s', (_, text, want) => {
  expect(parseRecord(text, key)).toEqual(want);
});
