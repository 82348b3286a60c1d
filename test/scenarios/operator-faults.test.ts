import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InstanceObject } from '../../src/cluster/windows-instances.ts';
import { events } from '../../src/kube/resources.ts';
import type { FaultName } from '../../src/sandbox/machines/faults.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** Each fault of the table that keeps a host from joining, met by the operator: its own code and what to do about it. */

const refused: [FaultName, string][] = [
  ['refused', 'HOST_UNREACHABLE'],
  ['no-ssh', 'HOST_NOT_SSH'],
  ['wrong-key', 'HOST_REFUSED_KEY'],
  ['password-only', 'HOST_WANTS_PASSWORD'],
  ['key-and-password', 'HOST_WANTS_PASSWORD'],
  ['no-sftp', 'HOST_SFTP_MISSING'],
  ['no-admin', 'HOST_NOT_ADMINISTRATOR'],
  ['full-disk', 'HOST_DISK_FULL'],
  ['old-windows', 'HOST_SYSTEM_UNSUPPORTED'],
  ['client-windows', 'HOST_SYSTEM_UNSUPPORTED'],
  ['bad-name', 'HOST_NAME_INVALID'],
  ['clock-skew', 'HOST_CLOCK_WRONG'],
  ['foreign-containerd', 'HOST_SERVICE_FOREIGN'],
  ['busy-port', 'HOST_PORT_TAKEN'],
];
/** Those that only make it take longer, or look different. */
const harmless: FaultName[] = ['powershell', 'german', 'french', 'dropped-connection', 'power-cut', 'pending-reboot'];

let sandbox: Sandbox;
let operator: SandboxOperator;
const names = new Map<FaultName, string>();

beforeAll(async () => {
  const wished = [...refused.map(([fault]) => fault), ...harmless];
  const wishes = wished.map((fault, index) => {
    names.set(fault, `win-${index + 1}`);
    return `${fault}@win-${index + 1}`;
  });
  sandbox = await startSandbox({ hosts: wished.length, speed: 20, faults: wishes });
  operator = startOperator(sandbox, { payloadBytes: 400_000 });
});
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
});

async function instanceOf(fault: FaultName): Promise<InstanceObject | undefined> {
  const { address, name, dnsSuffix } = sandbox.host(names.get(fault) ?? '').spec;
  const known = dnsSuffix === '' ? address : `${name}.${dnsSuffix}`;
  return (await operator.instances()).find(({ spec }) => spec.address === known);
}

/** The last error in its timeline. */
async function errorOf(fault: FaultName) {
  const { timeline = [] } = (await instanceOf(fault))?.status ?? {};
  return timeline.findLast(({ lastError }) => lastError !== undefined)?.lastError;
}

const patient = { timeout: 60_000, interval: 200 };

test.each(refused)(
  '%s is told as %s, with what to do about it, in its timeline and as a condition',
  async (fault, code) => {
    await expect.poll(async () => (await errorOf(fault))?.code, patient).toBe(code);
    const { remedy, message } = (await errorOf(fault)) ?? {};
    expect([message, remedy]).toEqual([expect.stringMatching(/./), expect.stringMatching(/\.$/)]);
    const instance = await instanceOf(fault);
    expect(instance?.status?.conditions?.map(({ reason }) => reason)).toContain(code);
  },
);

test('events on the ConfigMap that lists the hosts tell of them, too', async () => {
  const { items } = await operator.client.list(events, { namespace: sandbox.namespace });
  const warnings = items.filter(
    ({ involvedObject, type }) => type === 'Warning' && involvedObject.name === 'windows-instances',
  );
  const codes = new Set(warnings.map(({ message = '' }) => /HOST_[A-Z_]+/.exec(message)?.[0]));
  // Many alike are told together from the tenth on.
  expect(codes.size).toBeGreaterThanOrEqual(5);
});

test.each(harmless)('%s does not keep a host from joining', async fault => {
  await expect
    .poll(async () => (await instanceOf(fault))?.status?.phase, { ...patient, timeout: 90_000 })
    .toBe('Ready');
});

test('nobody who has to wait is asked again and again', () => {
  for (const { spec, stats } of sandbox.hosts) expect([spec.name, stats.connections < 40]).toEqual([spec.name, true]);
});

test('no secret is in anything the operator has said', async () => {
  const seen = `${operator.lines.join('')}${JSON.stringify(await operator.instances())}`;
  const key = sandbox.privateKey.reveal().split('\n')[1] ?? '';
  expect(seen).not.toContain(key);
  expect(seen).not.toMatch(/PRIVATE KEY|eyJhbGciOi/);
});
