import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { sha256 } from '#base/sha256.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { printDesiredServices, servicesHash } from '#contract/services/hash.ts';
import { service } from '#contract/services/manifest.ts';
import { configMaps, events, nodes } from '#kube/resources.ts';
import {
  type AgentBench,
  containerd,
  isMarked,
  kubelet,
  namespace,
  nodeName,
  startAgentBench,
  startAgentController,
  statesOf,
  wanted,
} from '../../../test/kit/agent-bench.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { forgetVersion, makeReport } from '../../../test/kit/report-mirror.ts';
import { until } from '../../../test/kit/until.ts';
import { knownGoodFile } from '../known-good.ts';
import { copyPath, writeRecord } from '../stage/record.ts';

const { rebootRequired, desiredServices } = nodeAnnotation;

async function bench(): Promise<AgentBench> {
  const made = await startAgentBench();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

const running = { containerd: 'running', kubelet: 'running', 'kube-proxy': 'running' };

test('configures the host as its Node requests, and then reports the version', async () => {
  const world = await bench();
  await world.publish('v1');
  await world.register(wanted('v1'));
  const { ready, end } = startAgentController(world);
  await until(() => isMarked(world, 'v1'));
  expect(await statesOf(world)).toEqual(running);
  expect(world.host.services.calls).toEqual([
    'create containerd',
    'start containerd',
    'create kubelet',
    'start kubelet',
    'create kube-proxy',
    'start kube-proxy',
  ]);
  expect((await world.host.services.query('kube-proxy'))?.config.command).toBe(`p.exe --node ${nodeName}`);
  expect(ready.times).toBe(1);
  expect(JSON.parse(world.host.fileTexts.get(knownGoodFile) ?? '')).toMatchObject({ version: 'v1' });
  expect(await end()).toBe('stopped');
});

test('uses its own certificate', async () => {
  const world = await bench();
  await world.publish('v1');
  await world.register(wanted('v1'));
  startAgentController(world);
  await until(() => isMarked(world, 'v1'));
  expect(world.host.fileTexts.get(file.agentCertificate)).toContain('BEGIN CERTIFICATE');
  expect(world.host.files.accessOf(file.agentCertificate)).toBe('secret');
});

test('waits for a desired version, and follows it when it changes', async () => {
  const world = await bench();
  await world.publish('v1', [containerd]);
  await world.publish('v2', [containerd, kubelet]);
  await world.register();
  const { ready } = startAgentController(world);
  await until(() => ready.times > 0);
  await world.annotate(wanted('v1'));
  await until(() => isMarked(world, 'v1'));
  expect(await statesOf(world)).toEqual({ containerd: 'running' });
  await world.annotate(wanted('v2'));
  await until(() => isMarked(world, 'v2'));
  expect(await statesOf(world)).toEqual({ containerd: 'running', kubelet: 'running' });
});

test('goes on while the Node waits for a reboot', async () => {
  const world = await bench();
  await world.publish('v1');
  await world.register({ ...wanted('v1'), [rebootRequired]: '' });
  startAgentController(world);
  await until(() => isMarked(world, 'v1'));
});

test('reconciles when the ConfigMap is created late, and when it is created again', async () => {
  const world = await bench();
  await world.rights.allowVersion('v1');
  await world.register(wanted('v1'));
  startAgentController(world);
  await until(async () => (await world.events()).some(event => event.startsWith('ConfigurationFailure: ConfigMap')));
  await world.publish('v1', [containerd]);
  await until(() => isMarked(world, 'v1'));
  await world.client.delete(configMaps, 'windows-services-v1', { namespace });
  await world.publish('v1', [containerd, kubelet]);
  await until(async () => (await statesOf(world))['kubelet'] === 'running');
});

test('reports the version as soon as the Node is ready', async () => {
  const world = await bench();
  await world.publish('v1');
  await world.register(wanted('v1'), false);
  startAgentController(world);
  await until(async () => (await statesOf(world))['kube-proxy'] === 'running');
  expect((await world.report()).version).toBe('');
  const node = await world.client.get(nodes, nodeName);
  const status = { ...node.status, conditions: [{ type: 'Ready', status: 'True' }] };
  await world.client.replace(nodes, { ...node, status }, { subresource: 'status' });
  await until(() => isMarked(world, 'v1'));
});

test('gives variables to services, reports that, and needs no reboot', async () => {
  const world = await bench();
  await world.publish('v1', [containerd], { HTTP_PROXY: 'http://me:password@proxy' });
  await world.register(wanted('v1'));
  startAgentController(world);
  await until(() => isMarked(world, 'v1'));
  expect((await world.host.services.query('containerd'))?.config.environment).toEqual({
    HTTP_PROXY: 'http://me:password@proxy',
  });
  expect(await world.annotations()).not.toHaveProperty([rebootRequired]);
  expect((await world.report()).variablesBoot).toBe(world.host.bootId);
  await until(async () => (await world.events()).some(event => event.startsWith('SettingsChanged: ')));
  expect(JSON.stringify([await world.events(), world.logged.lines])).not.toContain('password');
});

test('applies what is released for its Node, and reports it', async () => {
  const world = await bench();
  const released = async () => {
    const { data = {} } = await world.client.get(configMaps, 'windows-services-v1', { namespace });
    return printDesiredServices({ version: 'v1', hash: servicesHash(data), files: 'f'.repeat(32) });
  };
  const commandOf = async () => (await world.host.services.query('containerd'))?.config.command;
  const passes = () => world.logged.messages('info').filter(text => text === 'Host is configured').length;
  await world.publish('v1', [containerd]);
  const first = await released();
  await world.register({ ...wanted('v1'), [desiredServices]: first });
  startAgentController(world);
  await until(async () => (await world.report()).services === first);
  const before = passes();
  await world.client.delete(configMaps, 'windows-services-v1', { namespace });
  await world.publish('v1', [{ ...containerd, command: 'changed.exe' }]);
  await until(() => passes() > before);
  expect([await commandOf(), (await world.report()).services]).toEqual([containerd.command, first]);
  const second = await released();
  await world.annotate({ [desiredServices]: second });
  await until(async () => (await world.report()).services === second);
  expect(await commandOf()).toBe('changed.exe');
});

test('reports which service failed, and reconciles the others', async () => {
  const world = await bench();
  await world.publish('v1', [containerd, kubelet, service({ name: 'csi-proxy', command: 's.exe', priority: 2 })]);
  await world.register(wanted('v1'));
  world.host.services.before = call => {
    if (call === 'start kubelet') throw new Error('1053');
  };
  startAgentController(world);
  await until(async () => (await world.events()).some(event => /^ServiceFailure: .*kubelet \(1053\)/.test(event)));
  expect(await statesOf(world)).toEqual({ containerd: 'running', kubelet: 'stopped', 'csi-proxy': 'running' });
  expect((await world.report()).version).toBe('');
  world.host.services.before = () => undefined;
  await until(() => isMarked(world, 'v1'));
});

test('reports that the CA bundle cannot be read, and changes no certificate', async () => {
  const world = await bench();
  world.host.fileTexts.set(file.caBundle, '-----BEGIN CERTIFICATE-----\nMII');
  await world.publish('v1', [containerd]);
  await world.register(wanted('v1'));
  startAgentController(world);
  await until(async () => (await world.events()).some(event => event.startsWith('CertificateReadError: ')));
  expect([await statesOf(world), world.host.roots]).toEqual([{ containerd: 'running' }, []]);
});

test('repairs changes on the host that cause no event', async () => {
  const world = await bench();
  await world.publish('v1');
  await world.register(wanted('v1'));
  startAgentController(world, fastClock(120));
  await until(() => isMarked(world, 'v1'));
  const { pid } = (await world.host.services.query('containerd')) ?? {};
  world.host.services.install('kube-proxy', { command: 'something else' }, 'stopped');
  await until(async () => (await statesOf(world))['kube-proxy'] === 'running');
  expect((await world.host.services.query('kube-proxy'))?.config.command).toBe(`p.exe --node ${nodeName}`);
  expect((await world.host.services.query('containerd'))?.pid).toBe(pid);
});

test('reconciles services while the API server is down', async () => {
  const world = await bench();
  await world.publish('v1');
  await world.register(wanted('v1'));
  startAgentController(world, fastClock(120));
  await until(() => isMarked(world, 'v1'));
  await world.stopServer();
  world.host.services.install('containerd', (await world.host.services.query('containerd'))?.config, 'stopped');
  await until(async () => (await statesOf(world))['containerd'] === 'running');
});

test('stops at once during a pass', async () => {
  const world = await bench();
  await world.publish('v1');
  await world.register(wanted('v1'));
  world.host.services.slowness = 1000;
  const { end, ready } = startAgentController(world);
  await until(() => world.host.services.calls.includes('start containerd'));
  const startMs = systemClock.monotonicMs();
  expect(await end()).toBe('stopped');
  expect(systemClock.monotonicMs() - startMs).toBeLessThan(10_000);
  expect(ready.times).toBe(1);
  expect(world.host.services.calls).toEqual(['create containerd', 'start containerd']);
});

test('stops while it still has no certificate', async () => {
  const world = await bench();
  await world.stopApproving();
  const { end } = startAgentController(world);
  await until(() => world.logged.messages('info').includes('Waiting for certificate'));
  expect(await end()).toBe('stopped');
});

test('waits for the Node to be registered', async () => {
  const world = await bench();
  await world.publish('v1', [containerd]);
  startAgentController(world, fastClock(10));
  await until(() => world.logged.messages('info').includes('Skipped pass'));
  await world.register(wanted('v1'));
  await until(() => isMarked(world, 'v1'));
});

test('waits for its report, and reconciles services meanwhile', async () => {
  const world = await bench();
  await world.client.delete(configMaps, 'wicd-report-win-1', { namespace });
  await world.publish('v1', [containerd]);
  await world.register(wanted('v1'));
  startAgentController(world, fastClock(10));
  await until(() =>
    world.logged.lines.some(({ fields }) => /wicd-report-win-1 does not exist/.test(String(fields.error))),
  );
  expect(await statesOf(world)).toEqual({ containerd: 'running' });
  await makeReport(world.client, namespace, nodeName);
  await until(() => isMarked(world, 'v1'));
});

test('reports the version again when the operator removes it', async () => {
  const world = await bench();
  await world.publish('v1', [containerd]);
  await world.register(wanted('v1'));
  startAgentController(world);
  await until(() => isMarked(world, 'v1'));
  await forgetVersion(world.client, namespace, nodeName);
  await until(() => isMarked(world, 'v1'));
});

test('writes only its report, and only changes', async () => {
  const world = await bench();
  await world.publish('v1', [containerd]);
  await world.register(wanted('v1'));
  startAgentController(world, fastClock(120));
  await until(() => isMarked(world, 'v1'));
  const report = () => world.client.get(configMaps, 'wicd-report-win-1', { namespace });
  const [before, node] = [await report(), await world.client.get(nodes, nodeName)];
  const passes = () => world.logged.messages('info').filter(text => text === 'Host is configured').length;
  const seen = passes();
  await until(() => passes() > seen + 2);
  expect(await report()).toEqual(before);
  expect(await world.client.get(nodes, nodeName)).toEqual(node);
  expect((await world.client.list(events, { namespace: 'default' })).items).toEqual([]);
});

test('waits for the operator to write a kubeconfig', async () => {
  const world = await bench();
  const kubeconfig = world.host.fileTexts.get(file.agentKubeconfig) ?? '';
  world.host.fileTexts.delete(file.agentKubeconfig);
  await world.publish('v1', [containerd]);
  await world.register(wanted('v1'));
  startAgentController(world, fastClock(100));
  await until(() => world.logged.messages('warn').includes('Using the kubeconfig failed; retrying'));
  world.host.fileTexts.set(file.agentKubeconfig, kubeconfig);
  await until(() => isMarked(world, 'v1'));
});

/** A host that was configured, after a boot during which the API server has gone. */
async function bootedWithoutServer(): Promise<AgentBench> {
  const world = await bench();
  await world.publish('v1');
  await world.register(wanted('v1'));
  const { end } = startAgentController(world);
  await until(() => isMarked(world, 'v1'));
  await end();
  await world.host.reboot();
  await world.stopServer();
  return world;
}

test('starts the last known services when the API server is down at boot, after the agent shows as running', async () => {
  const world = await bootedWithoutServer();
  expect(await statesOf(world)).toEqual({ ...running, 'kube-proxy': 'stopped' });
  const { ready, end } = startAgentController(world, fastClock(100));
  world.host.services.before = () => expect(ready.times).toBe(1);
  await until(async () => (await statesOf(world))['kube-proxy'] === 'running');
  expect(await end()).toBe('stopped');
});

test('looks at the host soon after files were staged', async () => {
  const world = await bench();
  await world.publish('v1', [service({ name: 'kubelet', command: `k.exe ${file.kubeletConfig}` })]);
  await world.register(wanted('v1'));
  await stageTexts(world.host, { [file.kubeletConfig]: 'one' });
  startAgentController(world);
  await until(() => isMarked(world, 'v1'));
  const { pid } = (await world.host.services.query('kubelet')) ?? {};
  await stageTexts(world.host, { [file.kubeletConfig]: 'two' }, { hasServices: true });
  // The next regular pass would be too late for this.
  await until(async () => ((await world.host.services.query('kubelet'))?.pid ?? 0) !== pid);
});

test('restores a tampered file, restarts its service, and reports it', async () => {
  const world = await bench();
  const content = Buffer.from('kubelet program');
  const staged = {
    path: file.kubelet,
    sha256: sha256(content),
    bytes: content.length,
    encoding: 'none',
    secret: false,
  } as const;
  await writeRecord({ version: 'v1', bundle: '', agent: '', files: [staged] }, world.host.files);
  world.host.fileTexts.set(copyPath(staged), content.toString());
  world.host.fileTexts.set(file.kubelet, 'something else');
  world.host.services.install('kubelet', { command: file.kubelet });
  const { pid } = (await world.host.services.query('kubelet')) ?? {};
  await world.publish('v1', [service({ name: 'kubelet', command: file.kubelet, bootstrap: true })]);
  await world.register(wanted('v1'));
  startAgentController(world);
  await until(() => isMarked(world, 'v1'));
  expect(world.host.fileTexts.get(file.kubelet)).toBe('kubelet program');
  expect((await world.host.services.query('kubelet'))?.pid).not.toBe(pid);
  await until(async () => (await world.events()).some(event => event.startsWith('FileRepaired: ')));
});
