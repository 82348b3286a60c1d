import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '#base/errors.ts';
import type { Adapter, OperatingSystem, System } from '../ports.ts';
import type { ComputerName } from './network/computer-name.ts';
import { argumentsOf, programs } from './process/programs.ts';
import type { Registry } from './files/registry.ts';
import { ProgramTimeout, type RunProgram } from './process/run-program.ts';
import type { WindowsFeatures } from './windows-features.ts';

export interface SystemParts {
  registry: Registry;
  computerName: ComputerName;
  features: WindowsFeatures;
  adapters: () => Adapter[];
  isRunning: (name: string) => Promise<boolean>;
  isAdministrator: () => boolean;
  listeningPorts: () => number[];
  run: RunProgram;
  /** Such as `C:\Windows`. */
  windowsDirectory: string;
}

const feature = 'Containers';
/** Lives in memory only and goes with the boot. */
const bootKey = String.raw`SOFTWARE\windows-instance-config-daemon`;
const versionKey = String.raw`SOFTWARE\Microsoft\Windows NT\CurrentVersion`;
const currentVersion = String.raw`SOFTWARE\Microsoft\Windows\CurrentVersion`;
const control = String.raw`SYSTEM\CurrentControlSet\Control\ComputerName`;
const tcpip = String.raw`SYSTEM\CurrentControlSet\Services\Tcpip\Parameters`;

/**
 * Keys that exist while Windows waits for a reboot. PendingFileRenameOperations is not among them: updaters and virus
 * scanners leave entries there all the time, nothing of ours waits for them, and a host would be rebooted without end.
 */
const rebootKeys = [
  { key: String.raw`${currentVersion}\Component Based Servicing\RebootPending`, why: 'a feature or an update' },
  { key: String.raw`${currentVersion}\WindowsUpdate\Auto Update\RebootRequired`, why: 'Windows Update' },
];

/** Where Windows keeps a name in use and the one of the next boot. The first pair knows 15 characters only. */
const namePairs: readonly Record<'now' | 'next', [key: string, name: string]>[] = [
  {
    now: [String.raw`${control}\ActiveComputerName`, 'ComputerName'],
    next: [String.raw`${control}\ComputerName`, 'ComputerName'],
  },
  { now: [tcpip, 'Hostname'], next: [tcpip, 'NV Hostname'] },
];

/** Already on its way down is as good as done. */
const rebootCodes = { shutdownInProgress: 1115, shutdownScheduled: 1190 } as const;
const maxReasonLength = 512;

export function createSystem(parts: SystemParts): System {
  const { registry, computerName, features } = parts;
  return {
    hostName: async () => computerName.hostName(),
    fqdn: async () => computerName.fqdn(),
    operatingSystem: async () => readOperatingSystem(registry),
    bootId: async () => registry.volatileKeyTime(bootKey).toString(16).padStart(16, '0'),
    pendingReboot: async () => pendingReboot(registry),
    adapters: async () => parts.adapters(),
    freeBytes,
    containersFeature: () => features.state(feature),
    enableContainers: signal => features.enable(feature, signal),
    async rename(name) {
      const next = nextName(registry) ?? computerName.hostName();
      if (!isSame(next, name)) computerName.set(name);
      return isRenamePending(registry);
    },
    reboot: (delaySeconds, reason) => reboot(parts, delaySeconds, reason),
    isProcessRunning: name => parts.isRunning(name),
    isAdministrator: async () => parts.isAdministrator(),
    listeningPorts: async () => parts.listeningPorts(),
  };
}

/** Asked of the registry, since variables can be changed by whoever starts the process. */
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

/** The name that the host has from the next boot on; undefined where Windows does not tell. */
function nextName(registry: Registry): string | undefined {
  return registry.text(tcpip, 'NV Hostname');
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** A directory that is yet to be made counts as the one it will be in. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch (cause) {
    const parent = dirname(path);
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    if (isAbsent && parent !== path) return await freeBytes(parent);
    throw new AppError('HOST_FILE_UNUSABLE', `${path}: the free space cannot be found out`, {
      remedy: 'Look whether the disk of the host is in order.',
      cause,
    });
  }
}

async function reboot({ run, windowsDirectory }: SystemParts, delaySeconds: number, reason: string): Promise<void> {
  const { restart } = programs;
  const shortReason = reason.replaceAll(/\s+/g, ' ').slice(0, maxReasonLength);
  const args = argumentsOf(restart, { seconds: String(Math.ceil(delaySeconds)), reason: shortReason });
  const file = `${windowsDirectory}\\${restart.program}`;
  const { exitCode, stderr } = await run({ file, args, limitMs: restart.limitMs }).catch((error: unknown) => {
    throw error instanceof ProgramTimeout ? notRebooted('PROGRAM_TIMEOUT', error.message) : error;
  });
  if (exitCode === 0 || Object.values(rebootCodes).some(code => code === exitCode)) return;
  throw notRebooted('PROGRAM_FAILED', `shutdown.exe ended with code ${exitCode}: ${stderr.trim().slice(0, 200)}`);
}

function notRebooted(code: 'PROGRAM_FAILED' | 'PROGRAM_TIMEOUT', message: string): AppError {
  return new AppError(code, message, { remedy: 'Reboot the host by hand, or look what keeps it from shutting down.' });
}
