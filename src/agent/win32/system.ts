import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '#base/errors.ts';
import type { OperatingSystem, System } from '../ports.ts';
import type { ComputerName } from './network/computer-name.ts';
import { programs } from './process/programs.ts';
import type { Registry } from './files/registry.ts';
import { type RunProgram, runListed } from './process/run-program.ts';

export interface SystemParts {
  registry: Registry;
  computerName: ComputerName;
  run: RunProgram;
  /** Such as `C:\Windows`. */
  windowsDirectory: string;
}

/** A volatile key, which does not survive a reboot. */
const bootKey = String.raw`SOFTWARE\windows-instance-config-daemon`;
const versionKey = String.raw`SOFTWARE\Microsoft\Windows NT\CurrentVersion`;
const currentVersion = String.raw`SOFTWARE\Microsoft\Windows\CurrentVersion`;
const control = String.raw`SYSTEM\CurrentControlSet\Control\ComputerName`;
const services = String.raw`SYSTEM\CurrentControlSet\Services`;
const tcpip = String.raw`SYSTEM\CurrentControlSet\Services\Tcpip\Parameters`;

/**
 * Keys that exist while Windows waits for a reboot. PendingFileRenameOperations is not among them: updaters and virus
 * scanners leave entries there all the time, so the host would be rebooted again and again.
 */
const rebootKeys = [
  { key: String.raw`${currentVersion}\Component Based Servicing\RebootPending`, why: 'a feature or an update' },
  { key: String.raw`${currentVersion}\WindowsUpdate\Auto Update\RebootRequired`, why: 'Windows Update' },
];

/** Where Windows stores the current name and that of the next boot. The first pair holds 15 characters only. */
const namePairs: readonly Record<'now' | 'next', [key: string, name: string]>[] = [
  {
    now: [String.raw`${control}\ActiveComputerName`, 'ComputerName'],
    next: [String.raw`${control}\ComputerName`, 'ComputerName'],
  },
  { now: [tcpip, 'Hostname'], next: [tcpip, 'NV Hostname'] },
];

/** A shutdown is already in progress or scheduled. */
const rebootCodes = { shutdownInProgress: 1115, shutdownScheduled: 1190 } as const;
const maxReasonLength = 512;

type RegistrySystem = Pick<
  System,
  | 'hostName'
  | 'fqdn'
  | 'operatingSystem'
  | 'bootId'
  | 'pendingReboot'
  | 'freeBytes'
  | 'rename'
  | 'reboot'
  | 'flushServices'
>;

export function createSystem(parts: SystemParts): RegistrySystem {
  const { registry, computerName } = parts;
  return {
    hostName: async () => computerName.hostName(),
    fqdn: async () => computerName.fqdn(),
    operatingSystem: async () => readOperatingSystem(registry),
    bootId: async () => registry.volatileKeyTime(bootKey).toString(16).padStart(16, '0'),
    pendingReboot: async () => pendingReboot(registry),
    freeBytes,
    async rename(name) {
      const next = nextName(registry) ?? computerName.hostName();
      if (!isSame(next, name)) computerName.set(name);
      return isRenamePending(registry);
    },
    flushServices: async () => registry.flush(services),
    reboot: (delaySeconds, reason) => reboot(parts, delaySeconds, reason),
  };
}

/** From the registry, because whoever starts the process can change its variables. */
export function windowsDirectoryOf(registry: Registry): string {
  return registry.text(versionKey, 'SystemRoot') ?? String.raw`C:\Windows`;
}

function readOperatingSystem(registry: Registry): OperatingSystem {
  const text = (name: string) => registry.text(versionKey, name) ?? '';
  const number = (name: string) => registry.number(versionKey, name);
  const major = number('CurrentMajorVersionNumber') ?? 10;
  const parts = [major, number('CurrentMinorVersionNumber') ?? 0, text('CurrentBuild'), number('UBR') ?? 0];
  return { product: text('ProductName'), build: parts.join('.'), installationType: text('InstallationType') };
}

function pendingReboot(registry: Registry): string[] {
  const waiting = rebootKeys.filter(({ key }) => registry.hasKey(key)).map(({ why }) => why);
  return isRenamePending(registry) ? [...waiting, 'the host was renamed'] : waiting;
}

function isRenamePending(registry: Registry): boolean {
  return namePairs.some(({ now, next }) => {
    const [current, coming] = [registry.text(...now), registry.text(...next)];
    return current !== undefined && coming !== undefined && !isSame(current, coming);
  });
}

/** The name of the host from the next boot on; undefined if not set. */
function nextName(registry: Registry): string | undefined {
  return registry.text(tcpip, 'NV Hostname');
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** For a missing directory, that of its closest existing parent. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch (cause) {
    const parent = dirname(path);
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (isAbsent && parent !== path) return await freeBytes(parent);
    throw new AppError('HOST_FILE_UNUSABLE', `${path}: the free space cannot be determined`, {
      remedy: 'Check the disk of the host for errors: chkdsk.exe C:.',
      cause,
    });
  }
}

async function reboot(parts: SystemParts, delaySeconds: number, reason: string): Promise<void> {
  const shortReason = reason.replaceAll(/\s+/g, ' ').slice(0, maxReasonLength);
  const values = { seconds: String(Math.ceil(delaySeconds)), reason: shortReason };
  const { exitCode, stderr } = await runListed(parts, programs.restart, values, error =>
    notRebooted('PROGRAM_TIMEOUT', error.message),
  );
  if (exitCode === 0 || Object.values(rebootCodes).some(code => code === exitCode)) return;
  throw notRebooted('PROGRAM_FAILED', `shutdown.exe ended with code ${exitCode}: ${stderr.trim().slice(0, 200)}`);
}

function notRebooted(code: 'PROGRAM_FAILED' | 'PROGRAM_TIMEOUT', message: string): AppError {
  return new AppError(code, message, { remedy: 'Reboot the host manually, or find out what blocks its shutdown.' });
}
