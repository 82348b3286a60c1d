import type { Clock } from '#base/clock.ts';
import type { HostPorts } from '../ports.ts';
import { openFileAccess } from './files/acl.ts';
import { openAdapters } from './network/adapters.ts';
import { openAdministratorCheck } from './process/administrator.ts';
import { openCertStore } from './files/cert-store.ts';
import { openComputerName } from './network/computer-name.ts';
import { createEnvironment, openAnnouncement } from './files/environment.ts';
import { createFiles } from './files/files.ts';
import { openHostNetwork } from './network/hns.ts';
import { openListeners } from './network/listeners.ts';
import { openLocks } from './files/locks.ts';
import { openRoutes } from './network/routes.ts';
import type { Koffi } from './native.ts';
import { createScriptRunner } from './process/powershell.ts';
import { openProcesses } from './process/processes.ts';
import { openRegistry } from './files/registry.ts';
import { createProgramRunner } from './process/run-program.ts';
import { openServiceManager } from './services/services.ts';
import { createSystem, windowsDirectoryOf } from './system.ts';
import { createContainersFeature } from './windows-features.ts';

export interface WindowsHostOptions {
  clock: Clock;
  /** The environment the process was started with. */
  processEnvironment: Readonly<Record<string, string | undefined>>;
}

/** The ports of the agent, implemented with Windows functions. */
export function openWindowsHost(koffi: Koffi, { clock, processEnvironment }: WindowsHostOptions): HostPorts {
  const registry = openRegistry(koffi);
  const windowsDirectory = windowsDirectoryOf(registry);
  const processes = openProcesses(koffi);
  const run = createProgramRunner(processes, clock);
  const [adapters, listeningPorts] = [openAdapters(koffi), openListeners(koffi)];
  const isAdministrator = openAdministratorCheck(koffi);
  return {
    services: openServiceManager(koffi, registry),
    processes,
    environment: createEnvironment(registry, openAnnouncement(koffi), processEnvironment),
    certificates: openCertStore(koffi),
    files: createFiles({ clock, access: openFileAccess(koffi), startedMs: pid => processes.startedMs(pid) }),
    scripts: createScriptRunner(run, windowsDirectory),
    system: {
      ...createSystem({ registry, computerName: openComputerName(koffi), run, windowsDirectory }),
      ...createContainersFeature(run, windowsDirectory),
      adapters: async () => adapters(),
      isProcessRunning: name => processes.isRunning(name),
      isAdministrator: async () => isAdministrator(),
      listeningPorts: async () => listeningPorts(),
    },
    routes: openRoutes(koffi),
    network: openHostNetwork(koffi, String.raw`${windowsDirectory}\System32`, clock),
    locks: openLocks(koffi),
  };
}
