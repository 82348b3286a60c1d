import { expect, test } from 'vitest';
import { findCondition } from '#base/condition.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import { dir, file } from '#contract/paths.ts';
import { shortHash } from '#contract/services/hash.ts';
import { instanceCondition, type WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configMaps } from '#kube/resources.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { type JoinLab, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import type { LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

const mirrorFile = (registry: string) => `${dir.registries}\\${registry}\\hosts.toml`;

/** Hosts that have joined with settings that they follow. */
async function joined(addresses: readonly string[] = ['10.0.0.5'], speed = 20) {
  const lab = await startJoinLab();
  lab.changeSettings({ mirrors: { 'quay.io': 'one' } });
  const hosts = addresses.map(address => lab.host(address));
  const operator = lab.start({ clock: fastClock(speed) });
  for (const { address } of hosts) {
    const name = `win-${address.split('.').at(-1)}`;
    await lab.add({ address, source: { kind: 'ConfigMap', name: address } }, name);
    await lab.ready(name);
  }
  return { lab, hosts, operator };
}

const textOn = (host: LabHost | undefined, path: string) => host?.model.fileTexts.get(path);
const isSettled = ({ phase, settings }: WindowsInstanceStatus) =>
  phase === 'Ready' &&
  settings?.files?.applied === settings?.files?.desired &&
  settings?.services?.applied === settings?.services?.desired;
const settled = (lab: JoinLab, name?: string) => lab.statusWhen(isSettled, name);
const desiredOf = async (lab: JoinLab, name?: string) =>
  (await lab.node(name))?.metadata.annotations?.[nodeAnnotation.desiredServices];

test('a host that joins has the settings of the cluster, by its record and on its Node', async () => {
  const { lab } = await joined();
  const { settings } = await settled(lab);
  expect(settings).toMatchObject({ mirrors: ['quay.io\\hosts.toml'], files: { at: expect.any(String) } });
  expect(await desiredOf(lab)).toBe(settings?.services?.applied);
});

test('MIR-01, MIR-02: a mirror set reaches the host and leaves it, without restart, cordon or reboot', async () => {
  const { lab, hosts } = await joined();
  const [host] = hosts;
  const before = await settled(lab);
  const [boots, annotation] = [host?.boots, await desiredOf(lab)];
  const commands = host?.commands.length ?? 0;
  lab.changeSettings({ mirrors: { 'quay.io': 'one', 'docker.io': 'two' } });
  await until(async () => textOn(host, mirrorFile('docker.io')) === 'two');
  lab.changeSettings({ mirrors: { 'docker.io': 'three' } });
  await until(async () => textOn(host, mirrorFile('quay.io')) === undefined);
  const { settings } = await lab.statusWhen(status => isSettled(status) && status.settings?.mirrors?.length === 1);
  expect(textOn(host, mirrorFile('docker.io'))).toBe('three');
  expect(settings?.files?.applied).not.toBe(before.settings?.files?.applied);
  expect([host?.boots, await desiredOf(lab)]).toEqual([boots, annotation]);
  const verbs = host?.commands.slice(commands).map(command => command.split(' ')[1]);
  expect(new Set(verbs)).toEqual(new Set(['inventory', 'stage']));
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
});

test('a host that does not answer stays in service, says why, and gets the settings when it is back', async () => {
  const { lab, hosts } = await joined();
  const [host] = hosts;
  host?.stopAnswering();
  lab.changeSettings({ mirrors: { 'quay.io': 'two' } });
  const { conditions, settings } = await lab.statusWhen(
    status => findCondition(status.conditions, instanceCondition.settingsApplied)?.status === 'False',
  );
  expect(findCondition(conditions, instanceCondition.settingsApplied)?.reason).toBe('HOST_UNREACHABLE');
  expect(findCondition(conditions, instanceCondition.ready)).toMatchObject({
    status: 'True',
    reason: 'HOST_UNREACHABLE',
  });
  expect(findCondition(conditions, instanceCondition.configured)?.status).toBe('True');
  expect(settings?.files?.applied).not.toBe(settings?.files?.desired);
  if (host !== undefined) host.faults = {};
  const after = await settled(lab);
  expect(textOn(host, mirrorFile('quay.io'))).toBe('two');
  expect(findCondition(after.conditions, instanceCondition.settingsApplied)?.status).toBe('True');
});

