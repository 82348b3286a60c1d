import { expect, test } from 'vitest';
import { agentName, managedDescription, nodeAnnotation } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { service } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { printBundle } from '../certificates/bundle.ts';
import { type KnownGood, knownGoodFile, saveKnownGood } from '../known-good.ts';
import { reconcileHost } from '../reconcile/reconcile-host.ts';
import { scriptCacheFile } from '../services/cached-scripts.ts';
import { changeState, readState, stateFile } from '../state.ts';
import { applyRemovals, cleanUp } from './clean-up.ts';

const { desiredVersion } = nodeAnnotation;
const der = Uint8Array.of(0x30, 9, 0x30, 3, 0x02, 1, 1, 0x30, 0, 0x03, 0);
const bundle = printBundle([{ der, sha256: '' }]);
const containerd = service({ name: 'containerd', command: 'c', bootstrap: true });
const kubelet = service({ name: 'kubelet', command: 'k', bootstrap: true, dependencies: ['containerd'], priority: 1 });

function configMap(name: string, created: string, services = [containerd, kubelet]) {
  const environment = { HTTP_PROXY: 'http://proxy' };
  return {
    name,
    created,
    data: printManifest({ services, files: [], environment, watchedEnvironment: ['HTTP_PROXY'] }),
  };
}

/** A node configured by us, with a proxy and a certificate, as it is after its reboot. */
async function configuredHost(): Promise<ModelHost> {
  const host = new ModelHost();
  host.node = { name: 'win-1', annotations: { [desiredVersion]: 'v1' }, ready: true };
  host.configMaps = [configMap('windows-services-v1', '2026-01-01T00:00:00Z')];
  host.fileTexts.set(file.caBundle, bundle);
  const onServicesSettled = (known: KnownGood) => saveKnownGood(known, host.files);
  const options = { caBundle: file.caBundle, readyPatience: { everyMs: 1, limitMs: 1 }, onServicesSettled };
  await cleanUp(host, keep, host.waiting());
  host.fileTexts.set(file.stagedRecord, JSON.stringify({ version: 'v1' }));
  await reconcileHost(host, options, host.waiting());
  await host.reboot();
  await reconcileHost(host, options, host.waiting());
  host.log.length = 0;
  host.services.calls.length = 0;
  return host;
}
const all = { keepSettings: false };
const keep = { keepSettings: true };
const clean = (host: ModelHost, options = all) => cleanUp(host, options, host.waiting());
const serviceNames = async (host: ModelHost) => (await host.services.list()).map(({ name }) => name);

test('removes everything from a host and requests a reboot', async () => {
  const host = await configuredHost();
  expect(await clean(host)).toEqual({ removed: ['kubelet', 'containerd'], rebootNeeded: true });
  expect(await serviceNames(host)).toEqual([]);
  expect([host.state.variables, host.roots, host.fileTexts.has(file.importedCerts)]).toEqual([{}, [], false]);
});

test('writes nothing to the cluster: the operator acts on the output', async () => {
  const host = await configuredHost();
  const before = structuredClone([host.node, host.report]);
  await clean(host);
  expect([host.node, host.report]).toEqual(before);
});

test('does its work in order: services, settings, shims', async () => {
  const host = await configuredHost();
  host.services.before = call => {
    if (call.startsWith('kill')) expect(host.log).toContain('remove certificate');
  };
  host.before = () => expect(host.services.calls).toContain('remove containerd');
  await clean(host);
  expect(host.services.calls.at(-1)).toBe('kill containerd-shim-runhcs-v1');
});

test('changes nothing the second time, and requests no second reboot', async () => {
  const host = await configuredHost();
  await clean(host);
  await host.reboot();
  expect(await clean(host)).toEqual({ removed: [], rebootNeeded: false });
});

test('reverts settings again that a power cut brought back', async () => {
  const host = await configuredHost();
  const [machine, store] = [{ ...host.state.variables }, [...host.roots]];
  expect(store).toHaveLength(1);
  await clean(host);
  for (const _ of [1, 2]) {
    Object.assign(host.state.variables, machine);
    host.addRoots(...store);
    await host.reboot();
    expect(await clean(host)).toEqual({ removed: [], rebootNeeded: true });
    expect([host.state.variables, host.roots]).toEqual([{}, []]);
  }
  await host.reboot();
  expect(await clean(host)).toEqual({ removed: [], rebootNeeded: false });
});

