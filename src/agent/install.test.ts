import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { agentRecovery, controllerCommand } from '#contract/agent-command.ts';
import { agentName } from '#contract/names.ts';
import { dir, file } from '#contract/paths.ts';
import { runIn, worldOf } from '../../test/kit/agent-bench.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { agentIdentity } from './identity/kept-identity.ts';
import { createKey, findKey } from './identity/key.ts';
import { installAgent } from './install.ts';
import type { InstalledConfig, ServiceState } from './ports.ts';

const command = controllerCommand({ namespace: 'ns', node: 'win-1' });
const good: InstalledConfig = {
  command,
  description: `OpenShift managed ${agentName}`,
  dependencies: [],
  startType: 'automatic',
  recovery: agentRecovery,
};
const identities = [agentIdentity('win-1')];
const install = async (host: ModelHost, newKeys = false) => {
  const { keyHashes: _, ...service } = await installAgent({ command, identities, newKeys }, host, host.waiting());
  return service;
};
/** As it is after a first installation. */
function hostWithKey(): ModelHost {
  const host = new ModelHost();
  host.fileTexts.set(file.agentKey, createKey().pem.reveal());
  return host;
}

test('creates the service with description, start type and recovery, and starts it', async () => {
  const host = new ModelHost();
  expect(await install(host)).toEqual({ created: true, changed: false, started: true });
  expect(await host.services.list()).toMatchObject([{ name: agentName, state: 'running', config: good }]);
  expect(host.services.calls).toEqual([`create ${agentName}`, `start ${agentName}`]);
});

const found: [string, Partial<InstalledConfig>, ServiceState, calls: string[]][] = [
  ['leaves alone what is as it should be', {}, 'running', []],
  ['waits for nobody who is starting', {}, 'start-pending', []],
  ['starts what has stopped', {}, 'stopped', ['start']],
  ['stops it before it gets another command', { command: 'old.exe' }, 'running', ['stop', 'configure', 'start']],
  [
    'corrects a command without a stop where it does not run',
    { command: 'old.exe' },
    'stopped',
    ['configure', 'start'],
  ],
  ['corrects a description without a restart', { description: 'mine' }, 'running', ['configure']],
  ['corrects the start type', { startType: 'disabled' }, 'stopped', ['configure', 'start']],
  ['corrects the recovery', { recovery: undefined }, 'running', ['configure']],
  ['corrects no recovery that cannot be read', { recovery: 'unreadable' }, 'running', []],
  ['takes away dependencies', { dependencies: ['W32Time'] }, 'stopped', ['configure', 'start']],
  ['starts what was paused anew', {}, 'paused', ['stop', 'start']],
];
for (const [name, config, state, calls] of found) {
  test(name, async () => {
    const host = hostWithKey();
    host.services.slowness = 1;
    host.services.install(agentName, { ...good, ...config }, state);
    const outcome = await install(host);
    expect(host.services.calls).toEqual(calls.map(call => `${call} ${agentName}`));
    const [did, started] = [calls.includes('configure'), calls.includes('start')];
    expect(outcome).toEqual({ created: false, changed: did, started });
  });
}

test('keeps the command of another version with keepCommand, with a new key and a start', async () => {
  const host = hostWithKey();
  const old = host.fileTexts.get(file.agentKey);
  host.services.install(agentName, { ...good, command: 'old.exe --old-flag' }, 'running');
  const options = { command, keepCommand: true, identities, newKeys: true };
  expect(await installAgent(options, host, host.waiting())).toMatchObject({ created: false, changed: false });
  expect(await host.services.list()).toMatchObject([{ state: 'running', config: { command: 'old.exe --old-flag' } }]);
  expect(host.services.calls).toEqual([`stop ${agentName}`, `start ${agentName}`]);
  expect(host.fileTexts.get(file.agentKey)).not.toBe(old);
});

test('creates a missing service even with keepCommand', async () => {
  const host = hostWithKey();
  await runIn(worldOf(host), `${base} --keep-command`);
  expect(await host.services.list()).toMatchObject([{ state: 'running', config: good }]);
});

test('changes nothing the second time', async () => {
  const host = new ModelHost();
  await install(host);
  expect(await install(host)).toEqual({ created: false, changed: false, started: false });
});

test('ignores that Windows has already started the service', async () => {
  const host = hostWithKey();
  host.services.install(agentName, good, 'stopped');
  host.services.before = call => {
    if (call.startsWith('start')) host.services.install(agentName, good, 'running');
  };
  expect(await install(host)).toMatchObject({ started: false });
});

test('reports that Windows rejects the start', async () => {
  const host = new ModelHost();
  host.services.before = call => {
    if (call.startsWith('start')) throw new Error('1053: it did not answer');
  };
  await expect(install(host)).rejects.toThrow('1053');
});

