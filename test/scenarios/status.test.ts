import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation } from '../../src/contract/names.ts';
import { configMaps, nodes } from '../../src/kube/resources.ts';
import type { FaultName } from '../../src/sandbox/machines/faults.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';
import { startWmco } from '../kit/wmco-process.ts';

/** `wmco status` for hosts that fail for different reasons, and for healthy ones. */

const failing: [host: string, faults: FaultName[], code: string, message: RegExp, remedy: RegExp][] = [
  // The interrupted upload forces a second connection, which shows the other key.
  [
    'win-1',
    ['changed-host-key', 'dropped-connection'],
    'HOST_KEY_CHANGED',
    /SHA256:/,
    /If the host was reinstalled, compare SHA256:\S+ with .*kubectl patch windowsinstance/,
  ],
  ['win-2', ['wrong-key'], 'HOST_REFUSED_KEY', /"Administrator"/, /administrators_authorized_keys/],
  ['win-3', ['password-only'], 'HOST_WANTS_PASSWORD', /only with password/, /PubkeyAuthentication yes/],
  ['win-4', ['refused'], 'HOST_UNREACHABLE', /refuses connections/, /sshd/],
  [
    'win-5',
    ['no-admin'],
    'HOST_NOT_ADMINISTRATOR',
    /is not an administrator/,
    /Add-LocalGroupMember -SID S-1-5-32-544/,
  ],
  [
    'win-6',
    ['no-admin', 'german'],
    'HOST_NOT_ADMINISTRATOR',
    /is not an administrator/,
    /Add-LocalGroupMember -SID S-1-5-32-544/,
  ],
  [
    'win-7',
    ['no-admin', 'french', 'powershell'],
    'HOST_NOT_ADMINISTRATOR',
    /is not an administrator/,
    /Add-LocalGroupMember -SID S-1-5-32-544/,
  ],
  ['win-8', ['busy-port'], 'HOST_PORT_TAKEN', /10250/, /Get-NetTCPConnection -LocalPort 10250/],
];
/** Other languages and shells work. */
const ready: [host: string, faults: FaultName[]][] = [
  ['win-9', []],
  ['win-10', ['german']],
  ['win-11', ['french', 'powershell']],
];

let folder: string;
let sandbox: Sandbox;
let operator: SandboxOperator;
const namespace = () => sandbox.namespace;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-status-'));
  const all = [...failing.map(([host, faults]) => [host, faults] as const), ...ready];
  const wishes = all.flatMap(([host, faults]) => faults.map(fault => `${fault}@${host}`));
  sandbox = await startSandbox({ hosts: all.length, speed: 20, faults: wishes });
  writeFileSync(join(folder, 'kubeconfig'), sandbox.kubeconfig, { mode: 0o600 });
  operator = startOperator(sandbox, { payloadBytes: 400_000 });
}, 60_000);
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function status(...words: string[]): Promise<{ code: number | string; out: string; err: string }> {
  await using wmco = startWmco(['status', ...words], { environment: { KUBECONFIG: join(folder, 'kubeconfig') } });
  const code = await wmco.ended();
  return { code, out: wmco.out(), err: wmco.err() };
}

/** Name in windows-instances. */
function addressOf(host: string): string {
  const { address, name, dnsSuffix } = sandbox.host(host).spec;
  return dnsSuffix === '' ? address : `${name}.${dnsSuffix}`;
}

interface HostData {
  name: string;
  phase: string;
  isGood: boolean;
  problem?: { code: string; message: string; remedy: string };
  node?: { name: string; ready: boolean };
}

async function allData(): Promise<HostData[]> {
  const { out } = await status('-o', 'json');
  return (JSON.parse(out) as { hosts: HostData[] }).hosts;
}

const patient = { timeout: 100_000, interval: 500 };

test('healthy hosts become Ready, the others have a problem', async () => {
  const settled = async () => {
    const hosts = await allData();
    const of = (host: string) => hosts.find(({ name }) => name === addressOf(host));
    return [...ready.map(([host]) => of(host)?.phase), ...failing.map(([host]) => of(host)?.problem?.code)];
  };
  await expect.poll(settled, patient).toEqual([...ready.map(() => 'Ready'), ...failing.map(([, , code]) => code)]);
}, 120_000);

test.each(failing)('%s with %j is reported as %s with a remedy', async (...story) => {
  const [host, , code, message, remedy] = story;
  const address = addressOf(host);
  const page = await status(address);
  expect([page.code, page.err]).toEqual([1, '']);
  const words = page.out.replaceAll(/\s+/g, ' ');
  expect(words).toContain(`Problem: ${code}`);
  expect(words).toMatch(message);
  expect(words.slice(words.indexOf(' -> '))).toMatch(remedy);
  expect(words).toContain(`entry ${address} of ConfigMap windows-instances`);
});

test('the table has one line for each host and remedies below', async () => {
  const { code: exit, out, err } = await status();
  expect([exit, err]).toEqual([1, '']);
  const [table = '', ...problems] = out.split('\n\n');
  for (const [host, , code] of failing) {
    const row = table.split('\n').find(line => line.startsWith(`${addressOf(host)} `)) ?? '';
    expect(row).toMatch(/ (Failed|Retrying) /);
    expect(row).toContain(code);
    expect(problems.join('\n\n')).toMatch(new RegExp(`^${addressOf(host)}: ${code}\n(  .*\n)+?  -> `, 'm'));
  }
  expect(table).toContain(`11 hosts: 3 Ready, 8 with a problem`);
});

