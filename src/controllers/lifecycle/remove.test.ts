import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { agentName, configMapName, instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import type { Watch } from '#kube/controller/watches.ts';
import { configMaps, type Pod, pods } from '#kube/resources.ts';
import type { Grants } from '#node/rollout/grants.ts';
import { address, namespace, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import {
  annotate,
  force,
  isGone,
  joinedLab,
  remains,
  removalRequest,
  untilGone,
  refusingEvictions,
} from '../../../test/kit/lifecycle/removal-lab.ts';
import { unlimitedGrants } from '../../../test/kit/unlimited-grants.ts';
import { until } from '../../../test/kit/until.ts';

test('a host whose removal is requested is cleaned, and its Node and instance are deleted', async () => {
  const { lab, host } = await joinedLab();
  const before = host.verbs().length;
  expect(await remains(host)).toEqual(expect.arrayContaining(['kubelet', agentName, file.agent]));
  await annotate(lab, removalRequest);
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
  expect(await remains(host)).toEqual([]);
  expect(host.verbs().slice(before)).toEqual(['inventory', 'cleanup', 'remove-networks', 'remove-files']);
  expect(host.boots).toBe(1);
  await until(() => host.openConnections === 0);
  await until(async () => (await lab.events()).some(line => line.includes('InstanceTeardown')));
  const events = (await lab.events()).filter(line => line.includes('Teardown'));
  const text = `InstanceTeardown: Deconfigured node with addresses [${address}]`;
  expect(events.toSorted()).toEqual([`ConfigMap windows-instances: ${text}`, `WindowsInstance win-5: ${text}`]);
});

test('REC-01: a host that was removed and is listed again joins with its version and its host key', async () => {
  const { lab } = await joinedLab();
  const { sshHostKey, version: versionMark } = nodeAnnotation;
  const before = await lab.node();
  await annotate(lab, removalRequest);
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
  await lab.add();
  await lab.ready();
  const after = await lab.node();
  expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  expect(after?.metadata.annotations?.[versionMark]).toBe(version);
  expect(before?.metadata.annotations?.[sshHostKey]).toBeTruthy();
  expect(after?.metadata.annotations?.[sshHostKey]).toBe(before?.metadata.annotations?.[sshHostKey]);
  await until(async () => (await lab.node())?.spec?.unschedulable === undefined);
});

test('the report of the agent is deleted with its instance', async () => {
  const { lab } = await joinedLab();
  await annotate(lab, removalRequest);
  await untilGone(lab);
  await until(async () => (await lab.client.find(configMaps, 'wicd-report-win-5', { namespace })) === undefined);
});

test('a host that needs a reboot is rebooted once and cleaned again', async () => {
  const { lab, host } = await joinedLab();
  host.faults.answer = (verb, data) =>
    verb === 'cleanup' && host.boots === 1 ? { ...data, rebootNeeded: true } : data;
  const before = host.verbs().length;
  await annotate(lab, removalRequest);
  await untilGone(lab);
  expect(host.boots).toBe(2);
  expect(
    host
      .verbs()
      .slice(before)
      .filter(verb => verb === 'cleanup'),
  ).toHaveLength(2);
  expect(await remains(host)).toEqual([]);
});

test('files that could not be removed are listed in an event', async () => {
  const { lab, host } = await joinedLab();
  host.faults.answer = (verb, data) => (verb === 'remove-files' ? { ...data, left: ['C:\\k\\kubelet.exe'] } : data);
  await annotate(lab, removalRequest);
  await untilGone(lab);
  await until(async () => (await lab.events()).some(line => line.includes('InstanceRemovalIncomplete')));
  expect((await lab.events()).filter(line => line.includes('Incomplete')).join()).toContain(
    'not removed: C:\\k\\kubelet.exe',
  );
});

test('a host that was never reached is not connected to; its instance is deleted', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  await lab.add();
  await annotate(lab, removalRequest);
  lab.start();
  await untilGone(lab);
  expect(host.connectionCount).toBe(0);
  expect((await lab.events()).filter(line => line.includes('Teardown'))).toEqual([]);
});

test('a host that failed to join is cleaned, too', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.faults.exec = command => (command.includes(' bootstrap ') ? { exitCode: 1, stdout: '', stderr: '' } : undefined);
  lab.start();
  await lab.add();
  await lab.failed('AGENT_COMMAND_FAILED');
  await annotate(lab, removalRequest);
  await untilGone(lab);
  expect(await remains(host)).toEqual([]);
  expect(await lab.node()).toBeUndefined();
});

test('a host that does not answer keeps its Node until the removal is forced', async () => {
  const { lab, host } = await joinedLab();
  host.stopAnswering();
  await annotate(lab, removalRequest);
  const message = await lab.failed('HOST_UNREACHABLE');
  expect(message).toContain(
    `kubectl annotate windowsinstance win-5 -n ${namespace} windowsmachineconfig.openshift.io/force-removal=true`,
  );
  expect(await lab.node()).toBeDefined();
  await annotate(lab, force);
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
  const { data = {} } = await lab.client.get(configMaps, configMapName.removedHosts, { namespace });
  expect(JSON.parse(data['win-5'] ?? '')).toEqual({ removed: expect.any(String), address, instance: 'win-5' });
  await until(async () => (await lab.events()).some(line => line.includes('InstanceRemovalIncomplete')));
  const events = await lab.events();
  expect(events.filter(line => line.includes('InstanceTeardownFailure: HOST_UNREACHABLE'))).toHaveLength(2);
  expect(events.filter(line => line.includes('SetupFailure'))).toEqual([]);
  expect(events.find(line => line.includes('Incomplete'))).toContain('services, files and container networks');
});