test('creates a key that only administrators can read, and keeps it', async () => {
  const host = new ModelHost();
  await install(host);
  const key = host.fileTexts.get(file.agentKey);
  expect(createPrivateKey(key ?? '').asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  expect(host.files.accessOf(file.agentKey)).toBe('secret');
  await install(host);
  expect(host.fileTexts.get(file.agentKey)).toBe(key);
});

test('a key that was being written when install was killed does not stop the next one', async () => {
  const host = new ModelHost();
  host.fileTexts.set(`${file.agentKey}.620-1.wicd-new\\content`, '');
  expect(await install(host)).toMatchObject({ started: true });
});

test('replaces the key with newKeys: stops the agent, removes the old certificates, starts it', async () => {
  const host = hostWithKey();
  host.services.install(agentName, good, 'running');
  const certificates = ['wicd-client-current.pem', 'wicd-client-2026-01-01-00-00-00.pem', 'wicd-client.key'];
  for (const name of [...certificates, 'cloud-node-current.pem'])
    host.fileTexts.set(`${dir.agentCerts}\\${name}`, 'old');
  const old = host.fileTexts.get(file.agentKey);
  host.before = () => expect(host.services.calls).toEqual([`stop ${agentName}`]);
  expect(await install(host, true)).toEqual({ created: false, changed: false, started: true });
  expect(host.services.calls).toEqual([`stop ${agentName}`, `start ${agentName}`]);
  expect(host.fileTexts.get(file.agentKey)).not.toBe(old);
  expect(await host.files.list(dir.agentCerts)).toEqual(['cloud-node-current.pem', 'wicd-client-key.pem']);
});

const unusable: [name: string, text: string | undefined][] = [
  ['there is none, as on a host of the Go operator', undefined],
  ['it cannot be read', 'BEGIN nothing'],
  ['it is of another kind', generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })],
];
for (const [name, text] of unusable) {
  test(`creates a key and restarts the agent when ${name}`, async () => {
    const host = new ModelHost();
    if (text !== undefined) host.fileTexts.set(file.agentKey, text);
    host.services.install(agentName, good, 'running');
    expect(await install(host)).toMatchObject({ started: true });
    expect(host.fileTexts.get(file.agentKey)).toContain('EC PRIVATE KEY');
  });
}

test('ends with a running agent and one key after an interruption at any point', async () => {
  for (let kill = 0; kill < 12; kill += 1) {
    const host = hostWithKey();
    host.services.install(agentName, good, 'running');
    let left = kill;
    host.before = host.services.before = () => {
      left -= 1;
      if (left < 0) throw new Error('killed');
    };
    await install(host, true).catch(() => undefined);
    host.before = host.services.before = () => undefined;
    await install(host);
    expect(await host.services.query(agentName)).toMatchObject({ state: 'running' });
    expect(await findKey(file.agentKey, host.files)).toBeDefined();
  }
});

const base = 'install --namespace ns --node win-1';

test('prints what it did, and sets a log size only with --service-log-size', async () => {
  const host = new ModelHost();
  const run = (line: string) => runIn(worldOf(host), line);
  expect((await run(base)).out).toMatch(
    new RegExp(`^Service ${agentName}: created, started.\nKey of the agent: SHA-256 [0-9a-f]{64}\n$`),
  );
  expect((await run(base)).out).toContain(`Service ${agentName} is up to date.\n`);
  const changed = await run(`${base} --service-log-size 105 -o json`);
  expect(JSON.parse(changed.out)).toEqual({
    created: false,
    changed: true,
    started: true,
    keyHash: await hashOf(host),
  });
  const [{ config } = { config: undefined }] = await host.services.list();
  expect(config?.command).toBe(controllerCommand({ namespace: 'ns', node: 'win-1', logMegabytes: 105 }));
  expect((await run('install')).err).toContain('missing --namespace and --node');
  expect((await run(`${base} --service-log-size much`)).err).toContain('a whole number of megabytes');
  expect((await run('install --namespace ns --node WIN&1')).err).toContain('the name of a Node');
});

/** By other means than the code. */
async function hashOf(host: ModelHost, path: string = file.agentKey): Promise<string> {
  const spki = createPublicKey(host.fileTexts.get(path) ?? '').export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}

test('creates a key for cloud-node-manager, and passes on the certificate lifetime', async () => {
  const host = new ModelHost();
  const { out } = await runIn(worldOf(host), `${base} --cloud-node --cert-duration 2h -o json`);
  expect(JSON.parse(out)).toMatchObject({
    keyHash: await hashOf(host),
    cloudKeyHash: await hashOf(host, file.cloudNodeKey),
  });
  expect(host.files.accessOf(file.cloudNodeKey)).toBe('secret');
  const [{ config } = { config: undefined }] = await host.services.list();
  const options = { namespace: 'ns', node: 'win-1', certificateLifetime: '2h', cloudNode: true };
  expect(config?.command).toBe(controllerCommand(options));
  const before = [await hashOf(host), await hashOf(host, file.cloudNodeKey)];
  await runIn(worldOf(host), `${base} --cloud-node --new-key`);
  for (const hash of [await hashOf(host), await hashOf(host, file.cloudNodeKey)]) expect(before).not.toContain(hash);
});