test('does not touch settings that a user sets in the same boot after they were reverted', async () => {
  const host = await configuredHost();
  const machine = { ...host.state.variables };
  await clean(host);
  Object.assign(host.state.variables, machine);
  await clean(host);
  expect(host.state.variables).toEqual(machine);
});

test('keeps variables and certificates with keepSettings', async () => {
  const host = await configuredHost();
  expect(await clean(host, keep)).toEqual({ removed: ['kubelet', 'containerd'], rebootNeeded: false });
  expect([host.state.variables, host.roots.length]).toEqual([{ HTTP_PROXY: 'http://proxy' }, 1]);
});

test('records the boot in which variables were changed', async () => {
  const host = await configuredHost();
  await clean(host);
  expect((await readState(host.files)).variablesBoot).toBe(host.bootId);
});

const withoutServices: [name: string, configMaps: ModelHost['configMaps']][] = [
  ['there is no services ConfigMap', []],
  ['the latest services ConfigMap is damaged', [{ ...configMap('windows-services-v1', ''), data: { services: '[' } }]],
];
for (const [name, configMaps] of withoutServices) {
  test(`uses tags and the record of variables when ${name}`, async () => {
    const host = await configuredHost();
    host.configMaps = configMaps;
    host.services.install('spooler');
    expect(await clean(host)).toEqual({ removed: ['kubelet', 'containerd'], rebootNeeded: true });
    expect([await serviceNames(host), host.state.variables]).toEqual([['spooler'], {}]);
  });

  test(`uses its record, too, when ${name}`, async () => {
    const host = await configuredHost();
    const unmarked = service({ name: 'unmarked', command: 'u' });
    const manifest = { services: [unmarked], files: [], environment: {}, watchedEnvironment: ['HTTP_PROXY'] };
    const node = { name: 'win-1', object: { metadata: { name: 'win-1' } } };
    await saveKnownGood({ version: 'v1', manifest, node }, host.files);
    host.services.install('unmarked');
    host.configMaps = configMaps;
    await clean(host);
    expect([await serviceNames(host), host.fileTexts.has(knownGoodFile)]).toEqual([[], false]);
  });
}

test('uses the record on the host when the cluster does not respond, and warns', async () => {
  const host = await configuredHost();
  host.cluster.servicesConfigMap = () => Promise.reject(refused(403, 'Forbidden'));
  const warnings: string[] = [];
  const outcome = await cleanUp(host, { ...all, onWarning: text => void warnings.push(text) }, host.waiting());
  expect(outcome).toEqual({ removed: ['kubelet', 'containerd'], rebootNeeded: true });
  expect(warnings).toEqual([expect.stringContaining('Services ConfigMap of version v1 cannot be read')]);
  expect([await serviceNames(host), host.state.variables]).toEqual([[], {}]);
});

test('requests only the ConfigMaps of the running and the staged version', async () => {
  const host = await configuredHost();
  const asked: string[] = [];
  host.cluster.servicesConfigMap = async version => void asked.push(version);
  host.fileTexts.set(file.stagedRecord, JSON.stringify({ version: 'v2' }));
  await clean(host);
  expect(asked).toEqual(['v1', 'v2']);
});

test('forgets what the host ran, and what scripts have said, only when all else is done', async () => {
  const host = await configuredHost();
  host.fileTexts.set(scriptCacheFile, '{}');
  host.before = call => {
    if (call === 'unset HTTP_PROXY') throw new Error('registry');
  };
  await expect(clean(host)).rejects.toThrow('registry');
  expect([knownGoodFile, scriptCacheFile].map(path => host.fileTexts.has(path))).toEqual([true, true]);
  host.before = () => undefined;
  await clean(host);
  expect([knownGoodFile, scriptCacheFile].map(path => host.fileTexts.has(path))).toEqual([false, false]);
});

