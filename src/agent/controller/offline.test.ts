import { expect, test } from 'vitest';
import { activationService } from '#contract/names.ts';
import { activationFile } from '#contract/paths.ts';
import { service } from '#contract/services/manifest.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { writeJournal } from '../activation/journal.ts';
import { saveKnownGood } from '../known-good.ts';
import { startKnownGood } from './offline.ts';

const services = [
  service({ name: 'kubelet', command: 'k.exe', bootstrap: true }),
  service({
    name: 'kube-proxy',
    command: 'p.exe SUBNET',
    nodeVariables: [{ name: 'SUBNET', jsonPath: '{.metadata.annotations.subnet}' }],
    dependencies: ['kubelet'],
    priority: 1,
  }),
];

/** A host that knows what it ran, and what becomes of it without an API server. */
async function known() {
  const host = new ModelHost();
  host.cluster.node = () => Promise.reject(new Error('nobody may ask the API server'));
  const object = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'win-1', annotations: { subnet: '10.1.0.0/24' } },
  };
  const manifest = { services, files: [], environment: { A: 'b' }, watchedEnvironment: ['A'] };
  await saveKnownGood({ version: 'v1', manifest, node: { name: 'win-1', object } }, host.files);
  const { log, messages } = recordedLog();
  const starts = { count: 0 };
  const run = (waiting = host.waiting()) => startKnownGood(host, waiting, log, () => void (starts.count += 1));
  const states = async () => (await host.services.list()).map(({ name, state }) => `${name} ${state}`);
  return { host, run, states, messages, starts };
}

test('starts all services with the recorded values of the Node', async () => {
  const { host, run, states, starts } = await known();
  expect(await run()).toBe('started');
  expect(await states()).toEqual(['kubelet running', 'kube-proxy running']);
  expect((await host.services.query('kube-proxy'))?.config.command).toBe('p.exe 10.1.0.0/24');
  expect(starts.count).toBe(1);
});

test('does not touch what runs already', async () => {
  const { host, run } = await known();
  await run();
  host.services.calls.length = 0;
  await run();
  expect(host.services.calls).toEqual([]);
});

test('applies no settings and writes no record', async () => {
  const { host, run } = await known();
  await run();
  expect(host.state.variables).toEqual({});
  expect(host.log.filter(entry => !entry.startsWith('write '))).toEqual([]);
});

test('calls onStart before it starts services', async () => {
  const { host, run, starts } = await known();
  host.services.before = () => expect(starts.count).toBe(1);
  await run();
});

test('does nothing on a host without a record', async () => {
  const { host, run, starts } = await known();
  host.fileTexts.delete('C:\\k\\wicd-manifest.json');
  expect([await run(), host.services.calls, starts.count]).toEqual(['no record', [], 0]);
});

test('leaves variables of services as they are', async () => {
  const { host, run } = await known();
  const environment = { HTTP_PROXY: 'p', OWN: 'x' };
  host.services.install('kubelet', { environment }, 'stopped');
  expect(await run()).toBe('started');
  const [kubelet] = (await host.services.list()).filter(({ name }) => name === 'kubelet');
  expect(kubelet?.config).toMatchObject({ environment, command: 'k.exe' });
});

test('continues with the others when a service fails, and reports it', async () => {
  const { host, run, states, messages } = await known();
  host.services.before = call => {
    if (call === 'start kube-proxy') throw new Error('1053');
  };
  expect(await run()).toBe('failed');
  expect(await states()).toEqual(['kubelet running', 'kube-proxy stopped']);
  expect(messages('error')).toEqual(['Starting services of the last known version failed']);
});

test('ends with the reason when it is stopped', async () => {
  const { host, run } = await known();
  const stop = new AbortController();
  host.services.before = () => stop.abort(new Error('shutting down'));
  host.services.slowness = 99;
  await expect(run({ ...host.waiting(), signal: stop.signal })).rejects.toThrow('shutting down');
});

test('continues a swap that nothing carries out, also without a record', async () => {
  const { host, run } = await known();
  host.fileTexts.delete('C:\\k\\wicd-manifest.json');
  const set = { version: 'v1', bundle: '', agent: 'ab'.repeat(32), files: [] };
  await writeJournal({ phase: 'swap', set: 'next', target: set, former: set }, host.files);
  expect(await run()).toBe('waiting for swap');
  expect((await host.services.query(activationService))?.state).toBe('running');
});

test('starts nothing while files are swapped, or are of another version', async () => {
  const { host, run, states } = await known();
  await stageTexts(host, { 'C:\\k\\a': 'a' }, { version: 'v2' });
  expect(await run()).toBe('other version');
  await stageTexts(host, { 'C:\\k\\a': 'a' }, { version: 'v1' });
  host.fileTexts.set(activationFile, 'a journal that nobody can read');
  expect([await run(), await states()]).toEqual(['waiting for swap', []]);
  host.fileTexts.delete(activationFile);
  expect(await run()).toBe('started');
});
