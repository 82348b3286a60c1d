import { AppError } from '#base/errors.ts';
import { quotedForPowerShell, runOnHost } from '#base/powershell.ts';
import { diskRemedy, gigabytesText } from '#base/disk-remedy.ts';
import type { Inventory } from '#contract/inventory.ts';
import { agentName, ports, serviceName } from '#contract/names.ts';
import { windowsVersionOf, windowsVersions } from '#contract/supported-versions.ts';
import { adaptersProblem } from './host-adapters.ts';

/** What is checked before anything on a host is changed. */
export interface Preflight {
  /** How messages name the host. */
  address: string;
  username: string;
  inventory: Inventory;
  /** Address that the operator connected to, once resolved. */
  ipv4?: string | undefined;
  /** VXLAN port of the hybrid overlay; empty for the default. */
  vxlanPort: string;
  /** Files to upload. */
  missing: readonly { bytes: number; packedBytes: number }[];
}

/** Returns what is wrong with a host. */
type Check = (facts: Preflight) => AppError | undefined;

/** Fails with all problems at once. */
export function preflight(facts: Preflight): void {
  const problems = checks.flatMap(check => check(facts) ?? []);
  const [first, ...more] = problems;
  if (first === undefined) return;
  if (more.length === 0) throw first;
  const messages = problems.map(({ message }) => message.replace(`${facts.address}: `, '')).join('; ');
  const remedies = problems.map(({ remedy }) => remedy).join(' ');
  throw new AppError(first.code, `${facts.address}: ${messages}`, { remedy: remedies });
}

const isAdministrator: Check = ({ address, username, inventory }) =>
  inventory.isAdministrator ? undefined : notAdministrator(address, username);

export function notAdministrator(address: string, username: string, cause?: Error): AppError {
  const why = cause === undefined ? '' : ` (${cause.message.replace(`${address}: `, '')})`;
  return new AppError('HOST_NOT_ADMINISTRATOR', `${address}: the user is not an administrator${why}`, {
    // The SID of the group Administrators, whose name depends on the language.
    remedy: `${runOnHost(`Add-LocalGroupMember -SID S-1-5-32-544 -Member ${quotedForPowerShell(username)}`)}. Keys of administrators are read from C:\\ProgramData\\ssh\\administrators_authorized_keys only: copy the key of the user to this file.`,
    cause,
  });
}

const hasSupportedSystem: Check = ({ address, inventory }) => {
  const { product, build: text, installationType } = inventory.os;
  const system = windowsVersionOf(text);
  const update = Number(text.split('.')[3] ?? '');
  if (system !== undefined && installationType.startsWith('Server') && update >= system.minimumUpdate) return undefined;
  const isOld = system !== undefined && installationType.startsWith('Server');
  return new AppError(
    'HOST_SYSTEM_UNSUPPORTED',
    `${address}: ${product} ${text} (${installationType}) is not supported`,
    {
      remedy: isOld
        ? `Install Windows updates with \`sconfig\` (option 6) on the host: build ${system.build}.${system.minimumUpdate} is the minimum.`
        : `Install ${windowsVersions.map(one => one.name).join(' or ')} on the host, or remove its entry or instance.`,
    },
  );
};

const defaultVxlanPort = '4789';

const withVxlanPort = windowsVersions.find(({ hasVxlanPort }) => hasVxlanPort);

const supportsVxlanPort: Check = ({ address, inventory, vxlanPort }) => {
  const isOld = windowsVersionOf(inventory.os.build)?.hasVxlanPort === false;
  if (vxlanPort === '' || vxlanPort === defaultVxlanPort || !isOld) return undefined;
  return new AppError(
    'HOST_VXLAN_PORT_UNSUPPORTED',
    `${address}: ${inventory.os.product} ${inventory.os.build} cannot use the VXLAN port ${vxlanPort} of the cluster`,
    {
      remedy: `Use ${withVxlanPort?.name} or later; hybridOverlayVXLANPort of the cluster is not the default ${defaultVxlanPort}.`,
    },
  );
};

const hasOneNetwork: Check = ({ address, inventory, ipv4 }) => adaptersProblem(address, inventory, ipv4);

/** For images and logs; with less no container starts. */
const reserveBytes = 2 * 1024 ** 3;

