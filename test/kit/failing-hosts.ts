import { vi } from 'vitest';
import { findCondition } from '../../src/base/condition.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import type { Client } from '../../src/kube/client.ts';
import type { FaultName } from '../../src/sandbox/machines/faults.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { type Traits, defaultTraits } from '../../src/sandbox/machines/traits.ts';

export interface Problem {
  code: string;
  /** Part of the message beside the address. */
  message: RegExp;
  /** The command or change that fixes the host. */
  remedy: RegExp;
  /** The step that times out, and what it waits for: the remedy is given long before. */
  slow?: { step: string; waitsFor: RegExp };
  /** Faults without which the host would not show this one. */
  together?: readonly FaultName[];
  /** The part of the remedy that is done in the cluster. */
  fixInCluster?(this: void, repair: Repair): Promise<void>;
}

/** Where the remedy for a host is applied. */
export interface Repair {
  host: SimulatedHost;
  client: Client;
  namespace: string;
  /** Brings the next attempt of the operator nearer. */
  skipTime(this: void): void;
}

/** What the operator reports about a host with each fault; `Ready` if the fault does not prevent a Node. */
export const expectations: Readonly<Record<FaultName, Problem | 'Ready'>> = {
  unreachable: {
    code: 'HOST_UNREACHABLE',
    message: /no answer within 10 s/,
    remedy: /Power the host on, .*`New-NetFirewallRule .* -LocalPort 22 -Action Allow`/,
  },
  refused: { code: 'HOST_UNREACHABLE', message: /refuses connections/, remedy: /`.*; Start-Service sshd; .*`/ },
  'no-ssh': {
    code: 'HOST_NOT_SSH',
    message: /HTTP\/1\.1 400/,
    remedy: /LocalPort 22 .*stop it and run `Start-Service/,
  },
  'wrong-key': {
    code: 'HOST_REFUSED_KEY',
    message: /"Administrator" was rejected for key ssh-ed25519 SHA256:/,
    remedy: /`Add-Content C:\\ProgramData\\ssh\\administrators_authorized_keys -Value '', 'ssh-ed25519 \S{68}'; icacls/,
  },
  'password-only': {
    code: 'HOST_WANTS_PASSWORD',
    message: /not possible with a key, only with password/,
    remedy: /"PubkeyAuthentication yes" .*`Restart-Service sshd`/,
  },
  'key-and-password': {
    code: 'HOST_WANTS_PASSWORD',
    message: /the key was accepted, but the SSH server requires password in addition/,
    remedy: /^(?!.*Pubkey).*Remove every line with AuthenticationMethods .*`Restart-Service sshd`/,
  },
  'changed-host-key': {
    code: 'HOST_KEY_CHANGED',
    message: /host key changed from \S+ SHA256:\S+ to \S+ SHA256:/,
    remedy: /ssh_host_ecdsa_key.pub` .*`kubectl patch windowsinstance \S+ -n \S+ --type merge -p '\{"spec":.*\}'`/,
    // The second connection comes when the first breaks.
    together: ['dropped-connection'],
    fixInCluster: followKeyRemedy,
  },
  'no-sftp': { code: 'HOST_SFTP_MISSING', message: /SFTP/, remedy: /"Subsystem sftp sftp-server.exe" above the first/ },
  'no-admin': {
    code: 'HOST_NOT_ADMINISTRATOR',
    message: /the user is not an administrator/,
    remedy: /`Add-LocalGroupMember -SID S-1-5-32-544 -Member 'Administrator'`/,
  },
  powershell: 'Ready',
  german: 'Ready',
  french: 'Ready',
  japanese: 'Ready',
  'full-disk': {
    code: 'HOST_DISK_FULL',
    message: /drive C: has/,
    remedy: /Free \S+ GB more on drive C:.*`Resize-Partition/,
  },
  'slow-disk': 'Ready',
  'slow-network': 'Ready',
  'slow-start': 'Ready',
  'slow-boot': 'Ready',
  'dropped-connection': 'Ready',
  'hung-command': { code: 'HOST_COMMAND_TIMEOUT', message: /bootstrap/, remedy: /`Restart-Computer -Force`/ },
  'power-cut': 'Ready',
  'no-containers': 'Ready',
  'pending-reboot': 'Ready',
  'lost-in-reboot': {
    code: 'HOST_REBOOT_TIMEOUT',
    message: /did not come back after the reboot within 30 min/,
    remedy: /Power \S+ on, or find on its console/,
    slow: { step: 'reboot', waitsFor: /is not back yet|the host starts/ },
  },
  'clock-skew': {
    code: 'HOST_CLOCK_WRONG',
    message: /clock is 120 min behind/,
    remedy: /`Set-Date -Adjust \(\[TimeSpan\]'0\.0[12]:\d\d:\d\d'\); Start-Service W32Time; w32tm.exe \/resync`/,
  },
  'failing-service': {
    code: 'SERVICES_INCOMPLETE',
    message: /the end of its log C:\\var\\log\\containerd\\containerd\.log: .* level=fatal msg=".*Access is denied\."/,
    remedy: /`Get-Content C:\\var\\log\\containerd\\containerd\.log -Tail 50`/,
  },
  'stubborn-service': 'Ready',
  'foreign-containerd': {
    code: 'HOST_SERVICE_FOREIGN',
    message: /services exist that WMCO did not install: containerd/,
    remedy: /`Stop-Service -Force containerd; sc\.exe delete containerd`/,
  },
  'never-ready': {
    code: 'NODE_VERSION_TIMEOUT',
    message: /Node never-ready did not reach version/,
    remedy: /`kubectl describe node never-ready`.*`Restart-Service -Force kubelet, /,
    slow: {
      step: 'wait for agent',
      waitsFor: /the agent configures the host; Node never-ready is not ready|did not become ready/,
    },
  },
  'no-node': {
    code: 'NODE_NOT_FOUND',
    message: /within 10 min/,
    remedy: /`kubectl get csr`.*`Restart-Service -Force kubelet`/,
    slow: { step: 'find node', waitsFor: /registers its Node/ },
  },
  'no-subnet': {
    code: 'NODE_VERSION_TIMEOUT',
    message: /kube-proxy .*OVN-Kubernetes/,
    remedy: /`kubectl logs -n openshift-ovn-kubernetes -l app=ovnkube-control-plane/,
    slow: { step: 'wait for agent', waitsFor: /kube-proxy is waiting for OVN-Kubernetes to assign a pod subnet/ },
  },
  'no-api': {
    code: 'HOST_API_UNREACHABLE',
    message: /cannot reach https:\/\/\S+/,
    remedy: /`Test-NetConnection \S+ -Port \d+`/,
  },
  'busy-port': {
    code: 'HOST_PORT_TAKEN',
    message: /10250/,
    remedy: /LocalPort 10250 -State Listen\).*stop it and disable its autostart/,
  },
  'old-windows': {
    code: 'HOST_SYSTEM_UNSUPPORTED',
    message: /Windows Server 2016 Datacenter 10\.0\.14393\.7428/,
    remedy: /Install Windows Server 2019 or Windows Server 2022 or Windows Server 2025/,
  },
  'client-windows': {
    code: 'HOST_SYSTEM_UNSUPPORTED',
    message: /Windows 11 Pro 10\.0\.26100\.2314 \(Client\)/,
    remedy: /Install Windows Server/,
  },
  'bad-name': {
    code: 'HOST_NAME_INVALID',
    message: /"WIN_HOST" is not a valid Node name/,
    remedy: /`Rename-Computer -NewName WIN-HOST -Restart`/,
  },
  // The API server of the sandbox is on loopback, for which no proxy is used.
  'wrong-proxy': 'Ready',
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