test('reports the reboot again when the output of the previous run was lost, and not after the boot', async () => {
  const host = await configuredHost();
  await clean(host);
  expect(await clean(host)).toEqual({ removed: [], rebootNeeded: true });
  await host.reboot();
  expect(await clean(host)).toEqual({ removed: [], rebootNeeded: false });
});

test('removes services of the running and the staged version, and tagged ones', async () => {
  const host = await configuredHost();
  host.services
    .install('old', {})
    .install('left-over', { description: managedDescription('left-over') })
    .install('spooler');
  const later = [containerd, service({ name: 'old', command: 'o', priority: 7 })];
  host.configMaps.push(configMap('windows-services-v2', '2026-02-01T00:00:00Z', later));
  host.fileTexts.set(file.stagedRecord, JSON.stringify({ version: 'v2' }));
  await clean(host);
  expect(await serviceNames(host)).toEqual(['spooler']);
});

test('with keepSettings keeps an unlisted tagged service when the running version is the staged one', async () => {
  const host = await configuredHost();
  host.services.install('left-over', { description: managedDescription('left-over') });
  await clean(host, keep);
  expect(await serviceNames(host)).toEqual(['left-over']);
  await clean(host);
  expect(await serviceNames(host)).toEqual([]);
});

test.each([managedDescription(agentName), 'of an earlier version'])(
  'stops the agent before all else, and deletes its service unless the settings stay (%s)',
  async description => {
    const host = await configuredHost();
    host.services.install(agentName, { description });
    await clean(host, keep);
    expect(await host.services.query(agentName)).toMatchObject({ state: 'stopped' });
    await host.services.start(agentName);
    host.services.calls.length = 0;
    expect((await clean(host)).removed).toEqual([agentName]);
    expect([host.services.calls[0], await serviceNames(host)]).toEqual([`stop ${agentName}`, []]);
  },
);

test('starts services of others again that the agent has stopped', async () => {
  const host = await configuredHost();
  host.services.install('antivirus', { dependencies: ['spooler'] }, 'stopped').install('spooler', {}, 'stopped');
  await changeState(host.files, { stoppedServices: ['Antivirus', 'spooler', 'gone'] });
  await clean(host);
  const states = (await host.services.list()).map(({ name, state }) => `${name} ${state}`);
  expect(states).toEqual(['antivirus running', 'spooler running']);
  expect((await readState(host.files)).stoppedServices).toEqual([]);
});

test('warns of a service of others that depends on a removed service, and has recorded it before it is stopped', async () => {
  const host = await configuredHost();
  host.services.install('antivirus', { dependencies: ['containerd'] });
  host.services.before = call => {
    if (call === 'stop antivirus') expect(host.fileTexts.get(stateFile)).toContain('antivirus');
  };
  const warnings: string[] = [];
  await cleanUp(host, { ...all, onWarning: text => void warnings.push(text) }, host.waiting());
  expect(warnings).toEqual([expect.stringContaining('it depends on containerd, which does not exist')]);
});

test('with keepSettings leaves it to the agent to start them', async () => {
  const host = await configuredHost();
  host.services.install('antivirus', { dependencies: ['containerd'] });
  await clean(host, keep);
  expect((await readState(host.files)).stoppedServices).toEqual(['antivirus']);
});

test('keeps settings on a host whose services could not be removed, and reports which', async () => {
  const host = await configuredHost();
  host.services.before = call => {
    if (call === 'stop kubelet') throw new Error('1061');
  };
  const error = await rejectionOf(clean(host));
  expect(error).toMatchObject({ code: 'CLEANUP_INCOMPLETE', message: expect.stringContaining('kubelet (1061)') });
  expect([host.state.variables, host.roots.length, host.log]).toEqual([{ HTTP_PROXY: 'http://proxy' }, 1, []]);
  expect(host.fileTexts.has(knownGoodFile)).toBe(true);
});