const hasDiskSpace: Check = ({ address, inventory, missing }) => {
  // Each file exists three times for a while: in the bundle, as packed copy, and in its place.
  const needed = missing.reduce((sum, { bytes, packedBytes }) => sum + bytes + 2 * packedBytes, 0);
  if (needed === 0 || inventory.freeBytes >= needed + reserveBytes) return undefined;
  const wanted = needed + reserveBytes;
  const [free, required] = [inventory.freeBytes, wanted].map(bytes => `${(bytes / 1e9).toFixed(1)} GB`);
  return new AppError('HOST_DISK_FULL', `${address}: drive C: has ${free} free and needs ${required}`, {
    remedy: diskRemedy(gigabytesText(wanted - inventory.freeBytes)),
  });
};

/** Certificates are backdated by five minutes; for a host further behind they are not valid yet. */
export const maxSkewMs = 5 * 60_000;

const hasCorrectClock: Check = ({ address, inventory }) => {
  const aheadMs = inventory.probe?.clockAheadMs ?? 0;
  if (Math.abs(aheadMs) <= maxSkewMs) return undefined;
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  const where = aheadMs > 0 ? 'ahead of' : 'behind';
  return new AppError('HOST_CLOCK_WRONG', `${address}: its clock is ${minutes} min ${where} the API server's`, {
    remedy: `${runOnHost(`Set-Date -Adjust ([TimeSpan]'${timeSpan(-aheadMs)}')`, 'Start-Service W32Time', 'w32tm.exe /resync')}.`,
  });
};

/** As .NET reads it: `-1.02:03:04` is minus one day, two hours, three minutes and four seconds. */
function timeSpan(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), (seconds / 3600) % 24, (seconds / 60) % 60];
  return `${ms < 0 ? '-' : ''}${days}.${two(hours)}:${two(minutes)}:${two(seconds % 60)}`;
}

const hasNoForeignService: Check = ({ address, inventory }) => {
  const managed = new Set(Object.values(serviceName).map(name => name.toLowerCase()));
  const foreign = inventory.services
    .filter(({ name, isManaged }) => !isManaged && name !== agentName && managed.has(name.toLowerCase()))
    .map(({ name }) => name);
  if (foreign.length === 0) return undefined;
  return new AppError(
    'HOST_SERVICE_FOREIGN',
    `${address}: services exist that WMCO did not install: ${foreign.join(', ')}`,
    {
      remedy: `${runOnHost(...foreign.flatMap(name => [`Stop-Service -Force ${name}`, `sc.exe delete ${name}`]))}: the operator installs its own.`,
    },
  );
};

const needed = [
  { port: ports.kubelet, service: serviceName.kubelet },
  { port: ports.exporter, service: serviceName.exporter },
] as const;

const hasFreePorts: Check = ({ address, inventory }) => {
  // A service of this name that WMCO did not install is reported by the check above.
  const exists = (name: string) =>
    inventory.services.some(service => service.name === name && service.state !== 'stopped');
  const taken = needed.filter(({ port, service }) => inventory.portsInUse.includes(port) && !exists(service));
  if (taken.length === 0) return undefined;
  const list = taken.map(({ port, service }) => `${port} (${service})`).join(', ');
  return new AppError('HOST_PORT_TAKEN', `${address}: another program listens on port ${list}`, {
    remedy: `Find the program with \`Get-Process -Id (Get-NetTCPConnection -LocalPort ${taken.map(({ port }) => port).join(',')} -State Listen).OwningProcess\` on the host, stop it and disable its autostart.`,
  });
};

const reachesServer: Check = ({ address, inventory: { probe } }) =>
  probe?.problem === undefined
    ? undefined
    : new AppError('HOST_API_UNREACHABLE', `${address}: the host cannot reach ${probe.url}: ${probe.problem}`, {
        remedy: `Run \`${connectionTest(probe.url)}\` on the host, then correct DNS, routes and firewalls from the host to the API server.`,
      });

/** Only plain names: the host reports the URL, and users paste the command. */
function connectionTest(url: string): string {
  const [, name = 'API-SERVER', port = '443'] =
    /^https:\/\/([a-z0-9.-]{1,253})(?::(\d{1,5}))?(?:\/|$)/i.exec(url) ?? [];
  return `Test-NetConnection ${name} -Port ${port}`;
}

const checks: readonly Check[] = [
  isAdministrator,
  hasSupportedSystem,
  supportsVxlanPort,
  hasOneNetwork,
  hasDiskSpace,
  hasCorrectClock,
  hasNoForeignService,
  hasFreePorts,
  reachesServer,
];
