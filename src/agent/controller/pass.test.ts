import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { EventText } from '#contract/events.ts';
import { activationService, nodeAnnotation } from '#contract/names.ts';
import { activationFile, dir, file } from '#contract/paths.ts';
import { type Service, service } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { sid } from '../access/descriptor.ts';
import { descriptorOf } from '../access/plan.ts';
import { writeJournal } from '../activation/journal.ts';
import { knownGoodFile } from '../known-good.ts';
import { createReconcile, networkLimitMs } from './pass.ts';

const key = { namespace: '', name: 'win-1' };

/** A host with a Node that wants one service, and one pass over it. */
function hostWith(environment: Record<string, string> = {}, further: readonly Service[] = []) {
  const host = new ModelHost();
  host.node = { name: 'win-1', annotations: { [nodeAnnotation.desiredVersion]: 'v1' }, ready: true };
  const services = [service({ name: 'kubelet', command: 'k.exe', bootstrap: true }), ...further];
  const data = printManifest({ services, files: [], environment, watchedEnvironment: [] });
  host.configMaps = [{ name: 'windows-services-v1', created: '2026-01-01T00:00:00Z', data }];
  const [events, stop, logged] = [[] as EventText[], new AbortController(), recordedLog()];
  const reconcile = createReconcile({
    ports: host,
    caBundle: '',
    clock: host.clock,
    record: event => void events.push(event),
  });
  const pass: Pass = { signal: stop.signal, log: logged.log, id: '1', attempt: 1 };
  const run = () => reconcile(key, pass);
  const reasons = () => events.map(({ reason }) => reason);
  return { host, run, reasons, events, stop, logged };
}

test('requeues after two minutes, whatever the outcome', async () => {
  const { host, run } = hostWith();
  expect(await run()).toMatchObject({ after: 120_000 });
  expect(await run()).toMatchObject({ after: 120_000 });
  host.node = undefined;
  expect(await run()).toMatchObject({ after: 120_000 });
});

test('writes down what the host runs, once all services do', async () => {
  const { host, run } = hostWith();
  host.services.before = call => {
    if (call.startsWith('start')) throw new Error('1053');
  };
  await expect(run()).rejects.toMatchObject({ code: 'SERVICES_INCOMPLETE' });
  expect(host.fileTexts.has(knownGoodFile)).toBe(false);
  host.services.before = () => undefined;
  await run();
  expect(host.fileTexts.has(knownGoodFile)).toBe(true);
});

test('reports the version although what the host runs cannot be written down', async () => {
  const { host, run, logged } = hostWith();
  host.before = call => {
    if (call === `write ${knownGoodFile}`) throw new Error('the disk is full');
  };
  await run();
  expect(host.report.version).toBe('v1');
  expect(logged.messages('warn')).toEqual(['Saving the last known version failed']);
});

test('records an event only for a failure', async () => {
  const { host, run, reasons } = hostWith();
  await run();
  expect(reasons()).toEqual([]);
  host.fileTexts.delete(knownGoodFile);
  host.configMaps = [];
  await expect(run()).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  expect(reasons()).toEqual(['ConfigurationFailure']);
});

test('keeps the services of its record running without the services ConfigMap, and reports that once', async () => {
  const { host, run, reasons, logged } = hostWith();
  await run();
  host.configMaps = [];
  for (const _ of [1, 2, 3]) {
    await host.services.stop('kubelet');
    expect(await run()).toMatchObject({ after: 120_000 });
    expect(await host.services.query('kubelet')).toMatchObject({ state: 'running' });
  }
  expect(reasons()).toEqual(['ConfigurationFailure']);
  expect(logged.messages('warn')).toEqual(['Desired services are unknown; keeping the last known version running']);
});

test('records an event for changed variables, and logs their names', async () => {
  const { host, run, reasons, logged } = hostWith({ HTTP_PROXY: 'http://me:password@proxy' });
  await run();
  Object.assign(host.node?.annotations ?? {}, { [nodeAnnotation.rebootRequired]: '' });
  await run();
  expect(reasons()).toEqual(['SettingsChanged']);
  expect(logged.messages('info')).toEqual(['Changed settings', 'Host is configured', 'Host is configured']);
  expect(JSON.stringify(logged.lines)).not.toContain('password');
});

test('records no event for an aborted pass', async () => {
  const { host, run, reasons, stop } = hostWith();
  host.services.before = () => stop.abort(new Error('shutting down'));
  host.services.slowness = 9;
  await expect(run()).rejects.toThrow('shutting down');
  expect(reasons()).toEqual([]);
});

test('passes on what only the log has to know', async () => {
  const { host, run, logged } = hostWith();
  const list = host.files.list.bind(host.files);
  let looks = 0;
  // The second look at that folder is for certificates that are not needed any more.
  host.files.list = path =>
    path === dir.cniConfig && (looks += 1) === 2 ? Promise.reject(new Error('access denied')) : list(path);
  await run();
  expect(logged.messages('warn')).toEqual([expect.stringContaining('access denied')]);
  expect(host.report.version).toBe('v1');
});

test('sets wrong rights of files right in every pass, and events on it', async () => {
  const { host, run, events } = hostWith();
  await run();
  host.fileTexts.set(file.kubelet, 'MZ');
  host.files.rights.set(file.kubelet, { owner: sid.administrators, entries: undefined });
  events.length = 0;
  await run();
  expect(events).toEqual([
    {
      type: 'Warning',
      reason: 'FileRepaired',
      message: expect.stringContaining(`${file.kubelet}: has no access list`),
    },
  ]);
  await run();
  expect([events.length, host.files.rights.of(file.kubelet)]).toEqual([1, descriptorOf('programs')]);
});