test('one dead host delays no other', async () => {
  const { lab, hosts } = await joined(['10.0.0.5', '10.0.0.6', '10.0.0.7']);
  hosts[0]?.stopAnswering();
  lab.changeSettings({ mirrors: { 'quay.io': 'two' } });
  for (const host of hosts.slice(1)) await until(async () => textOn(host, mirrorFile('quay.io')) === 'two');
  await settled(lab, 'win-6');
  await settled(lab, 'win-7');
});

test('changed files of services are written, and the agent is told to restart them, one host after the other', async () => {
  const { lab, hosts } = await joined(['10.0.0.5', '10.0.0.6']);
  lab.changeSettings({ kubelet: '{"maxPods":10}' });
  for (const name of ['win-5', 'win-6']) {
    await until(async () => textOn(lab.host(`10.0.0.${name.at(-1)}`), file.kubeletConfig) === '{"maxPods":10}');
    const { settings } = await settled(lab, name);
    expect(await desiredOf(lab, name)).toBe(settings?.services?.applied);
  }
  expect(hosts.map(({ boots }) => boots)).toEqual([1, 1]);
  expect((await lab.events()).filter(line => line.includes('SettingsApplied')).length).toBeGreaterThanOrEqual(2);
});

test('SVC-04: changed services need no connection to the host: its agent reads them from the cluster', async () => {
  const { lab, hosts } = await joined();
  const before = hosts[0]?.connectionCount;
  const annotation = await desiredOf(lab);
  lab.changeSettings({ services: '1' });
  await until(async () => (await desiredOf(lab)) !== annotation);
  const { settings } = await settled(lab);
  expect([hosts[0]?.connectionCount, await desiredOf(lab)]).toEqual([before, settings?.services?.applied]);
});

test('settings that break a host reach no other; corrected ones are tried at once', async () => {
  const { lab } = await joined(['10.0.0.5', '10.0.0.6'], 300);
  const untouched = { 'win-5': await desiredOf(lab, 'win-5'), 'win-6': await desiredOf(lab, 'win-6') };
  lab.behavior.brokenServices = shortHash('bad');
  lab.changeSettings({ services: 'bad' });
  const names = ['win-5', 'win-6'] as const;
  let failing = '';
  await until(async () => {
    for (const name of names) {
      const { status } = await lab.instance(name);
      if (status?.settings?.services?.failed !== undefined) failing = name;
    }
    return failing;
  });
  const other = names.find(name => name !== failing) ?? 'win-5';
  expect(await desiredOf(lab, other)).toBe(untouched[other]);
  const { conditions } = await lab.statusWhen(
    status => findCondition(status.conditions, instanceCondition.ready)?.message?.includes('they failed on') === true,
    other,
  );
  const ready = findCondition(conditions, instanceCondition.ready);
  expect(ready).toMatchObject({
    status: 'True',
    message: expect.stringContaining(`they failed on ${failing} (SETTINGS_NOT_APPLIED`),
  });
  lab.changeSettings({ services: 'good' });
  for (const name of names) {
    const { settings } = await settled(lab, name);
    expect(settings?.services).toMatchObject({ applied: expect.stringContaining(shortHash('good')) });
    expect(settings?.services?.failed).toBeUndefined();
  }
});

test('settings that are corrected while a host waits for its agent are tried at once', async () => {
  const { lab } = await joined(['10.0.0.5', '10.0.0.6']);
  lab.behavior.brokenServices = shortHash('bad');
  lab.changeSettings({ services: 'bad' });
  const names = ['win-5', 'win-6'];
  await until(async () =>
    (await Promise.all(names.map(name => desiredOf(lab, name)))).some(text => text?.includes(shortHash('bad'))),
  );
  lab.changeSettings({ services: 'good' });
  for (const name of names) {
    const { settings } = await lab.statusWhen(
      status => isSettled(status) && status.settings?.services?.applied?.includes(shortHash('good')) === true,
      name,
    );
    expect(settings?.services?.failed).toBeUndefined();
  }
});

