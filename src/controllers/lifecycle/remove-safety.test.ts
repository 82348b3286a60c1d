import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';
import { configMaps } from '#kube/resources.ts';
import { address, namespace, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { lost } from '../../../test/kit/lifecycle/lab-host.ts';
import {
  annotate,
  direct,
  isGone,
  joinedLab,
  remains,
  removalRequest,
  untilGone,
} from '../../../test/kit/lifecycle/removal-lab.ts';
import { until } from '../../../test/kit/until.ts';

const changes = ['cleanup', 'remove-networks', 'remove-files', 'secure'];

test('a host that the preflight refused is not cleaned: it may be a node of another cluster', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.services.install('containerd');
  host.model.fileTexts.set('C:\\k\\kubelet.exe', 'of another cluster');
  lab.start();
  await lab.add();
  await lab.failed('HOST_SERVICE_FOREIGN');
  await annotate(lab, removalRequest);
  await untilGone(lab);
  expect(host.verbs().filter(verb => changes.includes(verb))).toEqual([]);
  expect(host.model.fileTexts.get('C:\\k\\kubelet.exe')).toBe('of another cluster');
});

test('a clone that was refused is removed without a change to the Node that has its name', async () => {
  const lab = await startJoinLab();
  const second = '10.0.0.6';
  for (const host of [lab.host(), lab.host(second)]) host.model.state.hostName = 'template';
  lab.start();
  await lab.add({}, 'first');
  await lab.ready('first');
  await lab.add({ address: second, source: direct }, 'second');
  await lab.failed('NODE_NAME_TAKEN', 'second');
  await annotate(lab, removalRequest, 'second');
  await untilGone(lab, 'second');
  expect((await lab.node('template'))?.spec?.unschedulable).toBeUndefined();
  expect(lab.host(second).verbs()).not.toContain('cleanup');
});

test('files are not removed again when only the agent program is left', async () => {
  const { lab, host } = await joinedLab();
  let failures = 2;
  host.faults.removeFolder = path => {
    failures -= path === dir.agentPrograms ? 1 : 0;
    if (failures >= 0 && path === dir.agentPrograms) throw lost(address);
  };
  await annotate(lab, removalRequest);
  await untilGone(lab);
  expect(host.verbs().filter(verb => verb === 'remove-files')).toHaveLength(1);
  expect(await remains(host)).toEqual([]);
});

test('a removal that is canceled after the files are gone ends with a new Node that is Ready', async () => {
  const { lab, host } = await joinedLab();
  const before = (await lab.node())?.metadata.uid;
  host.faults.removeFolder = () => {
    throw lost(address);
  };
  await annotate(lab, removalRequest);
  await lab.failed('HOST_CONNECTION_LOST');
  host.faults = {};
  await annotate(lab, { [instanceAnnotation.removal]: null });
  await until(async () => (await lab.instance()).status?.phase === 'Ready' && (await lab.node()) !== undefined);
  await until(async () => (await lab.node())?.spec?.unschedulable === undefined);
  expect((await lab.node())?.metadata.uid).not.toBe(before);
});

test('the host of a listed entry stays when a Direct instance of the same host is deleted', async () => {
  const { lab, host } = await joinedLab({}, { source: direct });
  const name = 'win.example.com';
  lab.hosts.set(name, host);
  const data = { [name]: 'username=Administrator' };
  await lab.client.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
  await lab.add({ address: name, source: { kind: 'ConfigMap', name } }, 'listed');
  await until(async () => (await lab.instance('listed')).status?.conditions?.some(({ status }) => status === 'False'));
  const [uid, verbs] = [(await lab.node())?.metadata.uid, host.verbs().length];
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await lab.ready('listed');
  await until(() => isGone(lab));
  expect((await lab.node())?.metadata.uid).toBe(uid);
  expect(
    host
      .verbs()
      .slice(verbs)
      .filter(verb => changes.includes(verb)),
  ).toEqual([]);
});

test('a deleted Direct instance that is applied again keeps its host', async () => {
  const { lab, host } = await joinedLab({}, { source: direct });
  const uid = (await lab.node())?.metadata.uid;
  host.stopAnswering();
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await lab.failed('HOST_UNREACHABLE');
  await annotate(lab, { 'kubectl.kubernetes.io/last-applied-configuration': '{}' });
  await until(
    async () => !Object.hasOwn((await lab.instance()).metadata.annotations ?? {}, instanceAnnotation.removal),
  );
  host.faults = {};
  await annotate(lab, { [instanceAnnotation.retry]: 'now' });
  await lab.ready();
  expect((await lab.node())?.metadata.uid).toBe(uid);
});