test('does not confirm a version while a folder cannot be secured', async () => {
  const { host, run, reasons } = hostWith();
  host.files.rights.plantLink(dir.tls);
  host.before = call => {
    if (call === `remove ${dir.tls}`) throw new Error('access denied');
  };
  await expect(run()).rejects.toMatchObject({ code: 'HOST_FILE_UNUSABLE' });
  expect([reasons(), host.node?.annotations[nodeAnnotation.version]]).toEqual([['ConfigurationFailure'], undefined]);
});

test('logs and records that it started services that were not running, each pass once', async () => {
  const { host, run, events, logged } = hostWith();
  await run();
  expect(events).toEqual([]);
  await host.services.stop('kubelet');
  await run();
  await run();
  const message = 'Started services that were not running: kubelet';
  expect(events).toEqual([{ type: 'Normal', reason: 'ServiceStarted', message }]);
  expect(logged.messages('info').filter(line => line === 'Started services that were not running')).toHaveLength(1);
});

test('ends the process of a service that stops forever, says so, and starts the service', async () => {
  const { host, run, events, logged } = hostWith();
  await run();
  const before = (await host.services.query('kubelet'))?.pid;
  host.services.stubborn.add('kubelet');
  await host.services.stop('kubelet');
  expect((await host.services.query('kubelet'))?.state).toBe('stop-pending');
  await run();
  const now = await host.services.query('kubelet');
  expect([now?.state, now?.pid === before]).toEqual(['running', false]);
  expect(events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual([
    expect.stringMatching(
      /^Warning ServiceProcessEnded: Ended the process of service kubelet, which did not stop within \d+ s$/,
    ),
    'Normal ServiceStarted: Started services that were not running: kubelet',
  ]);
  expect(logged.messages('warn')).toContain('Ending the process of a service that does not stop');
});

/** A host whose kube-proxy waits until the subnet is assigned. */
function hostWithoutSubnet() {
  const prepare = [{ kind: 'cni-and-kube-proxy', arguments: {} } as const];
  const bench = hostWith({}, [service({ name: 'kube-proxy', command: 'p.exe', prepare, priority: 1 })]);
  const waiting = 'waiting for OVN-Kubernetes to assign a pod subnet to node win-1';
  bench.host.prepared = () => {
    throw new AppError('HOST_NETWORK_MISSING', waiting, { remedy: 'Check OVN.' });
  };
  return { ...bench, message: `kube-proxy is ${waiting}` };
}

test('reports a service that waits for the network in a Normal event, and looks again soon', async () => {
  const { host, run, events, logged, message } = hostWithoutSubnet();
  expect(await run()).toEqual({ after: 5000, why: message });
  expect(events).toEqual([{ type: 'Normal', reason: 'ServiceWaiting', message }]);
  expect(logged.messages('info')).toEqual(['Waiting']);
  host.prepared = () => false;
  expect(await run()).toMatchObject({ after: 120_000 });
  expect([events.length, host.report.version]).toEqual([1, 'v1']);
});

test('reports a service that waits longer than the limit as failed', async () => {
  const { host, run, events, message } = hostWithoutSubnet();
  await run();
  await host.clock.sleep(networkLimitMs - 1, new AbortController().signal);
  await run();
  await host.clock.sleep(1, new AbortController().signal);
  await expect(run()).rejects.toMatchObject({ code: 'SERVICES_WAITING' });
  expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    'Normal ServiceWaiting',
    'Normal ServiceWaiting',
    'Warning ServiceFailure',
  ]);
  expect(events.at(-1)?.message).toBe(`${message}. Check OVN.`);
});

test('has the same patience for the next wait', async () => {
  const { host, run, reasons } = hostWithoutSubnet();
  const { prepared } = host;
  await run();
  host.prepared = () => false;
  await run();
  host.prepared = prepared;
  await host.services.stop('kube-proxy');
  await host.clock.sleep(networkLimitMs, new AbortController().signal);
  await run();
  expect(reasons()).toEqual(['ServiceWaiting', 'ServiceWaiting']);
});

test('only reports while files are swapped, and goes on when that is over', async () => {
  const { host, run } = hostWith();
  await stageTexts(host, { 'C:\\k\\a': 'a' }, { version: 'v1' });
  const set = { version: 'v1', bundle: '', agent: 'ab'.repeat(32), files: [] };
  const journal = { phase: 'watch', set: 'next', target: set, former: set } as const;
  host.services.install(activationService, { startType: 'automatic' });
  await writeJournal(journal, host.files);
  expect(await run()).toMatchObject({ after: 500 });
  expect(await run()).toMatchObject({ after: 500 });
  expect(host.log.filter(call => call === 'confirm report')).toHaveLength(1);
  expect([host.report.version, await host.services.query('kubelet')]).toEqual(['', undefined]);
  await writeJournal({ ...journal, phase: 'done' }, host.files);
  expect(await run()).toMatchObject({ after: 120_000 });
  expect(host.report.version).toBe('v1');
});

test('continues a swap that nothing carries out', async () => {
  const { host, run } = hostWith();
  const set = { version: 'v1', bundle: '', agent: 'ab'.repeat(32), files: [] };
  await writeJournal({ phase: 'swap', set: 'next', target: set, former: set }, host.files);
  await run();
  expect(await host.services.query(activationService)).toMatchObject({
    state: 'running',
    config: { startType: 'automatic', command: expect.stringContaining('activate --windows-service') },
  });
});

test('shows a journal that it cannot read, and changes nothing', async () => {
  const { host, run, reasons } = hostWith();
  host.fileTexts.set(activationFile, 'damaged');
  await expect(run()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' });
  expect([reasons(), await host.services.list()]).toEqual([['ConfigurationFailure'], []]);
});
