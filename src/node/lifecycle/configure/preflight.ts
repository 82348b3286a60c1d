import { AppError } from '#base/errors.ts';
import type { Inventory } from '#contract/inventory.ts';
import { agentName, ports, serviceName } from '#contract/names.ts';

/** What is looked at before anything on a host is changed. */
export interface Preflight {
  /** How messages name the host. */
  address: string;
  inventory: Inventory;
  /** What has to be sent, as it is uploaded and unpacked. */
  missing: readonly { bytes: number; packedBytes: number }[];
}

/** Says what is wrong with a host, or nothing. */
type Check = (seen: Preflight) => AppError | undefined;

/** All at once: whoever has to put a host right wants to know everything. */
export function preflight(seen: Preflight): void {
  const problems = checks.flatMap(check => check(seen) ?? []);
  const [first, ...more] = problems;
  if (first === undefined) return;
  if (more.length === 0) throw first;
  const words = problems.map(({ message }) => message.replace(`${seen.address}: `, '')).join('; ');
  const remedies = problems.map(({ remedy }) => remedy).join(' ');
  throw new AppError(first.code, `${seen.address}: ${words}`, { remedy: remedies });
}

const isAdministrator: Check = ({ address, inventory }) =>
  inventory.isAdministrator ? undefined : notAdministrator(address);

export function notAdministrator(address: string, cause?: Error): AppError {
  const why = cause === undefined ? '' : ` (${cause.message.replace(`${address}: `, '')})`;
  return new AppError('HOST_NOT_ADMINISTRATOR', `${address}: the user has no rights of an administrator${why}`, {
    remedy: 'Put the user into the group Administrators and the key into administrators_authorized_keys.',
    cause,
  });
}

/** Builds of Windows Server with the first update that is good enough. */
const systems = [
  { name: 'Windows Server 2019', build: 17_763, update: 0 },
  // KB5012637, without which the overlay network loses packets.
  { name: 'Windows Server 2022', build: 20_348, update: 681 },
  { name: 'Windows Server 2025', build: 26_100, update: 0 },
] as const;

const hasGoodSystem: Check = ({ address, inventory }) => {
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
        ? `Install the updates of Windows: at least build ${system.build}.${system.update} is needed.`
        : `Use ${systems.map(one => one.name).join(' or ')}.`,
    },
  );
};

/** Beside our files, for images and logs: with less no container starts anyway. */
const reserveBytes = 2 * 1024 ** 3;

const hasRoom: Check = ({ address, inventory, missing }) => {
  // Each file is there three times for a while: in the bundle, as packed copy, and in its place.
  const needed = missing.reduce((sum, { bytes, packedBytes }) => sum + bytes + 2 * packedBytes, 0);
  if (needed === 0 || inventory.freeBytes >= needed + reserveBytes) return undefined;
  const [free, wanted] = [inventory.freeBytes, needed + reserveBytes].map(bytes => `${(bytes / 1e9).toFixed(1)} GB`);
  return new AppError('HOST_DISK_FULL', `${address}: drive C: has ${free} free and needs ${wanted}`, {
    remedy: 'Make room on drive C: of the host, or give it a larger disk.',
  });
};

/** Certificates are dated back by five minutes; a host that is further behind takes them for those of the future. */
const maxSkewMs = 5 * 60_000;

const hasRightTime: Check = ({ address, inventory }) => {
  const aheadMs = inventory.probe?.clockAheadMs ?? 0;
  if (Math.abs(aheadMs) <= maxSkewMs) return undefined;
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  const where = aheadMs > 0 ? 'ahead of' : 'behind';
  return new AppError('HOST_CLOCK_WRONG', `${address}: its clock is ${minutes} min ${where} the API server's`, {
    remedy: 'Set the clock of the host, and let it keep time with `w32tm /resync`.',
  });
};

const hasNoForeignService: Check = ({ address, inventory }) => {
  const ours = new Set(Object.values(serviceName).map(name => name.toLowerCase()));
  const foreign = inventory.services
    .filter(({ name, isManaged }) => !isManaged && name !== agentName && ours.has(name.toLowerCase()))
    .map(({ name }) => name);
  if (foreign.length === 0) return undefined;
  return new AppError('HOST_SERVICE_FOREIGN', `${address}: services of somebody else: ${foreign.join(', ')}`, {
    remedy: `Remove them from the host (\`sc.exe delete ${foreign[0]}\`): the operator brings its own.`,
  });
};

const needed = [
  { port: ports.kubelet, service: serviceName.kubelet },
  { port: ports.exporter, service: serviceName.exporter },
] as const;

const hasFreePorts: Check = ({ address, inventory }) => {
  // A service of somebody else under that name is reported as such; its port would only repeat that.
  const exists = (name: string) =>
    inventory.services.some(service => service.name === name && service.state !== 'stopped');
  const taken = needed.filter(({ port, service }) => inventory.portsInUse.includes(port) && !exists(service));
  if (taken.length === 0) return undefined;
  const list = taken.map(({ port, service }) => `${port} (${service})`).join(', ');
  return new AppError('HOST_PORT_TAKEN', `${address}: somebody listens on port ${list}`, {
    remedy: 'Find the program with `netstat -abno` on the host and stop it for good.',
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
  hasGoodSystem,
  hasRoom,
  hasRightTime,
  hasNoForeignService,
  hasFreePorts,
  reachesServer,
];
