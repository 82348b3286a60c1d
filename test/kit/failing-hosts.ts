import { vi } from 'vitest';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import type { Client } from '../../src/kube/client.ts';
import { findCondition } from '../../src/base/condition.ts';
import type { FaultName } from '../../src/sandbox/machines/faults.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { type Traits, defaultTraits } from '../../src/sandbox/machines/traits.ts';

/** Where a host puts right what was wrong with it. */
export interface Repair {
  host: SimulatedHost;
  client: Client;
  namespace: string;
  /** Brings the next attempt of the operator nearer. */
  skipTime(this: void): void;
}

/** A host with a fault: the error it causes, and the fix exactly as the remedy describes it. */
export interface FailingHost {
  name: string;
  faults?: readonly FaultName[];
  traits?: Partial<Traits>;
  code: string;
  /** Part of the message beside the address. */
  message: RegExp;
  /** The part of the remedy that is done here. */
  remedy: RegExp;
  fix(this: void, repair: Repair): unknown;
}

const traits =
  (change: Partial<Traits>) =>
  ({ host }: Repair) =>
    host.change(change);

const removeService =
  (name: string) =>
  async ({ host }: Repair) => {
    await host.services.stop(name).catch(() => undefined);
    await host.services.remove(name);
  };

/** Runs the command that the condition shows. */
async function followKeyRemedy({ host, client, namespace, skipTime }: Repair): Promise<void> {
  const command = /patch windowsinstance (\S+) .* -p '([^']+)'/;
  const messageNow = async () => {
    const { items } = await client.list(windowsInstances, { namespace });
    const instance = items.find(({ spec }) => spec.address === host.spec.address);
    return findCondition(instance?.status?.conditions, instanceCondition.configured)?.message ?? '';
  };
  // While time is skipped, an attempt may end with a timeout of its step; the next one shows the command again.
  const read = async () => {
    const found = command.exec(await messageNow());
    if (found === null) skipTime();
    return found;
  };
  const [, name = '', body = ''] = await vi.waitUntil(read, { timeout: 60_000, interval: 1000 });
  await client.patch(windowsInstances, name, { type: 'merge', body: JSON.parse(body) as object }, { namespace });
}

