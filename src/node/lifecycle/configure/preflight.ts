import { AppError } from '#base/errors.ts';
import type { Inventory } from '#contract/inventory.ts';
import { agentName, ports, serviceName } from '#contract/names.ts';
import { adaptersProblem } from './host-adapters.ts';

/** What is checked before anything on a host is changed. */
export interface Preflight {
  /** How messages name the host. */
  address: string;
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

const isAdministrator: Check = ({ address, inventory }) =>
  inventory.isAdministrator ? undefined : notAdministrator(address);

export function notAdministrator(address: string, cause?: Error): AppError {
  const why = cause === undefined ? '' : ` (${cause.message.replace(`${address}: `, '')})`;
  return new AppError('HOST_NOT_ADMINISTRATOR', `${address}: the user is not an administrator${why}`, {
    remedy:
      'Add the user to the group Administrators, and the key to C:\\ProgramData\\ssh\\administrators_authorized_keys.',
    cause,
  });
}

/** Supported builds of Windows Server with the minimum update. */
const systems = [
  { name: 'Windows Server 2019', build: 17_763, update: 0 },
  // KB5012637, without which the overlay network loses packets.
  { name: 'Windows Server 2022', build: 20_348, update: 681 },
  { name: 'Windows Server 2025', build: 26_100, update: 0 },
] as const;

const hasSupportedSystem: Check = ({ address, inventory }) => {
  const { product, build: text, installationType } = inventory.os;
  const [, , build = '', update = ''] = text.split('.');
  const system = systems.find(one => String(one.build) === build);
  if (system !== undefined && installationType.startsWith('Server') && Number(update) >= system.update)
    return undefined;
  const isOld = system !== undefined && installationType.startsWith('Server');
  return new AppError(
    'HOST_SYSTEM_UNSUPPORTED',
    `${address}: ${product} ${text} (${installationType}) is not supported`,
    {
      remedy: isOld
        ? `Install Windows updates: build ${system.build}.${system.update} is the minimum.`
        : `Use ${systems.map(one => one.name).join(' or ')}.`,
    },
  );
};

/** Earlier systems send VXLAN to the default port only. */
const firstBuildWithVxlanPort = 20_348;
const defaultVxlanPort = '4789';

const supportsVxlanPort: Check = ({ address, inventory, vxlanPort }) => {
  const build = Number(inventory.os.build.split('.')[2]);
  if (vxlanPort === '' || vxlanPort === defaultVxlanPort || !(build < firstBuildWithVxlanPort)) return undefined;
  return new AppError(
    'HOST_VXLAN_PORT_UNSUPPORTED',
    `${address}: ${inventory.os.product} ${inventory.os.build} cannot use the VXLAN port ${vxlanPort} of the cluster`,
    {
      remedy: `Use Windows Server 2022 or later; hybridOverlayVXLANPort of the cluster is not the default ${defaultVxlanPort}.`,
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
  const [free, wanted] = [inventory.freeBytes, needed + reserveBytes].map(bytes => `${(bytes / 1e9).toFixed(1)} GB`);
  return new AppError('HOST_DISK_FULL', `${address}: drive C: has ${free} free and needs ${wanted}`, {
    remedy: 'Free space on drive C: of the host, or use a larger disk.',
  });
};

/** Certificates are backdated by five minutes; for a host further behind they are not valid yet. */
const maxSkewMs = 5 * 60_000;

const hasCorrectClock: Check = ({ address, inventory }) => {
  const aheadMs = inventory.probe?.clockAheadMs ?? 0;
  if (Math.abs(aheadMs) <= maxSkewMs) return undefined;
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  const where = aheadMs > 0 ? 'ahead of' : 'behind';
  return new AppError('HOST_CLOCK_WRONG', `${address}: its clock is ${minutes} min ${where} the API server's`, {
    remedy: 'Set the clock of the host and synchronize it with `w32tm /resync`.',
  });
};

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
      remedy: `Remove them from the host (\`sc.exe delete ${foreign[0]}\`): the operator installs its own.`,
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
    remedy: 'Find the program with `netstat -abno` on the host, stop it and disable its autostart.',
  });
};

const reachesServer: Check = ({ address, inventory: { probe } }) =>
  probe?.problem === undefined
    ? undefined
    : new AppError('HOST_API_UNREACHABLE', `${address}: the host cannot reach ${probe.url}: ${probe.problem}`, {
        remedy: 'Check DNS, routes and firewalls from the host to the API server.',
      });

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
