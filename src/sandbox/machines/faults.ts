import { AppError, shown } from '#base/errors.ts';
import { serviceName } from '#contract/names.ts';
import type { Times } from './times.ts';
import type { Traits } from './traits.ts';

/** A named change of the default traits and times. */
export interface Fault {
  /** For `wmco sandbox --faults`. */
  description: string;
  traits?: Partial<Traits>;
  times?: Partial<Times>;
}

const hourMs = 3_600_000;
const megabyte = 1_000_000;
const server = { product: 'Windows Server 2016 Datacenter', build: '10.0.14393.7428', installationType: 'Server' };
const desktop = { product: 'Windows 11 Pro', build: '10.0.26100.2314', installationType: 'Client' };

export const faults = {
  unreachable: { description: 'no answer at the address', traits: { network: 'silent' } },
  refused: { description: 'the SSH server does not run', traits: { network: 'refuses' } },
  'no-ssh': { description: 'another protocol answers on the SSH port', traits: { network: 'other protocol' } },
  'wrong-key': { description: 'the public key is not authorized on the host', traits: { acceptsKey: false } },
  'password-only': { description: 'the SSH server accepts passwords only', traits: { login: 'password' } },
  'key-and-password': {
    description: 'the SSH server requires a password in addition to the key',
    traits: { login: 'key and password' },
  },
  'changed-host-key': {
    description: 'the host key changes after the first connection',
    traits: { changesHostKey: true },
  },
  'no-sftp': { description: 'the SSH server offers no file transfer', traits: { hasSftp: false } },
  'no-admin': { description: 'the user is not an administrator', traits: { isAdministrator: false } },
  powershell: { description: 'PowerShell is the default shell', traits: { shell: 'powershell' } },
  german: { description: 'Windows in German', traits: { language: 'german' } },
  french: { description: 'Windows in French, with code page 850', traits: { language: 'french' } },
  japanese: { description: 'Windows in Japanese, with code page 932', traits: { language: 'japanese' } },
  'full-disk': { description: 'the disk is almost full', traits: { diskBytes: 10 * megabyte } },
  'slow-disk': { description: 'the disk writes 5 MB a second', times: { diskBytesPerSecond: 5 * megabyte } },
  'slow-network': { description: 'the network takes 1 MB a second', times: { uploadBytesPerSecond: megabyte } },
  'slow-start': { description: 'services take 15 seconds to start', times: { serviceStartMs: 15_000 } },
  'slow-boot': { description: 'a boot takes four minutes', times: { bootMs: 240_000 } },
  'dropped-connection': {
    description: 'the connection breaks during the first upload',
    traits: { mishaps: [{ kind: 'drop', on: 'upload', times: 1, afterBytes: 100_000 }] },
  },
  'hung-command': {
    description: 'the first bootstrap never answers',
    traits: { mishaps: [{ kind: 'hang', on: 'bootstrap', times: 1 }] },
  },
  'power-cut': {
    description: 'the power fails during the first bootstrap',
    traits: { mishaps: [{ kind: 'power cut', on: 'bootstrap', times: 1 }] },
  },
  'no-containers': {
    description: 'the Containers feature is missing, so a reboot is needed',
    traits: { containersFeature: 'disabled' },
  },
  'pending-reboot': {
    description: 'Windows has a pending reboot',
    traits: { pendingReboot: ['Windows Update'] },
  },
  'lost-in-reboot': {
    description: 'a reboot is needed and the host does not come back',
    traits: { containersFeature: 'disabled', returnsFromReboot: false },
  },
  'clock-skew': { description: 'the clock is two hours behind', traits: { clockOffsetMs: -2 * hourMs } },
  'failing-service': {
    description: 'containerd exits right after it starts',
    traits: { failingServices: [serviceName.containerd] },
  },
  'stubborn-service': {
    description: 'kube-proxy does not stop on request',
    traits: { stubbornServices: [serviceName.kubeProxy] },
  },
  'foreign-containerd': {
    description: 'a containerd service that WMCO did not install is running',
    traits: { foreignServices: [serviceName.containerd] },
  },
  'never-ready': { description: 'the Node does not become ready', traits: { kubelet: 'never ready' } },
  'no-node': { description: 'the kubelet runs, but no Node appears', traits: { kubelet: 'never registers' } },
  'no-subnet': { description: 'OVN-Kubernetes assigns no subnet to the Node', traits: { getsSubnet: false } },
  'no-api': { description: 'the host cannot reach the API server', traits: { reachesApi: false } },
  'busy-port': { description: 'another program listens on the port of the kubelet', traits: { busyPorts: [10_250] } },
  'old-windows': { description: 'Windows Server 2016, which is not supported', traits: { os: server } },
  'client-windows': { description: 'Windows 11, which is not supported', traits: { os: desktop } },
  'bad-name': { description: 'the host name is not a valid Node name', traits: { hostName: 'WIN_HOST' } },
  'wrong-proxy': {
    description: 'a machine variable sets a proxy that does not answer',
    traits: { machineVariables: { HTTPS_PROXY: 'http://127.0.0.1:1' } },
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;

/** Assigns `fault@host` to that host, and `fault` to the last host without one. */
export function assignFaults(
  requests: readonly string[],
  hosts: readonly string[],
  machines: readonly string[] = [],
): ReadonlyMap<string, FaultName[]> {
  const given = new Map<string, FaultName[]>([...hosts, ...machines].map(host => [host, []]));
  const split = requests.map(request => {
    const [fault = '', host] = request.split('@');
    return { fault: parseFaultName(fault), host };
  });
  for (const { fault, host } of split) if (host !== undefined) placeOf(host, given).push(fault);
  for (const { fault, host } of split) {
    if (host !== undefined) continue;
    const free = hosts.toReversed().find(name => given.get(name)?.length === 0);
    if (free === undefined)
      throw usage(`${requests.length} faults for ${hosts.length} hosts; each host takes one unless it is named`);
    given.get(free)?.push(fault);
  }
  return given;
}

export function findFault(name: FaultName): Fault {
  return faults[name];
}

export function parseFaultName(name: string): FaultName {
  if (Object.hasOwn(faults, name)) return name as FaultName;
  throw usage(`unknown fault ${shown(name)}; known faults: ${Object.keys(faults).join(', ')}`);
}

function placeOf(host: string, given: ReadonlyMap<string, FaultName[]>): FaultName[] {
  const found = given.get(host);
  if (found !== undefined) return found;
  throw usage(`unknown host ${shown(host)}; known hosts: ${[...given.keys()].join(', ') || 'none'}`);
}

function usage(message: string): AppError {
  return new AppError('USAGE', message, { remedy: 'List the faults with: wmco sandbox --faults.' });
}