/** Those that show within seconds. */
export const failingHosts: readonly FailingHost[] = [
  {
    name: 'refused',
    faults: ['refused'],
    code: 'HOST_UNREACHABLE',
    message: /refuses connections/,
    remedy: /Start the service sshd/,
    fix: traits({ network: 'answers' }),
  },
  {
    name: 'silent',
    faults: ['unreachable'],
    code: 'HOST_UNREACHABLE',
    message: /no answer within 10 s/,
    remedy: /Check that the host is up/,
    fix: traits({ network: 'answers' }),
  },
  {
    name: 'no-ssh',
    faults: ['no-ssh'],
    code: 'HOST_NOT_SSH',
    message: /HTTP\/1\.1 400/,
    remedy: /an SSH server must listen there/,
    fix: traits({ network: 'answers' }),
  },
  {
    name: 'wrong-key',
    faults: ['wrong-key'],
    code: 'HOST_REFUSED_KEY',
    message: /"Administrator" was rejected for key ssh-ed25519 SHA256:/,
    remedy: /add to C:\\ProgramData\\ssh\\administrators_authorized_keys .* the line "ssh-ed25519 \S+"/,
    fix: traits({ acceptsKey: true }),
  },
  {
    name: 'password',
    faults: ['password-only'],
    code: 'HOST_WANTS_PASSWORD',
    message: /only with password/,
    remedy: /PubkeyAuthentication yes/,
    fix: traits({ login: 'key' }),
  },
  {
    name: 'two-factors',
    faults: ['key-and-password'],
    code: 'HOST_WANTS_PASSWORD',
    message: /requires password in addition/,
    remedy: /remove AuthenticationMethods/,
    fix: traits({ login: 'key' }),
  },
  {
    name: 'new-key',
    // The second connection comes when the first breaks.
    faults: ['changed-host-key', 'dropped-connection'],
    code: 'HOST_KEY_CHANGED',
    message: /host key changed from \S+ SHA256:\S+ to \S+ SHA256:/,
    remedy: /run `kubectl patch windowsinstance \S+ -n \S+ --type merge -p '\{"spec":\{"hostKey":"\S+ \S+"\}\}'`/,
    fix: followKeyRemedy,
  },
  {
    name: 'no-sftp',
    faults: ['no-sftp'],
    code: 'HOST_SFTP_MISSING',
    message: /./,
    remedy: /sftp/i,
    fix: traits({ hasSftp: true }),
  },
  {
    name: 'no-admin',
    faults: ['no-admin'],
    code: 'HOST_NOT_ADMINISTRATOR',
    message: /the user is not an administrator/,
    remedy: /group Administrators/,
    fix: traits({ isAdministrator: true }),
  },
  {
    name: 'kein-admin',
    faults: ['no-admin', 'german', 'powershell'],
    code: 'HOST_NOT_ADMINISTRATOR',
    message: /the user is not an administrator/,
    remedy: /group Administrators/,
    fix: traits({ isAdministrator: true }),
  },
  {
    name: 'full-disk',
    faults: ['full-disk'],
    code: 'HOST_DISK_FULL',
    message: /./,
    remedy: /Free space|larger disk/,
    fix: traits({ diskBytes: 80e9 }),
  },
  {
    name: 'manpai-disk',
    faults: ['japanese'],
    traits: { diskBytes: 1.5e9 },
    code: 'HOST_DISK_FULL',
    message: /drive C: has 1\.5 GB free and needs 2\.\d GB/,
    remedy: /Free space on drive C:/,
    fix: traits({ diskBytes: 80e9 }),
  },
  {
    name: 'old-windows',
    faults: ['old-windows'],
    code: 'HOST_SYSTEM_UNSUPPORTED',
    message: /Windows Server 2016 Datacenter 10\.0\.14393\.7428/,
    remedy: /Use Windows Server 2019 or Windows Server 2022 or Windows Server 2025/,
    fix: ({ host }) => (host.state.os = defaultTraits.os),
  },
  {
    name: 'client',
    faults: ['client-windows'],
    code: 'HOST_SYSTEM_UNSUPPORTED',
    message: /Windows 11 Pro 10\.0\.26100\.2314 \(Client\)/,
    remedy: /Use Windows Server/,
    fix: ({ host }) => (host.state.os = defaultTraits.os),
  },
  {
    name: 'old-update',
    traits: { os: { ...defaultTraits.os, build: '10.0.20348.169' } },
    code: 'HOST_SYSTEM_UNSUPPORTED',
    message: /10\.0\.20348\.169/,
    remedy: /build 20348\.681 is the minimum/,
    fix: ({ host }) => (host.state.os = { ...defaultTraits.os, build: '10.0.20348.681' }),
  },
  {
    name: 'bad-name',
    faults: ['bad-name'],
    code: 'HOST_NAME_INVALID',
    message: /"WIN_HOST" is not a valid Node name/,
    remedy: /Rename the host/,
    fix: ({ host }) => (host.state.hostName = 'good-name'),
  },
  {
    name: 'clock-skew',
    faults: ['clock-skew'],
    code: 'HOST_CLOCK_WRONG',
    message: /clock is 120 min behind/,
    remedy: /Set the clock of the host/,
    fix: traits({ clockOffsetMs: 0 }),
  },
  {
    name: 'no-api',
    faults: ['no-api'],
    code: 'HOST_API_UNREACHABLE',
    message: /cannot reach https:\/\/\S+/,
    remedy: /DNS, routes and firewalls from the host to the API server/,
    fix: traits({ reachesApi: true }),
  },
  {
    name: 'foreign-1',
    faults: ['foreign-containerd'],
    code: 'HOST_SERVICE_FOREIGN',
    message: /services exist that WMCO did not install: containerd/,
    remedy: /sc\.exe delete containerd/,
    fix: removeService('containerd'),
  },
  {
    name: 'foreign-2',
    traits: { foreignServices: ['kubelet'] },
    code: 'HOST_SERVICE_FOREIGN',
    message: /services exist that WMCO did not install: kubelet/,
    remedy: /sc\.exe delete kubelet/,
    fix: removeService('kubelet'),
  },
  {
    name: 'busy-port',
    faults: ['busy-port'],
    code: 'HOST_PORT_TAKEN',
    message: /10250/,
    remedy: /stop it and disable its autostart/,
    fix: traits({ busyPorts: [] }),
  },
  {
    name: 'hung',
    traits: { mishaps: [{ kind: 'hang', on: 'bootstrap', times: 1000 }] },
    code: 'HOST_COMMAND_TIMEOUT',
    message: /bootstrap/,
    remedy: /./,
    fix: traits({ mishaps: [] }),
  },
  {
    name: 'dropped',
    traits: { mishaps: [{ kind: 'drop', on: 'secure', times: 1000 }] },
    code: 'HOST_CONNECTION_LOST',
    message: /connection was lost/,
    remedy: /Check that the host is up/,
    fix: traits({ mishaps: [] }),
  },
  {
    name: 'failing',
    faults: ['failing-service'],
    code: 'SERVICES_INCOMPLETE',
    message: /containerd/,
    remedy: /./,
    fix: traits({ failingServices: [] }),
  },
];