/** A host whose problem is no fault of the sandbox, or a combination of several. */
export interface FailingHost extends Problem {
  name: string;
  faults?: readonly FaultName[];
  traits?: Partial<Traits>;
  /** The part of the remedy that is done on the host, beside the end of its faults. */
  fix?(this: void, host: SimulatedHost): void;
}

const notAdministrator = expectations['no-admin'] as Problem;

export const otherHosts: readonly FailingHost[] = [
  { ...notAdministrator, name: 'kein-admin', faults: ['no-admin', 'german', 'powershell'] },
  {
    name: 'manpai-disk',
    faults: ['japanese'],
    traits: { diskBytes: 1.5e9 },
    code: 'HOST_DISK_FULL',
    message: /drive C: has 1\.5 GB free and needs 2\.\d GB/,
    remedy: /Free \S+ GB more on drive C:/,
    fix: host => host.change({ diskBytes: 80e9 }),
  },
  {
    name: 'old-update',
    traits: { os: { ...defaultTraits.os, build: '10.0.20348.169' } },
    code: 'HOST_SYSTEM_UNSUPPORTED',
    message: /10\.0\.20348\.169/,
    remedy: /`sconfig` .*build 20348\.681 is the minimum/,
    fix: host => void (host.state.os = { ...defaultTraits.os, build: '10.0.20348.681' }),
  },
  {
    name: 'foreign-2',
    traits: { foreignServices: ['kubelet'] },
    code: 'HOST_SERVICE_FOREIGN',
    message: /services exist that WMCO did not install: kubelet/,
    remedy: /`Stop-Service -Force kubelet; sc\.exe delete kubelet`/,
    fix: host => host.removeService('kubelet'),
  },
  {
    name: 'dropped',
    traits: { mishaps: [{ kind: 'drop', on: 'secure', times: 1000 }] },
    code: 'HOST_CONNECTION_LOST',
    message: /connection was lost/,
    remedy: /Check that the host is up/,
    fix: host => host.change({ mishaps: [] }),
  },
];