test('continues with other services when one cannot be removed', async () => {
  const host = await configuredHost();
  host.services.before = call => {
    if (call === 'remove kubelet') throw new Error('5: access denied');
  };
  expect((await rejectionOf(clean(host)))?.message).toContain(
    'failed to remove 1 service(s): kubelet (5: access denied)',
  );
  expect(await serviceNames(host)).toEqual(['kubelet']);
});

test('ignores shims that cannot be ended', async () => {
  const host = await configuredHost();
  host.services.before = call => {
    if (call.startsWith('kill')) throw new Error('no such process');
  };
  await clean(host);
  expect(host.fileTexts.has(knownGoodFile)).toBe(false);
});

test('stops and kills what does not let go, dependents of others first', async () => {
  const host = await configuredHost();
  host.services.install('antivirus', { dependencies: ['containerd'] });
  host.services.stubborn.add('antivirus');
  await clean(host);
  expect(await host.services.query('antivirus')).toMatchObject({ state: 'stopped' });
  expect(await serviceNames(host)).toEqual(['antivirus']);
});

const pristine = (): ModelHost => {
  const host = new ModelHost();
  host.node = undefined;
  host.configMaps = [configMap('windows-services-v1', '2026-01-01T00:00:00Z')];
  host.state.variables = { HTTP_PROXY: 'of the administrator' };
  return host;
};

test.each([all, keep])('does not touch a host that was never configured (%j)', async options => {
  const host = pristine();
  expect(await clean(host, options)).toEqual({ removed: [], rebootNeeded: false });
  expect(host.state.variables).toEqual({ HTTP_PROXY: 'of the administrator' });
  expect((await readState(host.files)).environment).toEqual([]);
});

const traces: [name: string, leave: (host: ModelHost) => void][] = [
  ['a tagged service', host => host.services.install('kubelet', { description: managedDescription('kubelet') })],
  ['imported certificates', host => host.fileTexts.set(file.importedCerts, bundle)],
];
for (const [name, leave] of traces) {
  test(`removes the watched variables of the Go operator, recognized by ${name}`, async () => {
    const host = pristine();
    leave(host);
    expect(await clean(host)).toMatchObject({ rebootNeeded: true });
    expect(host.state.variables).toEqual({});
  });

  test(`keeps no record for a host of the Go operator, recognized by ${name}, that it has not cleaned`, async () => {
    const host = pristine();
    leave(host);
    await clean(host, keep);
    expect(host.fileTexts.has(stateFile)).toBe(false);
  });
}

test('restores what the administrator had set', async () => {
  const host = pristine();
  host.state.variables = { HTTP_PROXY: 'ours' };
  const environment = [{ name: 'HTTP_PROXY', value: 'ours', previous: 'of the administrator' }];
  host.fileTexts.set(stateFile, JSON.stringify({ environment }));
  expect(await clean(host)).toMatchObject({ rebootNeeded: true });
  expect(host.state.variables).toEqual({ HTTP_PROXY: 'of the administrator' });
});

test('rejects with the abort reason, without blaming a service', async () => {
  const host = await configuredHost();
  const stop = new AbortController();
  host.services.before = () => stop.abort(new Error('shutting down'));
  const removals = [{ do: 'remove' as const, name: 'kubelet' }];
  const waiting = { ...host.waiting(), signal: stop.signal };
  host.services.slowness = 99;
  await expect(applyRemovals(removals, host, waiting)).rejects.toThrow('shutting down');
});

test('reverts what preparations have done, unless the settings stay', async () => {
  const host = await configuredHost();
  host.excluded = true;
  await cleanUp(host, { keepSettings: true }, host.waiting());
  expect(host.excluded).toBe(true);
  await clean(host);
  expect(host.excluded).toBe(false);
});

test('continues when preparations cannot be reverted, and warns', async () => {
  const host = await configuredHost();
  host.fileTexts.set(scriptCacheFile, '{}');
  host.host.revertPreparations = () => Promise.reject(new Error('Defender does not answer'));
  const warnings: string[] = [];
  await cleanUp(host, { keepSettings: false, onWarning: text => warnings.push(text) }, host.waiting());
  expect([warnings, host.fileTexts.has(scriptCacheFile)]).toEqual([['Defender does not answer'], false]);
});