test('a force takes effect at once while a step runs on the host', async () => {
  const { lab, host } = await joinedLab();
  const hanging = Promise.withResolvers<undefined>();
  host.faults.exec = command => (command.includes(' cleanup ') ? hanging.promise : undefined);
  await annotate(lab, removalRequest);
  await until(() => host.verbs().includes('cleanup'));
  await annotate(lab, force);
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
  hanging.resolve(undefined);
});

test('a removal that is canceled before the clean-up uncordons the Node', async () => {
  const { lab, host } = await joinedLab();
  host.faults.exec = command => {
    if (command.includes(' cleanup ')) throw new AppError('HOST_COMMAND_REFUSED', 'no', { remedy: 'Wait.' });
    return undefined;
  };
  await annotate(lab, removalRequest);
  await until(() => host.verbs().includes('cleanup'));
  expect((await lab.node())?.spec?.unschedulable).toBe(true);
  host.faults = {};
  await annotate(lab, { [instanceAnnotation.removal]: null });
  await lab.ready();
  await until(async () => (await lab.node())?.spec?.unschedulable === undefined);
});

test('a removal that is canceled after the clean-up configures the host again', async () => {
  const { lab, host } = await joinedLab();
  host.faults.exec = command => {
    if (command.includes(' remove-networks')) return { exitCode: 1, stdout: '', stderr: '' };
    return undefined;
  };
  await annotate(lab, removalRequest);
  await lab.failed('AGENT_COMMAND_FAILED');
  expect(await lab.node()).toBeUndefined();
  await annotate(lab, { [instanceAnnotation.removal]: null });
  const { version: recorded, journey } = await lab.ready();
  expect({ recorded, journey }).toEqual({ recorded: version, journey: undefined });
  expect((await lab.node())?.metadata.annotations).toHaveProperty([nodeAnnotation.version], version);
  await until(async () => (await lab.node())?.spec?.unschedulable === undefined);
});

test('a host whose entry is listed again stays, although its removal is still requested', async () => {
  const { lab, host } = await joinedLab();
  const data = { [address]: 'username=Administrator' };
  await lab.client.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
  const before = host.connectionCount;
  await annotate(lab, removalRequest);
  await until(() => lab.logged.messages('info').includes('Not removing host'));
  expect(host.connectionCount).toBe(before);
  expect(await isGone(lab)).toBe(false);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
});

test('nothing is removed while the operator is being uninstalled, and the removal continues afterwards', async () => {
  let problem: string | undefined;
  const asked: string[] = [];
  const ask = async () => {
    asked.push(problem ?? '');
    return problem;
  };
  const { lab, host } = await joinedLab({ installation: { problem: ask, recentProblem: ask } });
  const before = host.connectionCount;
  expect(asked).toEqual([]);
  problem = `Namespace ${namespace} is being deleted`;
  await annotate(lab, removalRequest);
  await until(() => asked.length > 1);
  expect(host.connectionCount).toBe(before);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  problem = undefined;
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
});

test('an uninstallation that began after the last look at it is noticed before the first act', async () => {
  const problem = async () => `Namespace ${namespace} is being deleted`;
  const { lab, host } = await joinedLab({ installation: { problem, recentProblem: async () => undefined } });
  const before = host.connectionCount;
  await annotate(lab, removalRequest);
  await until(() => lab.logged.messages('info').includes('Not removing host'));
  expect([host.connectionCount, await isGone(lab)]).toEqual([before, false]);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
});

const noWatch: Watch = { synced: Promise.resolve(), start: () => () => undefined, relist: () => [] };

test('a Node that is in service waits for the budget; its instance says why', async () => {
  let isFree = false;
  const ended: string[] = [];
  const grants: Grants = {
    ...unlimitedGrants,
    take: async () => (isFree ? { isGranted: true } : { isGranted: false, why: 'win-9 is being removed' }),
    end: async ({ metadata }) => void ended.push(metadata.name ?? ''),
  };
  const { lab, host } = await joinedLab({ rollout: { grants, watchTurns: () => noWatch } });
  const before = host.connectionCount;
  await annotate(lab, removalRequest);
  const { phase, conditions = [] } = await lab.statusWhen(status => status.phase === 'Removing');
  expect(phase).toBe('Removing');
  const ready = conditions.find(({ type }) => type === 'Ready');
  expect(ready).toMatchObject({ reason: 'WaitsForBudget', message: 'win-9 is being removed' });
  expect(host.connectionCount).toBe(before);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  isFree = true;
  ended.length = 0;
  await untilGone(lab);
  expect(ended).toContain('win-5');
});

test('a pod that cannot be evicted keeps the host; a force continues', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.start({ client: refusingEvictions(lab.client) });
  await lab.add();
  await lab.ready();
  const before = host.verbs().length;
  const pod = {
    metadata: { name: 'web', namespace },
    spec: { nodeName: 'win-5', containers: [{ name: 'web', image: 'web' }] },
  };
  await lab.client.create<Pod>(pods, pod);
  await annotate(lab, removalRequest);
  expect(await lab.failed('DRAIN_BLOCKED')).toContain(`${namespace}/web`);
  expect(host.verbs().slice(before)).not.toContain('cleanup');
  expect((await lab.node())?.spec?.unschedulable).toBe(true);
  await annotate(lab, force);
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
});