test.each(ready)('%s with %j is Ready, with its Node, its key and every step', async host => {
  const { code, out, err } = await status(addressOf(host));
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(new RegExp(`^${addressOf(host)}  Ready\n`));
  expect(out).toMatch(/Host key {4}\S+ SHA256:[A-Za-z0-9+/]{43}, in status.hostKey/);
  expect(out).toMatch(new RegExp(`Node {8}${host}: Ready, schedulable`));
  expect(out).toMatch(/stage programs +done/);
  expect(out).toMatch(/rename +not needed/);
  expect(out).toMatch(/uncordon +done/);
  expect(out).toMatch(/Ready +True +Joined/);
});

test('finds a host by its Node and its DNS name in any case', async () => {
  for (const name of ['WIN-9', 'win-9.SANDBOX.test']) {
    const { code, out } = await status(name);
    expect([name, code, out.split(' ')[0]]).toEqual([name, 0, addressOf('win-9')]);
  }
});

test('an unknown host is an error that lists the known ones', async () => {
  const { code, out, err } = await status('win-99');
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/^error: HOST_UNKNOWN: .*"win-99"\n {2}-> Use one of: 10\./);
});

test('lists invalid entries of windows-instances without their values', async () => {
  const data = {
    bad_name: 'username=x',
    '10.9.9.9': 'password=planted-4711',
    [addressOf('win-3').toUpperCase()]: 'username=core',
  };
  const patch = (body: unknown) =>
    operator.client.patch(configMaps, configMapName.instances, { type: 'merge', body }, { namespace: namespace() });
  await patch({ data });
  const { code, out } = await status();
  expect(code).toBe(1);
  expect(out).toMatch(/^bad_name .*Rejected .*INSTANCE_ADDRESS_INVALID$/m);
  expect(out).toMatch(/^10\.9\.9\.9 .*Rejected .*INSTANCE_ENTRY_MALFORMED$/m);
  expect(out).toMatch(/INSTANCE_DUPLICATE/);
  expect(out).not.toContain('planted-4711');
  await patch({ data: Object.fromEntries(Object.keys(data).map(name => [name, null])) });
});

test('shows a removal that waits while the roll-out is paused, and that it was canceled', async () => {
  const key = addressOf('win-11');
  const metadata = { name: configMapName.rollout, namespace: namespace() };
  await operator.client.create(configMaps, { metadata, data: { paused: 'true' } });
  const patch = (value: string | null) =>
    operator.client.patch(
      configMaps,
      configMapName.instances,
      { type: 'merge', body: { data: { [key]: value } } },
      { namespace: namespace() },
    );
  // By force, because other new hosts do not answer, and might be this one.
  const force = { metadata: { annotations: { [instanceAnnotation.forceRemoval]: 'true' } } };
  await operator.client.patch(windowsInstances, key, { type: 'merge', body: force }, { namespace: namespace() });
  await patch(null);
  await expect.poll(async () => (await status()).out, patient).toMatch(new RegExp(`^${key} .*Removing .*paused`, 'm'));
  await patch('username=Administrator');
  await expect.poll(async () => (await status('win-11')).code, patient).toBe(0);
  await operator.client.delete(configMaps, metadata.name, { namespace: metadata.namespace });
}, 120_000);

test('shows a cordoned Node', async () => {
  const cordon = (unschedulable: boolean | null) =>
    operator.client.patch(nodes, 'win-9', { type: 'merge', body: { spec: { unschedulable } } });
  await cordon(true);
  expect((await status()).out).toMatch(/^win-9\S* .*Ready .*cordoned by a user$/m);
  await cordon(null);
});

test('-w ends with the next change when the reader of its output is gone', async () => {
  const line = `'${process.execPath}' src/bin/wmco.ts status -w -o json | head -1`;
  const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') };
  const child = spawn('sh', ['-c', line], { cwd: repositoryRoot, env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  for (let round = 0; child.exitCode === null && round < 300; round += 1) {
    const body = { spec: { unschedulable: round % 2 === 0 ? true : null } };
    await operator.client.patch(nodes, 'win-9', { type: 'merge', body });
    await delay(200);
  }
  expect(child.exitCode).toBe(0);
  await operator.client.patch(nodes, 'win-9', { type: 'merge', body: { spec: { unschedulable: null } } });
}, 120_000);

test('its output contains no secret', async () => {
  const all = [await status(), await status('-o', 'json')].map(({ out, err }) => out + err).join('');
  expect(all).not.toContain(sandbox.privateKey.reveal().split('\n')[1] ?? '');
  expect(all).not.toMatch(/PRIVATE KEY|eyJhbGciOi/);
});

test('-w prints a line for each change without a terminal until it is stopped', async () => {
  const environment = { KUBECONFIG: join(folder, 'kubeconfig') };
  await using wmco = startWmco(['status', '-w', 'win-10'], { environment });
  await wmco.until(/^\d\d:\d\d:\d\d {2}\S+ {2}Ready as Node win-10 after /m);
  await operator.client.delete(nodes, 'win-10');
  await wmco.until(/(Ready as Node win-10[^]*){2}/);
  wmco.signal('SIGINT');
  expect(await wmco.ended()).toBe(0);
  expect(wmco.err()).toBe('');
  expect(wmco.out()).not.toContain('\u001b');
});
