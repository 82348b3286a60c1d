import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { dir, file } from '#contract/paths.ts';
import { service, type ServicesManifest } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { stageTexts } from '../../../test/kit/bundles.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { type PassOptions, reconcileHost } from './reconcile-host.ts';

const other = service({ name: 'other', command: 'other.exe', priority: 1 });

function hostFor(over: Partial<ServicesManifest> = {}): ModelHost {
  const host = new ModelHost();
  host.node = { name: 'win-1', annotations: { [nodeAnnotation.desiredVersion]: 'v2' }, ready: true };
  publish(host, over);
  return host;
}

function publish(host: ModelHost, over: Partial<ServicesManifest>): void {
  const data = printManifest({ services: [other], files: [], environment: {}, watchedEnvironment: [], ...over });
  host.configMaps = [{ name: 'windows-services-v2', created: '2026-01-01T00:00:00Z', data }];
}

const options = { caBundle: '', readyPatience: { everyMs: 1000, limitMs: 5000 } };
const pass = (host: ModelHost, over: Partial<PassOptions> = {}) =>
  reconcileHost(host, { ...options, ...over }, host.waiting());
const runs = async (host: ModelHost) =>
  (await host.services.list()).filter(({ state }) => state === 'running').map(({ config }) => config.command);

const reader = service({ name: 'kubelet', command: `${file.kubelet} --config=${file.kubeletConfig}`, bootstrap: true });
const staged = { [file.kubelet]: 'program', [file.kubeletConfig]: 'config' };

async function hostWithFiles(over: Partial<ServicesManifest> = {}): Promise<ModelHost> {
  const host = hostFor({ services: [reader], ...over });
  await stageTexts(host, staged, { version: 'v2' });
  await pass(host);
  return host;
}

test('restores a damaged file, restarts its service, and reports it', async () => {
  const host = await hostWithFiles();
  const [before] = await host.services.list();
  host.fileTexts.set(file.kubeletConfig, 'damaged');
  const repaired: string[] = [];
  expect(await pass(host, { onRepaired: paths => repaired.push(...paths) })).toMatchObject({
    did: 'configure',
  });
  const [after] = await host.services.list();
  expect([repaired, host.fileTexts.get(file.kubeletConfig)]).toEqual([[file.kubeletConfig], 'config']);
  expect([after?.state, after?.pid === before?.pid]).toEqual(['running', false]);
});

test('restarts nothing and reports nothing when all files are right', async () => {
  const host = await hostWithFiles();
  const calls = host.services.calls.length;
  await pass(host, { onRepaired: () => expect.fail('told'), onWarning: () => expect.fail('warned') });
  expect(host.services.calls).toHaveLength(calls);
});

test('a power cut between repair and restart does not leave the service with the old file', async () => {
  const host = await hostWithFiles();
  const [before] = await host.services.list();
  host.fileTexts.delete(file.kubelet);
  host.services.before = () => {
    throw new Error('power cut');
  };
  await rejectionOf(pass(host));
  host.services.before = () => undefined;
  await pass(host);
  const [after] = await host.services.list();
  expect([after?.state, after?.pid === before?.pid]).toEqual(['running', false]);
});

test('uses the given hash function', async () => {
  const host = await hostWithFiles();
  const asked: string[] = [];
  await pass(host, { hashOf: path => (asked.push(path), host.files.sha256(path)) });
  expect(asked).toEqual(Object.keys(staged));
});

test('reconciles services but reports no version while a file cannot be restored', async () => {
  const files = ['x', 'y'].map(name => ({ path: `C:\\k\\${name}.exe`, checksum: 'a'.repeat(64) }));
  const host = hostFor({ files });
  const warnings: string[] = [];
  const error = await rejectionOf(pass(host, { onWarning: text => warnings.push(text) }));
  expect(error).toMatchObject({ code: 'FILE_DAMAGED', message: expect.stringContaining('x.exe') });
  expect(warnings).toEqual([expect.stringContaining('C:\\k\\y.exe is missing')]);
  expect(await runs(host)).toEqual(['other.exe']);
  expect(host.node?.annotations[nodeAnnotation.version]).toBeUndefined();
});

test('prunes certificates of the overlay; a failure is only a warning', async () => {
  const host = hostFor();
  const names = [1, 2, 3].map(day => `${dir.cniConfig}\\ovnkube-client-2026-03-0${day}-10-11-12.pem`);
  for (const path of names) host.fileTexts.set(path, path);
  host.before = call => {
    if (call.startsWith('remove')) throw new Error('access denied');
  };
  const warnings: string[] = [];
  const notes = { onWarning: (text: string) => warnings.push(text) };
  expect(await pass(host, notes)).toEqual({ did: 'configure', version: 'v2' });
  expect(warnings).toEqual([expect.stringContaining('access denied')]);
  host.before = () => undefined;
  await pass(host, notes);
  expect([host.fileTexts.has(names[0] ?? ''), warnings.length]).toEqual([false, 1]);
});

test('runs a script once for all passes of a boot', async () => {
  const preScripts = [{ path: 'ip.ps1', variable: 'IP', args: [] }];
  const host = hostFor({ services: [service({ name: 'a', command: 'a IP', preScripts })] });
  host.scriptOutputs = { 'ip.ps1': '10.0.0.5' };
  for (const _ of [1, 2, 3]) await pass(host);
  expect([host.log.filter(call => call.startsWith('run')), await runs(host)]).toEqual([['run ip.ps1'], ['a 10.0.0.5']]);
});