test('a host that cannot be reached holds nobody back, whoever is the first', async () => {
  const { lab, hosts } = await joined(['10.0.0.5', '10.0.0.6', '10.0.0.7'], 300);
  for (const [index, dead] of hosts.entries()) {
    dead.stopAnswering();
    lab.changeSettings({ kubelet: `{"maxPods":${10 + index}}` });
    for (const host of hosts.filter(other => other !== dead))
      await until(async () => textOn(host, file.kubeletConfig) === `{"maxPods":${10 + index}}`);
    dead.faults = {};
    for (const name of ['win-5', 'win-6', 'win-7']) await settled(lab, name);
  }
});

test('one host gets settings that no host has yet, whatever the budget is', async () => {
  const lab = await startJoinLab();
  const metadata = { name: configMapName.rollout, namespace: (await lab.add()).metadata.namespace ?? '' };
  await lab.client.create(configMaps, { metadata, data: { maxUnavailable: '100%' } });
  const names = ['win-5', 'win-6', 'win-7'];
  for (const name of names) lab.host(`10.0.0.${name.at(-1)}`);
  for (const name of names.slice(1)) await lab.add({ address: `10.0.0.${name.at(-1)}` }, name);
  const first = lab.start({ clock: fastClock(20) });
  for (const name of names) await lab.ready(name);
  lab.behavior.brokenServices = shortHash('bad');
  lab.changeSettings({ services: 'bad' });
  const told = async () => {
    const all = await Promise.all(names.map(name => desiredOf(lab, name)));
    return all.filter(text => text?.includes(shortHash('bad'))).length;
  };
  await until(async () => (await told()) > 0);
  // The next leader continues with that host.
  await first.stop();
  lab.start({ clock: fastClock(100) });
  const isFailed = async (name: string) => (await lab.instance(name)).status?.settings?.services?.failed !== undefined;
  await until(async () => (await Promise.all(names.map(isFailed))).includes(true));
  expect(await told()).toBe(1);
  delete lab.behavior.brokenServices;
  for (const name of names) {
    const { settings } = await settled(lab, name);
    expect(settings?.services?.applied).toContain(shortHash('bad'));
  }
});

test('settings that change again and again stay on the host that has begun, until one of them works', async () => {
  const { lab } = await joined(['10.0.0.5', '10.0.0.6', '10.0.0.7']);
  const names = ['win-5', 'win-6', 'win-7'];
  const before = await Promise.all(names.map(name => desiredOf(lab, name)));
  const told = async () => {
    const now = await Promise.all(names.map(name => desiredOf(lab, name)));
    return now.filter((text, index) => text !== before[index]);
  };
  lab.behavior.brokenServices = version;
  for (const services of ['one', 'two', 'three']) {
    lab.changeSettings({ services });
    await until(async () => (await told()).some(text => text?.includes(shortHash(services))));
    expect(await told()).toHaveLength(1);
  }
  delete lab.behavior.brokenServices;
  for (const name of names) {
    const { settings } = await lab.statusWhen(
      status => isSettled(status) && status.settings?.services?.applied?.includes(shortHash('three')) === true,
      name,
    );
    expect(settings?.services?.failed).toBeUndefined();
  }
});

test('an adopted host that has the settings already is not connected to again', async () => {
  const { lab, hosts, operator } = await joined();
  const [host] = hosts;
  const before = await settled(lab);
  const [verbs, connections] = [host?.verbs().length, host?.connectionCount ?? 0];
  await operator.stop();
  // As after a new installation of the CRD.
  await lab.patchStatus(Object.fromEntries(Object.keys(before).map(name => [name, null])));
  lab.start({ clock: fastClock(20) });
  const { settings } = await settled(lab);
  expect(settings?.files).toMatchObject({ applied: before.settings?.files?.applied });
  expect(settings?.services).toMatchObject({ applied: before.settings?.services?.applied });
  expect(settings?.mirrors).toEqual(before.settings?.mirrors);
  expect([host?.verbs().slice(verbs), host?.connectionCount]).toEqual([['inventory'], connections + 1]);
});

test('a host of the record without settings is looked at once', async () => {
  const { lab } = await joined();
  await lab.patchStatus({ settings: null });
  lab.changeSettings({});
  const { settings } = await lab.statusWhen(status => isSettled(status) && status.settings?.files !== undefined);
  expect(settings?.files?.applied).toBeDefined();
});
